//! Programs that need a system of their own: one with few descriptors, with a small disk, with two file
//! systems. Each is run on the real system, in a child process that was set up so, and in a run, with equal
//! outcomes.
//!
//! Owns: both worlds, and what programs show of a call. Does not own: the programs (`worlds/limits.rs`,
//! `worlds/odd.rs`).

mod limits;
mod odd;

use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use detsim_executor::Sim;
use detsim_fs::{DiskConfig, Disks, VolumeConfig};

/// What a program saw, call by call.
type Seen = Vec<String>;
type Program = fn(&Path) -> Seen;

/// What there is little of.
#[derive(Clone, Copy, Default)]
struct Little {
    open_files: Option<usize>,
    disk_bytes: Option<u64>,
}

fn c(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().as_os_str().as_bytes()).unwrap()
}

/// An outcome as a program can tell it from others.
fn shown<T: std::fmt::Debug>(outcome: io::Result<T>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?} {:?}", error.kind(), error.raw_os_error()),
    }
}

/// What a function of libc gave, with the number of its error.
fn gave(number: impl TryInto<i64>) -> io::Result<i64> {
    match number.try_into().unwrap_or(i64::MAX) {
        -1 => Err(io::Error::last_os_error()),
        number => Ok(number),
    }
}

/// A call of libc's: its name, and what it gave.
macro_rules! libc_call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: paths end in zeros; places are valid for their lengths, or are such as a call refuses.
        let number = unsafe { libc::$name($($argument),*) };
        format!("{}: {}", stringify!($name), $crate::interpose::fs::worlds::shown($crate::interpose::fs::worlds::gave(number)))
    }};
}
use libc_call;

// ------------------------------------------------------------ the real world

/// Runs a program in a child process; an error where the system does not allow to set it up.
fn really(program: Program, dir: &Path, little: Little) -> io::Result<Seen> {
    fs::create_dir(dir)?;
    let (mut from, to) = io::pipe()?;
    // SAFETY: the child makes calls of the system alone before it ends, but for what its program does, and
    // other threads hold no lock for long that it would wait for.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(from);
        in_the_child(program, dir, little, to);
    }
    drop(to);
    let mut told = String::new();
    from.read_to_string(&mut told)?;
    // SAFETY: the child is this function's own.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    fs::remove_dir_all(dir)?;
    let mut lines = told.lines().map(str::to_owned);
    match lines.next().as_deref() {
        Some("done") => Ok(lines.collect()),
        first => Err(io::Error::other(first.unwrap_or("the child said nothing").to_owned())),
    }
}

fn in_the_child(program: Program, dir: &Path, little: Little, mut to: impl Write) -> ! {
    let told = match little.disk_bytes.map_or(Ok(()), |bytes| mount(dir, bytes)) {
        Err(error) => format!("no file system of its own: {error}"),
        Ok(()) => {
            let ran = catch_unwind(AssertUnwindSafe(|| {
                if let Some(files) = little.open_files {
                    limit_open_files(files as u64);
                }
                program(dir)
            }));
            match ran {
                Ok(seen) => format!("done\n{}", seen.join("\n")),
                Err(panic) => format!("a panic: {}", detsim_executor::message_of(&*panic)),
            }
        }
    };
    let told = to.write_all(told.as_bytes());
    drop(to);
    // SAFETY: the child ends here; nothing of the parent's is to be taken down.
    unsafe { libc::_exit(i32::from(told.is_err())) }
}

fn limit_open_files(files: u64) {
    let limit = libc::rlimit { rlim_cur: files, rlim_max: files };
    // SAFETY: the structure is valid for the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
}

/// Mounts a small file system, which the child alone sees and which ends with it.
fn mount(dir: &Path, bytes: u64) -> io::Result<()> {
    let (none, tmpfs, options) = (c("none"), c("tmpfs"), c(format!("size={bytes}")));
    let root = c("/");
    let all = libc::MS_REC | libc::MS_PRIVATE;
    let no_text = std::ptr::null();
    let of_data = options.as_ptr().cast();
    // SAFETY: the strings end in zeros.
    unsafe {
        gave(libc::unshare(libc::CLONE_NEWNS))?;
        gave(libc::mount(no_text, root.as_ptr(), no_text, all, std::ptr::null()))?;
        gave(libc::mount(none.as_ptr(), c(dir).as_ptr(), tmpfs.as_ptr(), 0, of_data))?;
    }
    Ok(())
}

// ------------------------------------------------------------ the simulated one, and both

fn in_a_run(program: Program, little: Little) -> Seen {
    let usual = VolumeConfig::default();
    let volume = VolumeConfig {
        open_files_max: little.open_files.unwrap_or(usual.open_files_max),
        capacity: little.disk_bytes.unwrap_or(usual.capacity),
        ..usual
    };
    let sim = Sim::new(7);
    Disks::of(&sim).set_defaults(DiskConfig { volume, ..DiskConfig::default() });
    let seen = sim.block_on(async move {
        fs::create_dir("/data").unwrap();
        program(Path::new("/data"))
    });
    seen.unwrap()
}

/// A program sees in a run what it sees on the real system.
#[track_caller]
fn check(name: &str, little: Little, program: Program) {
    super::link_in();
    let dir = std::env::temp_dir().join(format!("detsim-{name}-{}", std::process::id()));
    let expected = match really(program, &dir, little) {
        Err(error) if error.to_string().starts_with("no file system") => return skip(name, &error),
        expected => expected.unwrap(),
    };
    let inside = in_a_run(program, little);
    let pairs = inside.iter().zip(&expected).filter(|(inside, real)| inside != real);
    assert_eq!(Vec::from_iter(pairs), [], "{name}: in a run, and on the real system");
    assert_eq!(inside.len(), expected.len());
}

#[expect(clippy::print_stdout, reason = "half a test is said to be one")]
fn skip(name: &str, error: &io::Error) {
    println!("{name}: the real system is left out: {error}");
}
