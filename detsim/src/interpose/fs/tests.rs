//! Files of unmodified code: one program on the real system and in a run, with equal outcomes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use detsim_executor::Sim;
use detsim_fs::Disks;

/// What a program saw, call by call.
type Seen = Vec<String>;

fn shown<T: std::fmt::Debug>(outcome: io::Result<T>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?} {:?} {error}", error.kind(), error.raw_os_error()),
    }
}

/// Uses every function of std that makes a call of its own.
fn program(dir: &Path) -> io::Result<Seen> {
    let at = |name: &str| dir.join(name);
    let mut seen = Seen::new();
    let mut see = |text: String| seen.push(text);
    fs::create_dir_all(at("a/b/c"))?;
    fs::write(at("a/f"), b"hello")?;
    see(shown(fs::read_to_string(at("a/f"))));
    see(shown(fs::copy(at("a/f"), at("a/g"))));
    fs::hard_link(at("a/f"), at("a/h"))?;
    symlink("f", at("a/s"))?;
    see(shown(fs::read_link(at("a/s"))));
    see(shown(
        fs::canonicalize(at("a/b/../s")).map(|path| path.strip_prefix(dir).map(Path::to_owned)),
    ));
    fs::rename(at("a/g"), at("a/b/c/g"))?;
    let known = |path: &str| {
        fs::symlink_metadata(at(path)).map(|m| {
            let mode = m.permissions().mode();
            (m.is_dir(), m.is_file(), m.is_symlink(), m.len().min(100), mode)
        })
    };
    for path in ["a/f", "a/s", "a/b/c/g", "a/g", "a/f/x"] {
        see(shown(known(path)));
    }
    see(shown(fs::exists(at("a/g"))));
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(at("a/w"))?;
    see(shown(file.write_vectored(&[IoSlice::new(b"abc"), IoSlice::new(b"defg")])));
    see(shown(file.seek(SeekFrom::Start(1))));
    let (mut one, mut two) = ([0; 2], [0; 9]);
    see(shown(file.read_vectored(&mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)])));
    see(format!("{one:?} {two:?}"));
    see(shown(file.write_at(b"XY", 2)));
    see(shown(file.read_exact_at(&mut one, 1).map(|()| one)));
    let mut twin = file.try_clone()?;
    see(shown(twin.seek(SeekFrom::End(-1))));
    see(shown(file.stream_position()));
    see(shown(file.set_len(3).and_then(|()| file.metadata().map(|m| m.len()))));
    see(shown(file.sync_all().and_then(|()| file.sync_data())));
    file.set_permissions(fs::Permissions::from_mode(0o640))?;
    see(shown(known("a/w")));
    see(shown(file.try_lock().map_err(io::Error::from)));
    let other = File::open(at("a/w"))?;
    see(format!("{:?}", other.try_lock_shared().is_err()));
    see(shown(file.unlock()));
    see(shown((&other).write(b"x")));
    let direct = OpenOptions::new().append(true).custom_flags(libc::O_DSYNC).open(at("a/w"))?;
    see(shown((&direct).write(b"!").and_then(|_| fs::read(at("a/w")))));
    let mut names: Vec<_> = fs::read_dir(at("a"))?
        .map(|e| e.map(|e| (e.file_name(), e.file_type().unwrap().is_dir())).unwrap())
        .collect();
    names.sort();
    see(format!("{names:?}"));
    see(shown(fs::remove_dir(at("a"))));
    see(shown(fs::remove_file(at("a/b"))));
    see(shown(fs::remove_file(at("a/h"))));
    let mut gone = File::open(at("a/f"))?;
    fs::remove_file(at("a/f"))?;
    let mut text = String::new();
    see(shown(gone.read_to_string(&mut text)));
    see(shown(fs::remove_dir_all(at("a"))));
    see(shown(fs::read_dir(dir).map(Iterator::count)));
    Ok(seen)
}

#[test]
fn std_does_in_a_run_what_it_does_on_a_real_disk() {
    super::link_in();
    let name = format!("detsim-interpose-{}", std::process::id());
    let real = std::env::temp_dir().join(name);
    fs::create_dir(&real).unwrap();
    let expected = program(&real);
    fs::remove_dir_all(&real).unwrap();

    let sim = Sim::new(7);
    let inside = sim.block_on(async {
        let dir = Path::new("/data");
        fs::create_dir(dir).unwrap();
        program(dir)
    });
    assert!(!Path::new("/data").exists());
    let (inside, expected) = (inside.unwrap().unwrap(), expected.unwrap());
    for (inside, expected) in inside.iter().zip(&expected) {
        assert_eq!(inside, expected);
    }
    assert_eq!(inside.len(), expected.len());
}

