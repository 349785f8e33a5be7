//! Programs over tokio's files, compiled twice: where `tokio` is the simulated one, and where it is the
//! real one. Each sees a directory of its own and notes what it saw. Owns no expectation.
#![expect(clippy::incompatible_msrv, reason = "std's locks of files are newer")]

use super::tokio;
use std::fmt::Debug;
use std::future::Future;
use std::io::{self, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use tokio::fs::{self, DirBuilder, File, OpenOptions};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

/// What a program saw, call by call.
pub(crate) type Seen = Vec<String>;
pub(crate) type Program = fn(PathBuf) -> Pin<Box<dyn Future<Output = Seen>>>;

/// An error as a program can tell it from others.
fn shown<T: Debug>(outcome: io::Result<T>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?} {:?} {error}", error.kind(), error.raw_os_error()),
    }
}

macro_rules! programs {
    ($($name:ident |$dir:ident, $see:ident| $body:block)+) => {
        $(async fn $name($dir: PathBuf) -> Seen {
            let mut seen = Seen::new();
            let mut $see = |what: String| seen.push(what);
            $body
            seen
        })+

        /// All programs by name.
        pub(crate) fn all() -> Vec<(&'static str, Program)> {
            vec![$((stringify!($name), |dir| Box::pin($name(dir)))),+]
        }
    };
}

#[path = "hostile.rs"]
mod hostile;

/// All programs by name.
pub(crate) fn everything() -> Vec<(&'static str, Program)> {
    [all(), hostile::all()].concat()
}

async fn names(dir: impl AsRef<Path>) -> Vec<String> {
    let mut entries = fs::read_dir(dir).await.unwrap();
    let mut names = Vec::new();
    while let Some(entry) = entries.next_entry().await.unwrap() {
        let kind = entry.file_type().await.unwrap();
        let what = match (kind.is_dir(), kind.is_symlink()) {
            (true, _) => "/",
            (_, link) => ["", "@"][usize::from(link)],
        };
        names.push(format!("{}{what}", entry.file_name().into_string().unwrap()));
    }
    names.sort();
    names
}

async fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).await.unwrap().permissions().mode()
}

async fn put(path: impl AsRef<Path>, text: &str) {
    fs::write(path, text).await.unwrap();
}

