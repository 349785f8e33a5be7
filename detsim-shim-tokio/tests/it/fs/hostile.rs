//! What nobody writes on purpose: odd flags, far ends of files, names at the limits, trees that change under
//! a walk. Compiled twice, as the programs beside it.

use super::{Program, Seen, fs, io, mode, names, put, shown, tokio};
use std::ffi::OsStr;
use std::io::SeekFrom;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

/// A file that is read and written, with these bytes.
async fn file(path: impl AsRef<Path>, text: &str) -> File {
    put(&path, text).await;
    OpenOptions::new().read(true).write(true).open(path).await.unwrap()
}

async fn set_mode(path: impl AsRef<Path>, bits: u32) {
    fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).await.unwrap();
}

programs! {
    // ---- how files are opened
    options_that_do_not_go_together |dir, see| {
        put(dir.join("f"), "hello").await;
        type Set = fn(&mut OpenOptions) -> &mut OpenOptions;
        let sets: [(&str, Set); 9] = [
            ("nothing", |o| o),
            ("truncate", |o| o.truncate(true)),
            ("read truncate", |o| o.read(true).truncate(true)),
            ("create", |o| o.create(true)),
            ("read create", |o| o.read(true).create(true)),
            ("append truncate", |o| o.append(true).truncate(true)),
            ("create_new of what is there", |o| o.write(true).create_new(true)),
            ("create_new truncate", |o| o.write(true).create_new(true).truncate(true)),
            ("read append", |o| o.read(true).append(true)),
        ];
        for (name, set) in sets {
            let opened = set(&mut OpenOptions::new()).open(dir.join("f")).await;
            see(format!("{name}: {}", shown(opened.map(drop))));
        }
        see(shown(fs::read_to_string(dir.join("f")).await));
    }
    bits_of_open_that_are_rare |dir, see| {
        put(dir.join("f"), "hello").await;
        const O_PATH: i32 = 0o10_000_000;
        const O_EXCL: i32 = 0o200;
        const O_TRUNC: i32 = 0o1_000;
        const O_NOATIME: i32 = 0o1_000_000;
        let open = |name: &str, write: bool, flags| {
            let path = dir.join(name);
            async move {
                OpenOptions::new().read(true).write(write).custom_flags(flags).open(path).await
            }
        };
        see(shown(open("f", false, O_EXCL).await.map(drop)));
        see(shown(open("f", false, O_NOATIME).await.map(drop)));
        see(shown(open("f", false, O_TRUNC).await.map(drop)));
        see(shown(fs::metadata(dir.join("f")).await.map(|m| m.len())));
        let named = open("f", false, O_PATH).await.unwrap().into_std().await;
        see(shown(named.read_at(&mut [0; 1], 0)));
        see(shown(named.set_len(0)));
        see(shown(named.sync_all()));
        see(shown(named.metadata().map(|m| m.len())));
        see(shown(open(".", true, 0).await.map(drop)));
        see(shown(open(".", false, O_PATH).await.map(drop)));
    }
    a_directory_that_is_opened_as_a_file |dir, see| {
        let std = File::open(&dir).await.unwrap().into_std().await;
        see(shown(std.read_at(&mut [0; 4], 0)));
        see(shown(std.write_at(b"x", 0)));
        see(shown(std.set_len(4)));
        see(shown(std.sync_all()));
        see(shown(std.sync_data()));
        see(shown(std.metadata().map(|m| m.is_dir())));
        see(shown(fs::write(&dir, "x").await));
        see(shown(fs::read(&dir).await));
        see(shown(File::create(&dir).await.map(drop)));
    }
    handles_that_may_not |dir, see| {
        put(dir.join("f"), "hello").await;
        let reads = File::open(dir.join("f")).await.unwrap().into_std().await;
        let writes = OpenOptions::new().write(true).open(dir.join("f")).await.unwrap();
        let writes = writes.into_std().await;
        see(shown(reads.write_at(b"x", 0)));
        see(shown(reads.write_at(b"", 0)));
        see(shown(reads.set_len(2)));
        see(shown(reads.sync_all()));
        see(shown(reads.set_permissions(std::fs::Permissions::from_mode(0o600))));
        see(shown(writes.read_at(&mut [0; 1], 0)));
        see(shown(writes.read_at(&mut [], 0)));
    }
    // ---- the far ends of files
    far_positions |dir, see| {
        let mut far = file(dir.join("f"), "hello").await;
        see(shown(far.seek(SeekFrom::Current(-1)).await));
        see(shown(far.seek(SeekFrom::End(-6)).await));
        see(shown(far.seek(SeekFrom::Start(1 << 40)).await));
        see(shown(far.read(&mut [0; 4]).await));
        see(shown(far.seek(SeekFrom::Start(u64::MAX)).await));
        see(shown(far.seek(SeekFrom::Current(i64::MAX)).await));
        see(shown(far.seek(SeekFrom::End(i64::MIN)).await));
        see(shown(far.stream_position().await));
        let std = far.into_std().await;
        see(shown(std.read_at(&mut [0; 4], u64::MAX)));
        see(shown(std.read_at(&mut [0; 4], i64::MAX as u64)));
        see(shown(std.read_at(&mut [0; 4], i64::MAX as u64 - 4)));
        see(shown(std.write_at(b"1234", u64::MAX)));
        see(shown(std.write_at(b"1234", i64::MAX as u64)));
        see(shown(std.set_len(u64::MAX)));
        see(shown(std.set_len(1 << 63)));
        see(shown(std.metadata().map(|m| m.len())));
    }
    a_file_beyond_the_largest |dir, see| {
        // As on ext4; other systems hold more, and the simulated one is told.
        let end = (1_u64 << 44) - 4096;
        let std = file(dir.join("f"), "hello").await.into_std().await;
        let is_ext4 = std.set_len(end + 1).is_err();
        if is_ext4 {
            see(shown(std.set_len(end)));
            see(shown(std.set_len(end + 1)));
            see(shown(std.write_at(b"1234", end)));
            see(shown(std.write_at(b"1234", end - 2)));
            see(shown(std.read_at(&mut [0; 4], end - 1)));
            see(shown((&std).seek(SeekFrom::Start(end))));
            see(shown((&std).seek(SeekFrom::Start(end + 1))));
        }
        use std::io::Seek;
        see(shown(std.set_len(0)));
    }
    holes_take_no_room |dir, see| {
        let std = file(dir.join("f"), "").await.into_std().await;
        std.set_len(1 << 30).unwrap();
        see(shown(std.metadata().map(|m| (m.len(), m.blocks()))));
        see(shown(std.write_at(b"x", 1 << 29)));
        std.sync_all().unwrap();
        see(shown(std.metadata().map(|m| (m.len(), m.blocks() > 0 && m.blocks() < 100))));
    }
    an_append_goes_to_the_end_whatever_became_of_it |dir, see| {
        put(dir.join("f"), "hello").await;
        let mut log = OpenOptions::new().append(true).read(true).open(dir.join("f")).await.unwrap();
        log.set_len(2).await.unwrap();
        log.write_all(b"X").await.unwrap();
        log.flush().await.unwrap();
        see(shown(log.stream_position().await));
        log.set_len(6).await.unwrap();
        log.seek(SeekFrom::Start(1)).await.unwrap();
        log.write_all(b"Y").await.unwrap();
        log.flush().await.unwrap();
        see(shown(log.stream_position().await));
        see(shown(fs::read(dir.join("f")).await));
        // On Linux also where a position is given.
        let std = log.into_std().await;
        see(shown(std.write_at(b"Z", 0)));
        see(shown(fs::read(dir.join("f")).await));
    }
    parts_of_nothing |dir, see| {
        let std = file(dir.join("f"), "hello").await.into_std().await;
        use std::io::{IoSlice, IoSliceMut, Read, Write};
        see(shown((&std).write(b"")));
        see(shown((&std).read(&mut [])));
        see(shown(std.write_at(b"", 1 << 40)));
        see(shown(std.read_at(&mut [], 1 << 40)));
        see(shown((&std).write_vectored(&[])));
        see(shown((&std).write_vectored(&[IoSlice::new(b""), IoSlice::new(b"")])));
        see(shown((&std).read_vectored(&mut [])));
        see(shown((&std).write_vectored(&[IoSlice::new(b""), IoSlice::new(b"XY")])));
        let (mut one, mut two) = ([b'-'; 2], [b'-'; 4]);
        let mut parts = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
        see(shown((&std).read_vectored(&mut parts)));
        see(format!("{one:?} {two:?}"));
        see(shown(std.metadata().map(|m| m.len())));
    }
    what_a_short_read_leaves_alone |dir, see| {
        let std = file(dir.join("f"), "abc").await.into_std().await;
        let mut buf = [b'-'; 6];
        see(shown(std.read_at(&mut buf, 1)));
        see(format!("{buf:?}"));
        see(shown(std.read_at(&mut buf, 3)));
        see(format!("{buf:?}"));
    }
    a_clone_and_its_original |dir, see| {
        let mut one = file(dir.join("f"), "0123456789").await;
        let mut two = one.try_clone().await.unwrap();
        one.write_all(b"AB").await.unwrap();
        one.flush().await.unwrap();
        two.write_all(b"CD").await.unwrap();
        two.flush().await.unwrap();
        drop(one);
        let mut rest = String::new();
        see(shown(two.read_to_string(&mut rest).await));
        see(rest);
        see(shown(fs::read_to_string(dir.join("f")).await));
    }
    // ---- two file systems
    names_do_not_move_between_file_systems |dir, see| {
        let own = dir.as_os_str().as_bytes().iter().map(|b| if *b == b'/' { b'-' } else { *b });
        let name = String::from_utf8(own.collect()).unwrap();
        let shm = Path::new("/dev/shm").join(format!("detsim{name}"));
        fs::create_dir(&shm).await.unwrap();
        put(dir.join("f"), "hello").await;
        fs::create_dir(dir.join("d")).await.unwrap();
        see(shown(fs::rename(dir.join("f"), shm.join("f")).await));
        see(shown(fs::rename(dir.join("d"), shm.join("d")).await));
        see(shown(fs::hard_link(dir.join("f"), shm.join("f")).await));
        see(shown(fs::rename(dir.join("no"), shm.join("f")).await));
        see(shown(fs::copy(dir.join("f"), shm.join("f")).await));
        see(shown(fs::symlink(dir.join("f"), shm.join("s")).await));
        see(shown(fs::read_to_string(shm.join("s")).await));
        see(format!("{:?}", names(&shm).await));
        see(shown(fs::remove_dir_all(&shm).await));
        see(format!("{:?}", names(&dir).await));
    }
    // ---- names
    a_slash_at_the_end |dir, see| {
        put(dir.join("f"), "x").await;
        see(shown(File::open(dir.join("f/")).await.map(drop)));
        see(shown(File::create(dir.join("g/")).await.map(drop)));
        see(shown(fs::create_dir(dir.join("d/")).await));
        see(shown(fs::remove_file(dir.join("f/")).await));
        see(shown(fs::rename(dir.join("f"), dir.join("h/")).await));
        see(shown(fs::remove_dir(dir.join("d/")).await));
        see(shown(fs::create_dir(dir.join("f/")).await));
        see(shown(File::create(dir.join("f/")).await.map(drop)));
        see(shown(File::create(dir.join("no/f/")).await.map(drop)));
    }
    a_file_and_its_own_directory |dir, see| {
        fs::create_dir_all(dir.join("d/e")).await.unwrap();
        put(dir.join("d/e/f"), "x").await;
        see(shown(fs::rename(dir.join("d/e/f"), dir.join("d/e")).await));
        see(shown(fs::rename(dir.join("d/e/f"), dir.join("d")).await));
        see(shown(fs::rename(dir.join("d/e"), dir.join("d")).await));
        see(shown(fs::rename(dir.join("d"), dir.join("d/e/f")).await));
        see(shown(fs::rename(dir.join("d"), dir.join("d")).await));
        see(shown(fs::rename(dir.join("d"), dir.join("d/e")).await));
        see(shown(fs::rename(dir.join("d/."), dir.join("x")).await));
        see(shown(fs::rename(dir.join("d/e/.."), dir.join("x")).await));
        see(shown(fs::rename(dir.join("d"), dir.join("x/")).await));
        see(shown(fs::rename(dir.join("x/e/f"), dir.join("x/e/g/")).await));
        see(shown(fs::rename("/", dir.join("x")).await));
        see(shown(fs::remove_dir("/").await));
        see(format!("{:?}", names(dir.join("x/e")).await));
    }
    renames_of_links |dir, see| {
        fs::create_dir(dir.join("d")).await.unwrap();
        put(dir.join("f"), "x").await;
        fs::symlink("d", dir.join("to_d")).await.unwrap();
        fs::symlink("f", dir.join("to_f")).await.unwrap();
        fs::symlink("none", dir.join("to_none")).await.unwrap();
        see(shown(fs::rename(dir.join("d"), dir.join("to_d")).await));
        see(shown(fs::rename(dir.join("to_d"), dir.join("d")).await));
        see(shown(fs::rename(dir.join("to_d/"), dir.join("e")).await));
        see(shown(fs::rename(dir.join("f"), dir.join("to_none")).await));
        see(shown(fs::rename(dir.join("to_f"), dir.join("g")).await));
        see(shown(fs::read(dir.join("g")).await));
        see(shown(fs::remove_dir(dir.join("to_d/")).await));
        see(shown(fs::create_dir(dir.join("g")).await));
        see(shown(fs::create_dir_all(dir.join("to_d")).await));
        see(shown(fs::create_dir_all(dir.join("g")).await));
        see(format!("{:?}", names(&dir).await));
    }
    names_that_are_no_text |dir, see| {
        for name in [&b"\xFF\xFE"[..], b"a\nb", b" ", b"\\", b"-rf", "\u{1F980}".as_bytes()] {
            let path = dir.join(OsStr::from_bytes(name));
            see(shown(fs::write(&path, name).await));
            see(format!("{}", fs::read(&path).await.unwrap() == name));
            see(shown(fs::canonicalize(&path).await.map(|found| found.ends_with(&path))));
        }
        let mut found = Vec::new();
        let mut entries = fs::read_dir(&dir).await.unwrap();
        while let Some(entry) = entries.next_entry().await.unwrap() {
            found.push(entry.file_name().as_bytes().to_vec());
        }
        found.sort();
        see(format!("{found:?}"));
    }
    paths_at_the_limit |dir, see| {
        let name = "n".repeat(255);
        let mut deep = dir.clone();
        // As deep as one path leads, by steps of a name of the largest length.
        while deep.as_os_str().len() + 2 * 256 < 4095 {
            deep.push(&name);
            fs::create_dir(&deep).await.unwrap();
        }
        for len in [4094, 4095, 4096] {
            let rest = len - deep.as_os_str().len() - 1;
            let path = deep.join("x".repeat(rest.min(255)));
            let path = format!("{}{}", "/".repeat(len - path.as_os_str().len()), path.display());
            see(format!("{len}: {}", shown(fs::write(&path, "x").await)));
            see(shown(fs::metadata(&path).await.map(|m| m.len())));
        }
        see(shown(fs::remove_dir_all(dir.join(&name)).await));
        see(shown(fs::symlink("t".repeat(4095), dir.join("s")).await));
        see(shown(fs::symlink("t".repeat(4096), dir.join("t")).await));
        see(shown(fs::read(dir.join("s")).await));
        see(shown(fs::read_link(dir.join("s")).await.map(|to| to.as_os_str().len())));
    }
    above_the_root_is_the_root |dir, see| {
        let ino = |path: PathBuf| async move { fs::metadata(path).await.map(|m| m.ino()) };
        let root = ino(PathBuf::from("/")).await.unwrap();
        see(format!("{}", ino(PathBuf::from("/../../..")).await.unwrap() == root));
        see(shown(fs::canonicalize("/../..").await));
        let up = "../".repeat(64);
        see(format!("{}", ino(dir.join(&up)).await.unwrap() == root));
        let again = dir.join(&up).join(dir.strip_prefix("/").unwrap());
        see(format!("{}", ino(again).await.unwrap() == ino(dir.clone()).await.unwrap()));
        see(shown(fs::metadata(dir.join("no/..")).await.map(drop)));
    }
    links_that_lead_in_circles |dir, see| {
        fs::symlink("me", dir.join("me")).await.unwrap();
        fs::symlink("d/up", dir.join("loop")).await.unwrap();
        fs::create_dir(dir.join("d")).await.unwrap();
        fs::symlink("../loop", dir.join("d/up")).await.unwrap();
        fs::symlink("..", dir.join("d/parent")).await.unwrap();
        put(dir.join("f"), "x").await;
        for path in ["me", "loop", "me/x", "d/up/"] {
            see(shown(fs::write(dir.join(path), "x").await));
            see(shown(fs::remove_dir(dir.join(path)).await));
            see(shown(fs::try_exists(dir.join(path)).await));
        }
        see(shown(fs::read_to_string(dir.join("d/parent/d/parent/d/parent/f")).await));
        see(shown(fs::hard_link(dir.join("me"), dir.join("also")).await));
        see(shown(OpenOptions::new().write(true).create_new(true).open(dir.join("me")).await.map(drop)));
        see(shown(fs::remove_file(dir.join("me")).await));
        see(format!("{:?}", names(&dir).await));
    }
    // ---- trees that change
    a_listing_of_what_changes |dir, see| {
        for n in 0..40 { put(dir.join(format!("f{n:02}")), "").await; }
        let mut entries = fs::read_dir(&dir).await.unwrap();
        let first = entries.next_entry().await.unwrap().unwrap();
        for n in 0..40 { fs::remove_file(dir.join(format!("f{n:02}"))).await.unwrap(); }
        see(shown(first.metadata().await.map(drop)));
        let mut count = 1;
        while let Ok(Some(_)) = entries.next_entry().await { count += 1; }
        // How many are still told of is the system's own choice.
        see(format!("{}", (1..=40).contains(&count)));
        see(shown(fs::remove_dir(&dir).await));
        see(shown(fs::read_dir(&dir).await.map(drop)));
        see(shown(fs::create_dir(&dir).await));
    }
    a_directory_that_is_gone |dir, see| {
        fs::create_dir(dir.join("d")).await.unwrap();
        put(dir.join("d/f"), "x").await;
        let held = File::open(dir.join("d")).await.unwrap();
        let mut entries = fs::read_dir(dir.join("d")).await.unwrap();
        fs::remove_file(dir.join("d/f")).await.unwrap();
        fs::remove_dir(dir.join("d")).await.unwrap();
        see(shown(held.metadata().await.map(|m| (m.is_dir(), m.nlink()))));
        see(shown(held.sync_all().await));
        drop(entries.next_entry().await);
        see(shown(entries.next_entry().await.map(|e| e.is_none())));
        put(dir.join("d"), "a file now").await;
        see(shown(held.metadata().await.map(|m| m.is_dir())));
        see(shown(fs::read_to_string(dir.join("d")).await));
    }
    a_file_without_a_name |dir, see| {
        let mut open = file(dir.join("f"), "hello").await;
        fs::remove_file(dir.join("f")).await.unwrap();
        see(shown(open.metadata().await.map(|m| (m.len(), m.nlink()))));
        open.seek(SeekFrom::End(0)).await.unwrap();
        open.write_all(b" there").await.unwrap();
        see(shown(open.sync_all().await));
        open.rewind().await.unwrap();
        let mut text = String::new();
        see(shown(open.read_to_string(&mut text).await));
        see(text);
        see(shown(open.set_permissions(std::fs::Permissions::from_mode(0o600)).await));
        put(dir.join("f"), "another").await;
        see(shown(open.metadata().await.map(|m| m.len())));
    }
    // ---- what is allowed
    a_moved_directory_is_written_itself |dir, see| {
        fs::create_dir_all(dir.join("a/d")).await.unwrap();
        fs::create_dir(dir.join("b")).await.unwrap();
        set_mode(dir.join("a/d"), 0o500).await;
        see(shown(fs::rename(dir.join("a/d"), dir.join("b/d")).await));
        see(shown(fs::rename(dir.join("a/d"), dir.join("a/e")).await));
        set_mode(dir.join("b"), 0o500).await;
        put(dir.join("f"), "x").await;
        see(shown(fs::rename(dir.join("f"), dir.join("b/f")).await));
        see(shown(fs::hard_link(dir.join("f"), dir.join("b/f")).await));
        see(shown(fs::symlink("f", dir.join("b/s")).await));
        see(shown(fs::create_dir(dir.join("b/c")).await));
        see(shown(fs::create_dir(dir.join("b")).await));
        set_mode(dir.join("b"), 0o700).await;
    }
    modes_of_directories |dir, see| {
        fs::create_dir(dir.join("d")).await.unwrap();
        put(dir.join("d/f"), "x").await;
        // Names without a way to what they lead to, and a way without names.
        set_mode(dir.join("d"), 0o400).await;
        let mut entries = fs::read_dir(dir.join("d")).await.unwrap();
        let entry = entries.next_entry().await.unwrap().unwrap();
        see(format!("{:?}", entry.file_name()));
        see(shown(entry.metadata().await.map(|m| m.len())));
        see(shown(fs::read(dir.join("d/f")).await));
        set_mode(dir.join("d"), 0o100).await;
        see(shown(fs::read_to_string(dir.join("d/f")).await));
        see(shown(fs::read_dir(dir.join("d")).await.map(drop)));
        see(shown(fs::metadata(dir.join("d/none")).await.map(drop)));
        set_mode(dir.join("d"), 0o600).await;
        see(shown(fs::write(dir.join("d/g"), "x").await));
        see(shown(fs::canonicalize(dir.join("d/f")).await.map(drop)));
        see(shown(fs::remove_dir_all(dir.join("d")).await));
        set_mode(dir.join("d"), 0o700).await;
        see(shown(fs::remove_dir_all(dir.join("d")).await));
    }
    an_open_file_stays_open_whatever_its_mode |dir, see| {
        let mut open = file(dir.join("f"), "hello").await;
        set_mode(dir.join("f"), 0o000).await;
        let mut text = String::new();
        see(shown(open.read_to_string(&mut text).await));
        see(shown(open.write_all(b"!").await));
        see(shown(open.flush().await));
        see(shown(File::open(dir.join("f")).await.map(drop)));
        see(format!("{:o}", mode(dir.join("f")).await));
        see(shown(OpenOptions::new().write(true).create_new(true).mode(0o000).open(dir.join("g")).await.map(drop)));
        see(shown(fs::copy(dir.join("f"), dir.join("h")).await));
    }
    // ---- beside the disk
    files_of_the_system |_dir, see| {
        see(shown(fs::write("/dev/null", "gone").await));
        see(shown(fs::read("/dev/null").await));
        see(shown(fs::write("/dev/full", "x").await));
        see(shown(fs::metadata("/dev/null").await.map(|m| m.is_file())));
        see(shown(fs::read("/proc/self/stat").await.map(|text| !text.is_empty())));
        let mut zeros = [1; 3];
        see(shown(File::open("/dev/zero").await.unwrap().read_exact(&mut zeros).await));
        see(format!("{zeros:?}"));
        see(shown(fs::read_dir("/proc/self/fd").await.map(drop)));
    }
    std_on_other_threads |dir, see| {
        let path = dir.join("f");
        let task = tokio::task::spawn_blocking(move || {
            use std::io::{BufRead, BufReader, BufWriter, Write};
            let mut out = BufWriter::new(std::fs::File::create(&path)?);
            for n in 0..100 { writeln!(out, "line {n}")?; }
            out.into_inner()?.sync_all()?;
            let lines = BufReader::new(std::fs::File::open(&path)?).lines();
            io::Result::Ok(lines.map_while(io::Result::ok).filter(|line| line.ends_with('7')).count())
        });
        see(shown(task.await.unwrap()));
        let path = dir.join("f");
        let thread = std::thread::spawn(move || std::fs::read_to_string(path).map(|text| text.len()));
        see(shown(thread.join().unwrap()));
    }
    copies_of_odd_things |dir, see| {
        put(dir.join("f"), "hello").await;
        fs::symlink("f", dir.join("s")).await.unwrap();
        fs::create_dir(dir.join("d")).await.unwrap();
        see(shown(fs::copy(dir.join("s"), dir.join("g")).await));
        see(shown(fs::symlink_metadata(dir.join("g")).await.map(|m| m.is_file())));
        see(shown(fs::copy(dir.join("f"), dir.join("d")).await));
        see(shown(fs::copy(dir.join("f"), dir.join("d/")).await));
        see(shown(fs::copy(dir.join("f"), dir.join("no/g")).await));
        see(shown(fs::copy(dir.join("f"), "/dev/null").await));
        see(shown(fs::copy("/dev/null", dir.join("empty")).await));
        see(shown(fs::metadata(dir.join("empty")).await.map(|m| m.len())));
        see(shown(fs::copy(dir.join("f"), "").await));
    }
    names_of_sockets_have_permissions |dir, see| {
        use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
        let (path, of_datagrams) = (dir.join("s"), dir.join("d"));
        let _listener = UnixListener::bind(&path).unwrap();
        let _datagram = UnixDatagram::bind(&of_datagrams).unwrap();
        let client = UnixDatagram::unbound().unwrap();
        for bits in [0o700, 0o500, 0o200, 0o000] {
            set_mode(&path, bits).await;
            set_mode(&of_datagrams, bits).await;
            see(shown(UnixStream::connect(&path).map(drop)));
            see(shown(client.send_to(b"x", &of_datagrams)));
            see(shown(fs::read(&path).await));
            see(shown(OpenOptions::new().write(true).open(&path).await.map(drop)));
        }
        put(dir.join("f"), "text").await;
        see(shown(UnixStream::connect(dir.join("f")).map(drop)));
        set_mode(dir.join("f"), 0o400).await;
        see(shown(UnixStream::connect(dir.join("f")).map(drop)));
        for bits in [0o600, 0o500] {
            set_mode(&dir, bits).await;
            see(shown(UnixStream::connect(&path).map(drop)));
            see(shown(UnixListener::bind(dir.join("new")).map(drop)));
        }
        set_mode(&dir, 0o700).await;
    }
}
