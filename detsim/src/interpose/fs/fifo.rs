//! FIFOs: names of a simulated disk for pipes of the operating system.
//!
//! Owns: `mkfifo`, and what opening a FIFO gives: a descriptor of the system's own, which behaves as any
//! other does and which tasks wait for as for those that a program has from elsewhere. Does not own: the
//! name, with its permissions and what becomes of it, which is the disk's.
//!
//! An open that waits for its partner, as one without `O_NONBLOCK` may, waits in the system, and the run
//! with it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;

use detsim_executor::{Deadline, Device, NodeId, Sim, context};
use detsim_fs::{Disks, Errno, FileKind, Outcome};
use libc::{AT_FDCWD, c_char, c_int, c_long, mode_t};

use super::paths::system;
use super::{answer, done, of_path};

/// The pipes behind the FIFOs of one run, by node and inode.
#[derive(Default)]
struct Fifos {
    /// Each a descriptor that is open for nothing, and keeps its pipe there.
    pipes: RefCell<BTreeMap<(NodeId, u64), OwnedFd>>,
}

impl Device for Fifos {
    fn next_deadline(&self) -> Option<Deadline> {
        None
    }

    fn handle(&self) {}
}

thread_local! {
    /// Whether a run of this thread, or of one that it has driven before, has FIFOs: no other open asks.
    static USED: Cell<bool> = const { Cell::new(false) };
}

/// # Safety
/// As of libc's `mkfifo`: the path ends in a zero.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn mkfifo(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller vouches for the path.
    if let Some((disks, path)) = unsafe { of_path(path) } {
        return done(make(&disks, path, mode));
    }
    system!(SYS_mknodat, AT_FDCWD, path, mode | libc::S_IFIFO, 0) as c_int
}

fn make(disks: &Disks, path: &Path, mode: mode_t) -> Outcome<()> {
    let ino = disks.names(|volume| {
        volume.make_fifo(path, mode)?;
        Ok(volume.symlink_metadata(path)?.ino)
    })?;
    let Some(sim) = context::sim() else { return Err(Errno::EBADF) };
    let pipe = pipe(ino)?;
    fifos(&sim).pipes.borrow_mut().insert((node(), ino), pipe);
    Ok(())
}

fn fifos(sim: &Sim) -> Rc<Fifos> {
    USED.set(true);
    sim.device().unwrap_or_else(|| {
        let made = Rc::new(Fifos::default());
        sim.add_device(Rc::clone(&made) as Rc<dyn Device>);
        made
    })
}

fn node() -> NodeId {
    context::with(|kernel| kernel.current_node()).unwrap_or(NodeId::NONE)
}

/// Opens the FIFO of this name; `None` where it is none.
pub(super) fn open(disks: &Disks, path: &Path, flags: c_int) -> Option<c_int> {
    if !USED.get() || flags & libc::O_PATH != 0 {
        return None;
    }
    let known = disks.names(|volume| volume.metadata(path)).ok()?;
    (known.kind == FileKind::Fifo)
        .then(|| answer(open_known(disks, path, known.ino, flags)) as c_int)
}

fn open_known(disks: &Disks, path: &Path, ino: u64, flags: c_int) -> Outcome<c_long> {
    if flags & libc::O_EXCL != 0 && flags & libc::O_CREAT != 0 {
        return Err(Errno::EEXIST);
    }
    let access = flags & libc::O_ACCMODE;
    let (reads, writes) = (access != libc::O_WRONLY, access != libc::O_RDONLY);
    disks.names(|volume| volume.access(path, reads, writes, false))?;
    let sim = context::sim().ok_or(Errno::EBADF)?;
    let fifos = fifos(&sim);
    let mut pipes = fifos.pipes.borrow_mut();
    let pipe = match pipes.entry((node(), ino)) {
        std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
        std::collections::btree_map::Entry::Vacant(place) => place.insert(pipe(ino)?),
    };
    open_at(&format!("/proc/self/fd/{}", pipe.as_raw_fd()), flags & !libc::O_CREAT)
}

/// A pipe of the system with the manners of a FIFO. Only a file has them; its name goes at once.
fn pipe(ino: u64) -> Outcome<OwnedFd> {
    let path = format!("/tmp/.detsim-fifo-{}-{ino}", std::process::id());
    let name = name(&path);
    let remove = || system!(SYS_unlinkat, AT_FDCWD, name.as_ptr(), 0);
    // One that a process of the same number has left behind.
    remove();
    if system!(SYS_mknodat, AT_FDCWD, name.as_ptr(), libc::S_IFIFO | 0o600, 0) < 0 {
        return Err(failure());
    }
    let opened = open_at(&path, libc::O_PATH);
    remove();
    // SAFETY: the descriptor is new, and nobody else's.
    opened.map(|fd| unsafe { OwnedFd::from_raw_fd(fd as c_int) })
}

fn open_at(path: &str, flags: c_int) -> Outcome<c_long> {
    let fd = system!(SYS_openat, AT_FDCWD, name(path).as_ptr(), flags | libc::O_CLOEXEC, 0);
    if fd < 0 { Err(failure()) } else { Ok(fd) }
}

fn name(path: &str) -> CString {
    CString::new(path).expect("invariant: no zero in it")
}

/// What the system's last call said.
fn failure() -> Errno {
    let number = std::io::Error::last_os_error().raw_os_error();
    number.map_or(Errno::EIO, Errno::of)
}

/// Has the linker take these functions.
pub(super) fn link_in() {
    std::hint::black_box(mkfifo as *const ());
}