programs! {
    // ---- rows of the table of programs that others fail
    f1_a_listing_has_all_names |dir, see| {
        for n in 0..8 { put(dir.join(format!("f{n}")), "").await; }
        see(format!("{:?}", names(&dir).await));
    }
    f2_write_rename_sync_the_directory_read |dir, see| {
        put(dir.join("tmp"), "hello").await;
        fs::rename(dir.join("tmp"), dir.join("final")).await.unwrap();
        see(shown(File::open(&dir).await.unwrap().sync_all().await));
        see(shown(fs::read_to_string(dir.join("final")).await));
        see(shown(fs::read(dir.join("tmp")).await));
    }
    f3_what_was_cut_off_is_zeros |dir, see| {
        put(dir.join("f"), "hello").await;
        let file = OpenOptions::new().write(true).open(dir.join("f")).await.unwrap();
        file.set_len(0).await.unwrap();
        file.set_len(5).await.unwrap();
        see(shown(fs::read(dir.join("f")).await));
    }
    f4_a_name_taken_away_leaves_the_open_file |dir, see| {
        put(dir.join("f"), "hello").await;
        let mut file = File::open(dir.join("f")).await.unwrap();
        fs::remove_file(dir.join("f")).await.unwrap();
        let mut text = [0; 9];
        see(shown(file.read(&mut text).await));
        see(shown(fs::try_exists(dir.join("f")).await));
    }
    f5_rename_over_an_open_file |dir, see| {
        put(dir.join("a"), "old").await;
        put(dir.join("b"), "new").await;
        let mut old = File::open(dir.join("a")).await.unwrap();
        fs::rename(dir.join("b"), dir.join("a")).await.unwrap();
        let mut text = String::new();
        old.read_to_string(&mut text).await.unwrap();
        see(text);
        see(shown(fs::read_to_string(dir.join("a")).await));
    }
    f6_two_names_are_one_file |dir, see| {
        put(dir.join("a"), "one").await;
        fs::hard_link(dir.join("a"), dir.join("b")).await.unwrap();
        put(dir.join("b"), "two!").await;
        see(shown(fs::read_to_string(dir.join("a")).await));
        fs::remove_file(dir.join("a")).await.unwrap();
        see(shown(fs::read_to_string(dir.join("b")).await));
    }
    f7_a_directory_moves_with_what_is_in_it |dir, see| {
        fs::create_dir(dir.join("d")).await.unwrap();
        put(dir.join("d/f"), "child").await;
        fs::rename(dir.join("d"), dir.join("e")).await.unwrap();
        see(shown(fs::read_to_string(dir.join("e/f")).await));
        see(shown(fs::read(dir.join("d/f")).await));
    }
    f8_errors_have_their_numbers |dir, see| {
        fs::create_dir(dir.join("d")).await.unwrap();
        put(dir.join("d/f"), "").await;
        see(shown(fs::create_dir(dir.join("d")).await));
        see(shown(fs::create_dir(dir.join("no/d")).await));
        see(shown(fs::remove_dir(dir.join("d")).await));
        see(shown(fs::rename(dir.join("no"), dir.join("x")).await));
        see(shown(File::open(dir.join("d")).await.map(drop)));
    }
    f9_appends_of_two_handles_do_not_overwrite |dir, see| {
        let options = OpenOptions::new().append(true).create(true).to_owned();
        let mut a = options.open(dir.join("f")).await.unwrap();
        let mut b = options.open(dir.join("f")).await.unwrap();
        for n in 0..3 {
            a.write_all(format!("a{n}").as_bytes()).await.unwrap();
            a.flush().await.unwrap();
            b.write_all(format!("b{n}").as_bytes()).await.unwrap();
            b.flush().await.unwrap();
        }
        see(shown(fs::read_to_string(dir.join("f")).await));
    }
    f10_later_writes_win |dir, see| {
        let mut file = File::create(dir.join("f")).await.unwrap();
        for (at, text) in [(0, "AAAA"), (4, "BBBB"), (0, "CC")] {
            file.seek(SeekFrom::Start(at)).await.unwrap();
            file.write_all(text.as_bytes()).await.unwrap();
        }
        file.sync_data().await.unwrap();
        see(shown(fs::read_to_string(dir.join("f")).await));
    }
    // ---- reading and writing
    write_then_flush_then_read |dir, see| {
        let mut file = File::create(dir.join("f")).await.unwrap();
        see(shown(file.write(b"hello").await));
        file.flush().await.unwrap();
        see(shown(fs::read(dir.join("f")).await));
    }
    reads_and_seeks_share_one_position |dir, see| {
        put(dir.join("f"), "0123456789").await;
        let mut file = File::open(dir.join("f")).await.unwrap();
        let mut two = [0; 2];
        file.read_exact(&mut two).await.unwrap();
        see(format!("{two:?}"));
        see(shown(file.stream_position().await));
        see(shown(file.seek(SeekFrom::Current(3)).await));
        file.read_exact(&mut two).await.unwrap();
        see(format!("{two:?}"));
        see(shown(file.seek(SeekFrom::End(-1)).await));
        see(shown(file.read(&mut two).await));
        see(shown(file.read(&mut two).await));
    }
    a_read_then_a_write_goes_where_the_read_ended |dir, see| {
        put(dir.join("f"), "0123456789").await;
        let mut file = OpenOptions::new().read(true).write(true).open(dir.join("f")).await.unwrap();
        let mut three = [0; 3];
        file.read_exact(&mut three).await.unwrap();
        file.write_all(b"X").await.unwrap();
        file.flush().await.unwrap();
        see(shown(fs::read_to_string(dir.join("f")).await));
    }
    clones_share_the_position |dir, see| {
        put(dir.join("f"), "0123456789").await;
        let mut one = File::open(dir.join("f")).await.unwrap();
        let mut two = one.try_clone().await.unwrap();
        one.seek(SeekFrom::Start(4)).await.unwrap();
        let mut byte = [0; 1];
        two.read_exact(&mut byte).await.unwrap();
        see(format!("{byte:?}"));
        see(shown(one.stream_position().await));
    }
    a_gap_reads_as_zeros |dir, see| {
        let mut file = File::create(dir.join("f")).await.unwrap();
        file.seek(SeekFrom::Start(6)).await.unwrap();
        file.write_all(b"x").await.unwrap();
        file.flush().await.unwrap();
        see(shown(fs::read(dir.join("f")).await));
    }
    large_files_are_whole |dir, see| {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        fs::write(dir.join("f"), &bytes).await.unwrap();
        see(format!("{}", fs::read(dir.join("f")).await.unwrap() == bytes));
        let mut file = File::open(dir.join("f")).await.unwrap();
        file.set_max_buf_size(1000);
        let mut buf = vec![0; 5000];
        see(shown(file.read(&mut buf).await));
        see(format!("{}", buf[..1000] == bytes[..1000]));
    }
    vectored_writes_are_taken_whole |dir, see| {
        let mut file = File::create(dir.join("f")).await.unwrap();
        let parts = [io::IoSlice::new(b"abc"), io::IoSlice::new(b"defg")];
        see(shown(file.write_vectored(&parts).await));
        file.flush().await.unwrap();
        see(shown(fs::read_to_string(dir.join("f")).await));
    }
    an_empty_read_and_an_empty_write |dir, see| {
        put(dir.join("f"), "x").await;
        let mut file = OpenOptions::new().read(true).write(true).open(dir.join("f")).await.unwrap();
        see(shown(file.read(&mut []).await));
        see(shown(file.write(b"").await));
        see(shown(file.flush().await));
        see(shown(fs::read(dir.join("f")).await));
    }
    the_end_of_a_file_is_zero_bytes |dir, see| {
        put(dir.join("f"), "x").await;
        let mut file = File::open(dir.join("f")).await.unwrap();
        file.seek(SeekFrom::Start(100)).await.unwrap();
        see(shown(file.read(&mut [0; 4]).await));
        see(shown(file.read_exact(&mut [0; 4]).await));
    }
    text_that_is_none |dir, see| {
        fs::write(dir.join("f"), [0xFF, 0xFE]).await.unwrap();
        see(shown(fs::read_to_string(dir.join("f")).await));
    }
    a_file_of_std_and_back |dir, see| {
        put(dir.join("f"), "hello").await;
        let file = File::open(dir.join("f")).await.unwrap();
        let std = file.into_std().await;
        let mut file = File::from_std(std);
        let mut text = String::new();
        file.read_to_string(&mut text).await.unwrap();
        see(text);
        see(format!("{}", file.try_into_std().is_ok()));
    }
    // ---- what handles may do
    a_handle_for_reading_cannot_write |dir, see| {
        put(dir.join("f"), "x").await;
        let mut file = File::open(dir.join("f")).await.unwrap();
        see(shown(file.write(b"y").await));
        see(shown(file.flush().await));
        see(shown(file.set_len(0).await));
    }
    a_handle_for_writing_cannot_read |dir, see| {
        let mut file = File::create(dir.join("f")).await.unwrap();
        see(shown(file.read(&mut [0; 1]).await));
    }
    a_write_that_failed_is_told_by_the_next |dir, see| {
        put(dir.join("f"), "x").await;
        let mut file = File::open(dir.join("f")).await.unwrap();
        see(shown(file.write(b"y").await));
        see(shown(file.write(b"z").await));
    }
    seeks_before_the_beginning |dir, see| {
        let mut file = File::create(dir.join("f")).await.unwrap();
        see(shown(file.seek(SeekFrom::Current(-1)).await));
        see(shown(file.seek(SeekFrom::End(-1)).await));
        see(shown(file.seek(SeekFrom::Start(u64::MAX)).await));
    }
    sizes_beyond_the_largest |dir, see| {
        let file = File::create(dir.join("f")).await.unwrap();
        see(shown(file.set_len(u64::MAX).await));
        see(shown(file.set_len(1 << 40).await));
        see(shown(file.metadata().await.map(|m| m.len())));
    }
    a_write_far_out_takes_no_room |dir, see| {
        let mut file = File::create(dir.join("f")).await.unwrap();
        see(shown(file.seek(SeekFrom::Start(1 << 40)).await));
        see(shown(file.write(b"x").await));
        see(shown(file.flush().await));
        see(shown(file.metadata().await.map(|m| m.len())));
    }
    directories_are_no_files |dir, see| {
        see(shown(fs::read(&dir).await));
        see(shown(fs::write(&dir, "x").await));
        see(shown(File::create(&dir).await.map(drop)));
        see(shown(fs::remove_file(&dir).await.map_err(|e| io::Error::from(e.kind()))));
        let mut opened = File::open(&dir).await.unwrap();
        see(shown(opened.read(&mut [0; 1]).await));
        see(shown(opened.sync_all().await));
    }
    // ---- how files are opened
    every_way_to_open |dir, see| {
        for bits in 0..64_u32 {
            let on = |bit: u32| bits >> bit & 1 == 1;
            for there in [false, true] {
                let path = dir.join(format!("f{bits}{there}"));
                if there { put(&path, "hello").await; }
                let opened = OpenOptions::new()
                    .read(on(0)).write(on(1)).append(on(2))
                    .truncate(on(3)).create(on(4)).create_new(on(5))
                    .open(&path).await;
                see(shown(opened.map(drop)));
                see(shown(fs::read_to_string(&path).await));
            }
        }
    }
    create_new_is_the_only_one |dir, see| {
        see(shown(File::create_new(dir.join("f")).await.map(drop)));
        see(shown(File::create_new(dir.join("f")).await.map(drop)));
        fs::symlink("nowhere", dir.join("s")).await.unwrap();
        see(shown(File::create_new(dir.join("s")).await.map(drop)));
    }
    create_goes_through_a_link_that_leads_nowhere |dir, see| {
        fs::symlink("there", dir.join("s")).await.unwrap();
        put(dir.join("s"), "x").await;
        see(format!("{:?}", names(&dir).await));
    }
    other_flags |dir, see| {
        const O_NOFOLLOW: i32 = if cfg!(target_arch = "aarch64") { 0o100_000 } else { 0o400_000 };
        const O_DIRECTORY: i32 = if cfg!(target_arch = "aarch64") { 0o40_000 } else { 0o200_000 };
        const O_DSYNC: i32 = 0o10_000;
        put(dir.join("f"), "x").await;
        fs::symlink("f", dir.join("s")).await.unwrap();
        let open = |name: &str, flags| {
            let path = dir.join(name);
            async move { OpenOptions::new().read(true).custom_flags(flags).open(path).await.map(drop) }
        };
        see(shown(open("s", O_NOFOLLOW).await));
        see(shown(open("f", O_NOFOLLOW).await));
        see(shown(open("f", O_DIRECTORY).await));
        see(shown(open(".", O_DIRECTORY).await));
        see(shown(open("f", O_DSYNC).await));
    }
    the_mode_of_a_new_file |dir, see| {
        drop(OpenOptions::new().write(true).create_new(true).mode(0o600).open(dir.join("f")).await);
        put(dir.join("g"), "").await;
        see(format!("{:o} {:o}", mode(dir.join("f")).await, mode(dir.join("g")).await));
    }
    // ---- walks
    a_file_on_the_way |dir, see| {
        put(dir.join("f"), "x").await;
        see(shown(fs::read(dir.join("f/x")).await));
        see(shown(fs::metadata(dir.join("f/.")).await.map(drop)));
        see(shown(fs::create_dir(dir.join("f/d")).await));
        see(shown(fs::remove_file(dir.join("f/x")).await));
        see(shown(fs::try_exists(dir.join("f/x")).await));
    }
    nothing_on_the_way |dir, see| {
        see(shown(fs::read(dir.join("no/x")).await));
        see(shown(fs::write(dir.join("no/x"), "").await));
        see(shown(fs::rename(dir.join("no"), dir.join("x")).await));
        see(shown(fs::remove_dir(dir.join("no")).await));
        see(shown(fs::remove_file(dir.join("no")).await));
        see(shown(fs::read_link(dir.join("no")).await));
        see(shown(fs::read("").await));
    }
    links_in_a_circle |dir, see| {
        fs::symlink("b", dir.join("a")).await.unwrap();
        fs::symlink("a", dir.join("b")).await.unwrap();
        see(shown(fs::read(dir.join("a")).await));
        see(shown(fs::canonicalize(dir.join("a")).await));
        see(shown(fs::metadata(dir.join("a/x")).await.map(drop)));
        see(shown(fs::symlink_metadata(dir.join("a")).await.map(|m| m.is_symlink())));
    }
    forty_links_and_one_more |dir, see| {
        put(dir.join("l0"), "end").await;
        for n in 1..=41 {
            fs::symlink(format!("l{}", n - 1), dir.join(format!("l{n}"))).await.unwrap();
        }
        see(shown(fs::read_to_string(dir.join("l40")).await));
        see(shown(fs::read_to_string(dir.join("l41")).await));
    }
    names_that_are_too_long |dir, see| {
        see(shown(fs::write(dir.join("x".repeat(255)), "").await));
        see(shown(fs::write(dir.join("x".repeat(256)), "").await));
        see(shown(fs::read(dir.join("x/".repeat(2100))).await));
    }
    dots_and_slashes |dir, see| {
        fs::create_dir_all(dir.join("a/b")).await.unwrap();
        put(dir.join("a/f"), "x").await;
        see(shown(fs::read_to_string(dir.join("a//b/.././f")).await));
        see(shown(fs::metadata(dir.join("a/no/../f")).await.map(drop)));
        let real = fs::canonicalize(dir.join("a/b/..//./f")).await;
        see(shown(real.map(|path| path.ends_with("a/f"))));
    }
    a_zero_in_a_path |dir, see| {
        see(shown(fs::write(dir.join("a\0b"), "").await));
    }
    // ---- directories
    directories_are_made_and_taken_away |dir, see| {
        see(shown(fs::create_dir_all(dir.join("a/b/c")).await));
        see(shown(fs::create_dir_all(dir.join("a/b/c")).await));
        put(dir.join("a/f"), "").await;
        see(shown(fs::create_dir_all(dir.join("a/f/x")).await));
        see(shown(fs::remove_dir(dir.join("a/f")).await));
        see(shown(fs::remove_dir_all(dir.join("a")).await));
        see(format!("{:?}", names(&dir).await));
    }
    the_root_and_dots_cannot_be_taken_away |dir, see| {
        fs::create_dir(dir.join("d")).await.unwrap();
        see(shown(fs::remove_dir(dir.join("d/.")).await));
        see(shown(fs::remove_dir(dir.join("d/..")).await.map_err(|e| io::Error::from(e.kind()))));
        see(shown(fs::rename(dir.join("d/."), dir.join("e")).await));
        see(shown(fs::create_dir("/").await));
        see(shown(fs::create_dir(dir.join("d/.")).await));
    }
    builders_of_directories |dir, see| {
        see(shown(DirBuilder::new().mode(0o700).create(dir.join("a")).await));
        see(shown(DirBuilder::new().create(dir.join("a")).await));
        see(shown(DirBuilder::new().create(dir.join("b/c")).await));
        see(shown(DirBuilder::new().recursive(true).mode(0o700).create(dir.join("b/c")).await));
        see(format!("{:o} {:o}", mode(dir.join("a")).await, mode(dir.join("b")).await));
    }
    a_listing_of_many |dir, see| {
        for n in 0..100 { put(dir.join(format!("f{n:03}")), "").await; }
        see(format!("{:?}", names(&dir).await));
    }
    a_listing_of_what_is_none |dir, see| {
        put(dir.join("f"), "").await;
        see(shown(fs::read_dir(dir.join("f")).await.map(drop)));
        see(shown(fs::read_dir(dir.join("no")).await.map(drop)));
    }
    entries_know_their_files |dir, see| {
        put(dir.join("f"), "hello").await;
        let mut entries = fs::read_dir(&dir).await.unwrap();
        let entry = entries.next_entry().await.unwrap().unwrap();
        see(shown(entry.metadata().await.map(|m| (m.len(), m.is_file()))));
        see(format!("{}", entry.path() == dir.join("f")));
        use std::os::unix::fs::MetadataExt;
        see(format!("{}", entry.ino() == fs::metadata(dir.join("f")).await.unwrap().ino()));
        see(format!("{:?}", entries.next_entry().await.unwrap().is_none()));
    }
    a_file_taken_away_while_its_directory_is_listed |dir, see| {
        for n in 0..3 { put(dir.join(format!("f{n}")), "").await; }
        let mut entries = fs::read_dir(&dir).await.unwrap();
        while let Some(entry) = entries.next_entry().await.unwrap() {
            see(shown(fs::remove_file(entry.path()).await));
        }
        see(shown(fs::remove_dir(&dir).await));
        see(shown(fs::create_dir(&dir).await));
    }
    // ---- links and renames
    links_of_all_kinds |dir, see| {
        put(dir.join("f"), "x").await;
        fs::create_dir(dir.join("d")).await.unwrap();
        see(shown(fs::hard_link(dir.join("d"), dir.join("e")).await));
        see(shown(fs::hard_link(dir.join("no"), dir.join("e")).await));
        see(shown(fs::hard_link(dir.join("f"), dir.join("d")).await));
        see(shown(fs::symlink("f", dir.join("d")).await));
        see(shown(fs::symlink("", dir.join("e")).await));
        see(shown(fs::symlink("f", dir.join("s")).await));
        see(shown(fs::hard_link(dir.join("s"), dir.join("t")).await));
        see(shown(fs::read_link(dir.join("t")).await));
        see(shown(fs::read_link(dir.join("f")).await));
        see(format!("{:?}", names(&dir).await));
    }
    links_are_counted |dir, see| {
        use std::os::unix::fs::MetadataExt;
        put(dir.join("f"), "x").await;
        fs::hard_link(dir.join("f"), dir.join("g")).await.unwrap();
        fs::create_dir_all(dir.join("d/e")).await.unwrap();
        see(shown(fs::metadata(dir.join("f")).await.map(|m| m.nlink())));
        fs::remove_file(dir.join("g")).await.unwrap();
        see(shown(fs::metadata(dir.join("f")).await.map(|m| m.nlink())));
    }
    a_link_to_a_directory_is_a_way |dir, see| {
        fs::create_dir(dir.join("d")).await.unwrap();
        fs::symlink("d", dir.join("s")).await.unwrap();
        put(dir.join("s/f"), "x").await;
        see(format!("{:?}", names(dir.join("d")).await));
        see(shown(fs::remove_dir(dir.join("s")).await));
        see(shown(fs::remove_file(dir.join("s")).await));
        see(format!("{:?}", names(dir.join("d")).await));
    }
    remove_dir_all_does_not_follow_links |dir, see| {
        fs::create_dir_all(dir.join("keep/d")).await.unwrap();
        fs::create_dir(dir.join("gone")).await.unwrap();
        fs::symlink("../keep", dir.join("gone/s")).await.unwrap();
        see(shown(fs::remove_dir_all(dir.join("gone")).await));
        see(format!("{:?}", names(&dir).await));
        see(format!("{:?}", names(dir.join("keep")).await));
    }
    renames_that_do_not_go_together |dir, see| {
        put(dir.join("f"), "x").await;
        fs::create_dir_all(dir.join("d/e")).await.unwrap();
        fs::create_dir(dir.join("empty")).await.unwrap();
        see(shown(fs::rename(dir.join("f"), dir.join("d")).await));
        see(shown(fs::rename(dir.join("d"), dir.join("f")).await));
        see(shown(fs::rename(dir.join("empty"), dir.join("d")).await));
        see(shown(fs::rename(dir.join("d"), dir.join("d/e/x")).await));
        see(shown(fs::rename(dir.join("d"), dir.join("empty")).await));
        see(format!("{:?}", names(&dir).await));
    }
    a_rename_to_itself |dir, see| {
        put(dir.join("f"), "x").await;
        fs::hard_link(dir.join("f"), dir.join("g")).await.unwrap();
        see(shown(fs::rename(dir.join("f"), dir.join("f")).await));
        see(shown(fs::rename(dir.join("f"), dir.join("g")).await));
        see(format!("{:?}", names(&dir).await));
    }
    copies |dir, see| {
        put(dir.join("f"), "hello").await;
        fs::set_permissions(dir.join("f"), std::fs::Permissions::from_mode(0o640)).await.unwrap();
        see(shown(fs::copy(dir.join("f"), dir.join("g")).await));
        see(format!("{:o}", mode(dir.join("g")).await));
        see(shown(fs::copy(dir.join("no"), dir.join("h")).await));
        see(shown(fs::copy(&dir, dir.join("h")).await));
        see(shown(fs::copy(dir.join("f"), dir.join("f")).await));
        see(shown(fs::read_to_string(dir.join("f")).await));
    }
    // ---- metadata
    metadata_of_all_kinds |dir, see| {
        put(dir.join("f"), "hello").await;
        fs::symlink("f", dir.join("s")).await.unwrap();
        for path in ["f", "s", "."] {
            let of = |m: std::fs::Metadata| (m.is_file(), m.is_dir(), m.is_symlink());
            see(shown(fs::metadata(dir.join(path)).await.map(of)));
            see(shown(fs::symlink_metadata(dir.join(path)).await.map(of)));
        }
        see(shown(fs::metadata(dir.join("s")).await.map(|m| m.len())));
        see(shown(fs::symlink_metadata(dir.join("s")).await.map(|m| m.len())));
    }
    sizes_follow_writes_that_were_flushed |dir, see| {
        let mut file = File::create(dir.join("f")).await.unwrap();
        file.write_all(b"hello").await.unwrap();
        file.flush().await.unwrap();
        see(shown(file.metadata().await.map(|m| m.len())));
        file.set_len(2).await.unwrap();
        see(shown(fs::metadata(dir.join("f")).await.map(|m| m.len())));
    }
    times_go_on_and_can_be_set |dir, see| {
        use std::time::{Duration, UNIX_EPOCH};
        let file = File::create(dir.join("f")).await.unwrap();
        let made = file.metadata().await.unwrap().modified().unwrap();
        fs::write(dir.join("f"), "x").await.unwrap();
        let written = file.metadata().await.unwrap().modified().unwrap();
        see(format!("{}", made <= written));
        let moment = UNIX_EPOCH + Duration::from_millis(1_234_567);
        see(shown(file.set_modified(moment).await));
        see(shown(file.metadata().await.and_then(|m| m.modified())));
    }
    permissions_are_kept |dir, see| {
        put(dir.join("f"), "x").await;
        let file = File::open(dir.join("f")).await.unwrap();
        for bits in [0o777, 0o400, 0o644] {
            file.set_permissions(std::fs::Permissions::from_mode(bits)).await.unwrap();
            see(format!("{:o}", mode(dir.join("f")).await));
        }
        see(shown(fs::set_permissions(dir.join("no"), file.metadata().await.unwrap().permissions()).await));
    }
    permissions_forbid |dir, see| {
        let set = |path: PathBuf, bits| fs::set_permissions(path, std::fs::Permissions::from_mode(bits));
        fs::create_dir(dir.join("d")).await.unwrap();
        put(dir.join("d/f"), "x").await;
        set(dir.join("d/f"), 0o200).await.unwrap();
        see(shown(fs::read(dir.join("d/f")).await));
        set(dir.join("d/f"), 0o400).await.unwrap();
        see(shown(fs::write(dir.join("d/f"), "y").await));
        set(dir.join("d"), 0o500).await.unwrap();
        see(shown(fs::write(dir.join("d/g"), "y").await));
        see(shown(fs::remove_file(dir.join("d/f")).await));
        set(dir.join("d"), 0o000).await.unwrap();
        see(shown(fs::read_dir(dir.join("d")).await.map(drop)));
        see(shown(fs::metadata(dir.join("d/f")).await.map(drop)));
        set(dir.join("d"), 0o700).await.unwrap();
    }
    locks_of_std |dir, see| {
        let one = File::create(dir.join("f")).await.unwrap().into_std().await;
        let two = File::open(dir.join("f")).await.unwrap().into_std().await;
        see(shown(one.try_lock().map_err(io::Error::from)));
        see(shown(two.try_lock_shared().map_err(io::Error::from)));
        drop(one);
        see(shown(two.try_lock_shared().map_err(io::Error::from)));
    }
    std_beside_tokio |dir, see| {
        std::fs::write(dir.join("f"), "std").unwrap();
        see(shown(fs::read_to_string(dir.join("f")).await));
        put(dir.join("g"), "tokio").await;
        see(shown(std::fs::read_to_string(dir.join("g"))));
    }
    many_tasks_write_files_of_their_own |dir, see| {
        let tasks: Vec<_> = (0..8).map(|n| {
            let path = dir.join(format!("f{n}"));
            tokio::spawn(async move {
                fs::write(&path, vec![n; 1000]).await.unwrap();
                fs::read(&path).await.unwrap() == vec![n; 1000]
            })
        }).collect();
        for task in tasks { see(format!("{:?}", task.await.unwrap())); }
        see(format!("{:?}", names(&dir).await));
    }
}