#[test]
fn inputs_are_read_and_what_is_written_stays_in_the_run() {
    super::link_in();
    let sim = Sim::new(7);
    sim.block_on(async {
        // The manifest of this package is in the directory that its tests run in.
        assert!(fs::read_to_string("Cargo.toml").unwrap().contains("[package]"));
        fs::write("Cargo.toml", "mine").unwrap();
        assert_eq!(fs::read_to_string("Cargo.toml").unwrap(), "mine");
        fs::write("src/new.txt", "below a real directory").unwrap();
        let here = std::env::current_dir().unwrap();
        assert!(here.join("src/new.txt").exists());
        assert!(fs::read("/proc/self/stat").is_ok());
        assert_eq!(fs::read("/no/such").unwrap_err().kind(), io::ErrorKind::NotFound);
    })
    .unwrap();
    assert!(fs::read_to_string("Cargo.toml").unwrap().contains("[package]"));
    assert!(!Path::new("src/new.txt").exists());
}

#[test]
#[expect(clippy::disallowed_types, reason = "what unmodified code reads")]
fn files_are_written_by_the_clock_that_the_run_reads() {
    super::link_in();
    Sim::new(7)
        .block_on(async {
            let before = std::time::SystemTime::now();
            fs::write("/stamp", "now").unwrap();
            let written = fs::metadata("/stamp").unwrap().modified().unwrap();
            let passed = written.duration_since(before).unwrap();
            assert!(passed < Duration::from_secs(1), "{passed:?}");
        })
        .unwrap();
}

#[test]
fn what_is_no_part_of_the_run_takes_none_of_its_time() {
    super::link_in();
    Sim::new(7)
        .block_on(async {
            let before = detsim_executor::context::now();
            assert!(fs::read_to_string("Cargo.toml").unwrap().contains("[package]"));
            // Places are looked up in the file of the program.
            assert!(!std::backtrace::Backtrace::force_capture().to_string().is_empty());
            let passed = detsim_executor::context::now().as_nanos() - before.as_nanos();
            assert!(passed < 1_000, "{passed} ns");
            fs::write("/of-the-run", "waits").unwrap();
            let passed = detsim_executor::context::now().as_nanos() - before.as_nanos();
            assert!(passed > 1_000, "{passed} ns");
        })
        .unwrap();
}

#[test]
fn a_loss_of_power_reaches_code_that_knows_nothing_of_it() {
    super::link_in();
    let sim = Sim::new(3);
    let node = sim.node("db");
    node.enter(|| {
        fs::write("/kept", "kept").unwrap();
        File::open("/kept").unwrap().sync_all().unwrap();
        File::open("/").unwrap().sync_all().unwrap();
    });
    let left_open = node.enter(|| File::open("/kept").unwrap());
    node.crash();
    drop(left_open);
    node.restart();
    assert_eq!(node.enter(|| fs::read_to_string("/kept")).unwrap(), "kept");
    let disks = Disks::of(&sim);
    assert_eq!(disks.volume(node.id(), |volume| volume.pending()), 0);
}

/// Makes a FIFO, and uses it by its names.
fn with_fifos(dir: &Path) -> io::Result<Seen> {
    let at = |name: &str| dir.join(name);
    let mut seen = Seen::new();
    let mut see = |text: String| seen.push(text);
    let make = |name: &str| {
        let path = std::ffi::CString::new(at(name).into_os_string().into_encoded_bytes())?;
        // SAFETY: the path ends in a zero.
        match unsafe { super::fifo::mkfifo(path.as_ptr(), 0o600) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    let nonblocking = |reads: bool, name: &str| {
        let mut options = OpenOptions::new();
        options.read(reads).write(!reads).custom_flags(libc::O_NONBLOCK).open(at(name))
    };
    see(shown(make("p")));
    see(shown(make("p")));
    see(shown(make("no/p")));
    see(shown(
        fs::metadata(at("p"))
            .map(|known| (known.file_type().is_fifo(), known.permissions().mode(), known.len())),
    ));
    see(shown(nonblocking(false, "p").map(drop)));
    let mut reader = nonblocking(true, "p")?;
    let mut bytes = [0; 9];
    see(shown(reader.read(&mut bytes)));
    fs::rename(at("p"), at("q"))?;
    let mut writer = OpenOptions::new().write(true).open(at("q"))?;
    see(shown(reader.read(&mut bytes)));
    let waits = || {
        // SAFETY: the call takes a descriptor.
        unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_GETFL) & libc::O_NONBLOCK == 0 }
    };
    let never_waits = 1;
    // SAFETY: the call takes a number there.
    let set = || unsafe { libc::ioctl(writer.as_raw_fd(), libc::FIONBIO, &raw const never_waits) };
    see(format!("{:?}", (waits(), set(), waits())));
    see(shown(writer.write(b"through")));
    see(shown(reader.read(&mut bytes).map(|read| bytes[..read].to_vec())));
    drop(writer);
    see(shown(reader.read(&mut bytes)));
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        see(format!("{:?} {}", entry.file_name(), entry.file_type()?.is_fifo()));
    }
    fs::remove_file(at("q"))?;
    see(shown(nonblocking(true, "q").map(drop)));
    Ok(seen)
}

