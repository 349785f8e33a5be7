//! FIFOs: names of a simulated disk for pipes of the operating system.
//!
//! Owns: `mkfifo`, and what opening a FIFO gives: a descriptor of the system's own, which behaves as any
//! other does and which tasks wait for as for those that a program has from elsewhere. Does not own: the
//! name, with its permissions and what becomes of it, which is the disk's, and waiting (`fifo/turns.rs`).
//!
//! An open, a read or a write that waits, as one without `O_NONBLOCK` may, waits in the wait graph, while the
//! others run: to the system the descriptor is one that never waits.

mod turns;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use detsim_executor::{Deadline, Device, NodeId, OpKind, Sim, context, threads};
use detsim_fs::{Disks, Errno, FileKind, Outcome};
use libc::{AT_FDCWD, c_char, c_int, c_long, mode_t};

use super::paths::system;
use super::{answer, done, of_path};
use turns::{End, Key, Turns};

/// The pipes behind the FIFOs of one run, by node and inode.
#[derive(Default)]
struct Fifos {
    /// Each a descriptor that is open for nothing, and keeps its pipe there.
    pipes: RefCell<BTreeMap<Key, OwnedFd>>,
    turns: Turns,
}

impl Device for Fifos {
    fn next_deadline(&self) -> Option<Deadline> {
        None
    }

    fn handle(&self) {}
}

/// Whether a run of this process has, or had, FIFOs: no other open asks.
static USED: AtomicBool = AtomicBool::new(false);

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
    USED.store(true, Relaxed);
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
    if !USED.load(Relaxed) || flags & libc::O_PATH != 0 {
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
    let key = (node(), ino);
    let path = {
        let mut pipes = fifos.pipes.borrow_mut();
        let pipe = match pipes.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(pipe(ino)?),
        };
        format!("/proc/self/fd/{}", pipe.as_raw_fd())
    };
    let waits = flags & libc::O_NONBLOCK == 0;
    let open = || open_at(&path, flags & !libc::O_CREAT | libc::O_NONBLOCK);
    let fd = loop {
        match open() {
            Err(Errno::ENXIO) if waits => fifos.turns.wait(&sim, key, OpKind::Write)?,
            opened => break opened? as c_int,
        }
    };
    fifos.turns.set(fd, Some(End { key, waits }));
    fifos.turns.wake(&sim, key);
    while waits && !writes && !has_met_a_writer(fd) {
        if let Err(errno) = fifos.turns.wait(&sim, key, OpKind::Read) {
            fifos.turns.set(fd, None);
            system!(SYS_close, fd);
            return Err(errno);
        }
    }
    Ok(fd.into())
}

/// Has a FIFO's reader had a writer since it was opened?
fn has_met_a_writer(reader: c_int) -> bool {
    let mut asked = libc::pollfd { fd: reader, events: libc::POLLIN, revents: 0 };
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let no_mask = std::ptr::null::<libc::sigset_t>();
    let told = system!(SYS_ppoll, &raw mut asked, 1, &raw const at_once, no_mask, 0);
    if told > 0 && asked.revents & (libc::POLLIN | libc::POLLHUP) != 0 {
        return true;
    }
    // There is nothing to read: whether a writer is there is whether more may come.
    let mut byte = 0_u8;
    system!(SYS_read, reader, &raw mut byte, 1) < 0 && failure() == Errno::EAGAIN
}

// ------------------------------------------------------------ calls on its descriptors

/// What is known of a descriptor of the system in a run.
fn end_of(fd: c_int) -> Option<(Rc<Fifos>, Sim, End)> {
    if !USED.load(Relaxed) {
        return None;
    }
    // Nothing is made here: what another run of this process has used is none of this one's.
    context::glance(|_| ())?;
    if threads::is_outside() {
        return None;
    }
    let sim = context::sim()?;
    let fifos = sim.device::<Fifos>()?;
    let end = fifos.turns.end(fd)?;
    Some((fifos, sim, end))
}

/// Makes a call on a descriptor of the system, and waits where it is a FIFO's that is to wait.
pub(super) fn in_turn(fd: c_int, to: OpKind, call: impl Fn() -> c_long) -> c_long {
    let Some((fifos, sim, End { key, waits })) = end_of(fd) else { return call() };
    loop {
        let gave = call();
        if gave >= 0 || !waits || failure() != Errno::EAGAIN {
            if gave > 0 {
                fifos.turns.wake(&sim, key);
            }
            return gave;
        }
        if let Err(errno) = fifos.turns.wait(&sim, key, to) {
            return answer(Err::<c_long, _>(errno));
        }
    }
}

/// Makes the call that closes a descriptor of the system.
pub(super) fn closing(fd: c_int, call: impl FnOnce() -> c_long) -> c_long {
    let known = end_of(fd);
    if let Some((fifos, ..)) = &known {
        fifos.turns.set(fd, None);
    }
    let closed = call();
    if let Some((fifos, sim, end)) = known {
        fifos.turns.wake(&sim, end.key);
    }
    closed
}

/// Makes a call that gives another number for a descriptor of the system.
pub(super) fn copying(fd: c_int, call: impl FnOnce() -> c_long) -> c_long {
    let twin = call();
    if let (Some((fifos, _, end)), Ok(twin)) = (end_of(fd), c_int::try_from(twin))
        && twin >= 0
    {
        fifos.turns.set(twin, Some(end));
    }
    twin
}

/// `fcntl` about the flags of a FIFO's descriptor; `None` for all else.
pub(super) fn flags(fd: c_int, what: c_int, argument: c_long) -> Option<c_int> {
    if !matches!(what, libc::F_GETFL | libc::F_SETFL) {
        return None;
    }
    let (fifos, _, end) = end_of(fd)?;
    let hidden: c_int = if end.waits { libc::O_NONBLOCK } else { 0 };
    if what == libc::F_GETFL {
        let known = system!(SYS_fcntl, fd, what) as c_int;
        return Some(if known < 0 { known } else { known & !hidden });
    }
    let asked = argument as c_int;
    fifos.turns.set(fd, Some(End { waits: asked & libc::O_NONBLOCK == 0, ..end }));
    Some(system!(SYS_fcntl, fd, what, asked | libc::O_NONBLOCK) as c_int)
}

/// `ioctl(FIONBIO)` of a FIFO's descriptor, another word for the same flag; `None` for all else. `waits` is
/// asked where it is one: to the system such a descriptor never waits.
pub(in crate::interpose) fn set_waits(fd: c_int, waits: impl FnOnce() -> bool) -> Option<c_int> {
    let (fifos, _, end) = end_of(fd)?;
    fifos.turns.set(fd, Some(End { waits: waits(), ..end }));
    Some(0)
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