#[test]
fn a_fifo_is_in_a_run_what_it_is_on_the_system() {
    super::link_in();
    let dir = std::env::temp_dir().join(format!("detsim-fifos-{}", std::process::id()));
    fs::create_dir(&dir).unwrap();
    let expected = with_fifos(&dir);
    fs::remove_dir_all(&dir).unwrap();
    let inside = Sim::new(7).block_on(async {
        fs::create_dir("/data").unwrap();
        with_fifos(Path::new("/data"))
    });
    let (inside, expected) = (inside.unwrap().unwrap(), expected.unwrap());
    assert!(expected.iter().any(|call| call.contains("Some(6)")), "{expected:#?}");
    assert_eq!(inside, expected);
}

/// What comes through a FIFO: opening it and reading from it wait for whoever writes.
fn all_of_a_fifo(at: &Path) -> io::Result<Seen> {
    let mut bytes = Vec::new();
    File::open(at)?.read_to_end(&mut bytes)?;
    Ok(vec![format!("{} {:?}", bytes.len(), &bytes[bytes.len() - 4..])])
}

/// Opens a FIFO that nobody reads yet, and writes more than a pipe holds.
fn fill_a_fifo(at: &Path) -> io::Result<Seen> {
    let mut pipe = OpenOptions::new().write(true).open(at)?;
    let mut seen = vec![shown(pipe.write_all(&[7; 200_000]))];
    let mut twin = pipe.try_clone()?;
    drop(pipe);
    seen.push(shown(twin.write_all(b"end")));
    Ok(seen)
}

fn make_fifo(at: &Path) {
    let path = std::ffi::CString::new(at.as_os_str().as_encoded_bytes()).unwrap();
    // SAFETY: the path ends in a zero.
    assert_eq!(unsafe { super::fifo::mkfifo(path.as_ptr(), 0o600) }, 0);
}

#[test]
fn threads_meet_at_a_fifo_in_a_run_as_on_the_system() {
    super::link_in();
    let at = std::env::temp_dir().join(format!("detsim-meet-{}", std::process::id()));
    make_fifo(&at);
    let from = at.clone();
    let reader = std::thread::spawn(move || all_of_a_fifo(&from));
    let written = fill_a_fifo(&at).unwrap();
    let expected = (written, reader.join().unwrap().unwrap());
    fs::remove_file(&at).unwrap();
    for seed in 0..10 {
        let inside = Sim::new(seed).block_on(async {
            make_fifo(Path::new("/p"));
            let half = |name, f: fn(&Path) -> io::Result<Seen>| {
                let call = detsim_executor::blocking(move || f(Path::new("/p")));
                detsim_executor::context::spawn(name, call)
            };
            let (writer, reader) = (half("writer", fill_a_fifo), half("reader", all_of_a_fifo));
            (writer.await.unwrap().unwrap(), reader.await.unwrap().unwrap())
        });
        assert_eq!(inside.unwrap(), expected);
    }
}

#[test]
fn a_fifo_that_nobody_else_opens_is_a_deadlock() {
    super::link_in();
    // Stacks are looked up under a lock of std, for which a run of another test would wait.
    let mut config = detsim_executor::SimConfig::default();
    config.brief = true;
    let sim = Sim::with_config(7, config);
    drop(sim.node("n").spawn("reader", async {
        make_fifo(Path::new("/p"));
        drop(File::open("/p"));
    }));
    let stuck = sim.run().unwrap_err().to_string();
    assert!(stuck.contains("pipe") && stuck.contains("reader"), "{stuck}");
}
