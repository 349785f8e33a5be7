//! Streams of directories.
//!
//! A stream of a simulated directory is a pointer that no memory can have, made of its descriptor.
//! Those of real directories are libc's.

use std::collections::BTreeMap;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use detsim_executor::threads;
use detsim_fs::{Cost, Errno, FileKind, OpenFlags, Outcome, Seek};
use libc::{DIR, c_char, c_int, c_long, dirent64};

use super::super::real::real;
use super::{answer, is_input, is_of_system, of_fd, of_path, set_errno, shapes};

/// High bits that no pointer of a program has.
const MARK: usize = 0xDE75 << 48;
const MARK_MASK: usize = 0xFFFF << 48;

/// The entry that each stream gave last: it stays where it is until the next one.
static LAST: Mutex<BTreeMap<c_int, Box<dirent64>>> = Mutex::new(BTreeMap::new());

fn last() -> MutexGuard<'static, BTreeMap<c_int, Box<dirent64>>> {
    let _ours = threads::outside();
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stream(fd: c_int) -> *mut DIR {
    std::ptr::without_provenance_mut(MARK | fd as usize)
}

/// The descriptor behind a stream of a simulated directory.
fn descriptor(stream: *mut DIR) -> Option<c_int> {
    let address = stream.addr();
    (address & MARK_MASK == MARK).then_some((address & !MARK_MASK) as c_int)
}

/// libc's `realpath`.
///
/// # Safety
/// As of libc's.
pub(super) unsafe fn real_path(path: *const c_char, to: *mut c_char) -> *mut c_char {
    real!(realpath: fn(*const c_char, *mut c_char) -> *mut c_char, path, to)
}

fn opened(outcome: Outcome<c_int>) -> *mut DIR {
    match outcome {
        Ok(fd) => stream(fd),
        Err(errno) => {
            set_errno(errno.raw());
            null_mut()
        }
    }
}

/// # Safety
/// As of libc's `opendir`: the path ends in a zero.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn opendir(path: *const c_char) -> *mut DIR {
    // SAFETY: the caller vouches for it.
    let simulated = unsafe { of_path(path) };
    if let Some((disks, at)) = simulated.filter(|(disks, at)| !is_of_system(disks, at)) {
        let flags = OpenFlags { read: true, directory: true, ..OpenFlags::default() };
        match disks.blocking(Cost::Read, |disks| disks.open(at, flags, 0)) {
            Err(errno) if is_input(at, errno) => {}
            outcome => return opened(outcome),
        }
    }
    real!(opendir: fn(*const c_char) -> *mut DIR, path)
}

#[unsafe(no_mangle)]
extern "C" fn fdopendir(fd: c_int) -> *mut DIR {
    match of_fd(fd) {
        Some(disks) => opened(disks.and_then(|disks| {
            let known = disks.with(fd, |volume, handle| volume.handle_metadata(handle))?;
            if known.kind == FileKind::Dir { Ok(fd) } else { Err(Errno::ENOTDIR) }
        })),
        None => real!(fdopendir: fn(c_int) -> *mut DIR, fd),
    }
}

/// # Safety
/// As of libc's `readdir`: the stream is open.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn readdir64(of: *mut DIR) -> *mut dirent64 {
    let Some(fd) = descriptor(of) else {
        return real!(readdir64: fn(*mut DIR) -> *mut dirent64, of);
    };
    let next = of_fd(fd).unwrap_or(Err(Errno::EBADF));
    match next.and_then(|disks| disks.with(fd, |volume, handle| volume.next_entry(handle))) {
        Ok(Some(entry)) => {
            let mut last = last();
            let place = last.entry(fd).or_insert_with(|| Box::new(shapes::dirent(&entry)));
            **place = shapes::dirent(&entry);
            &raw mut **place
        }
        Ok(None) => null_mut(),
        Err(errno) => {
            set_errno(errno.raw());
            null_mut()
        }
    }
}

/// # Safety
/// As of libc's `readdir_r`: the stream is open, both places are valid for writes.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn readdir64_r(
    of: *mut DIR,
    to: *mut dirent64,
    found: *mut *mut dirent64,
) -> c_int {
    let Some(fd) = descriptor(of) else {
        return real!(
            readdir64_r: fn(*mut DIR, *mut dirent64, *mut *mut dirent64) -> c_int, of, to, found
        );
    };
    let next = of_fd(fd).unwrap_or(Err(Errno::EBADF));
    match next.and_then(|disks| disks.with(fd, |volume, handle| volume.next_entry(handle))) {
        Err(errno) => errno.raw(),
        Ok(entry) => {
            // SAFETY: the caller vouches for both places.
            unsafe {
                found.write(if entry.is_some() { to } else { null_mut() });
                entry.into_iter().for_each(|entry| to.write(shapes::dirent(&entry)));
            }
            0
        }
    }
}

/// # Safety
/// As of libc's `telldir`: the stream is open.
#[unsafe(no_mangle)]
unsafe extern "C" fn telldir(of: *mut DIR) -> c_long {
    let Some(fd) = descriptor(of) else {
        return real!(telldir: fn(*mut DIR) -> c_long, of);
    };
    let told = of_fd(fd).unwrap_or(Err(Errno::EBADF));
    answer(told.and_then(|disks| disks.with(fd, |volume, handle| volume.entries_told(handle))))
}

/// # Safety
/// As of libc's `seekdir`: the stream is open, and the place one that `telldir` gave.
#[unsafe(no_mangle)]
unsafe extern "C" fn seekdir(of: *mut DIR, place: c_long) {
    let Some(fd) = descriptor(of) else {
        return real!(seekdir: fn(*mut DIR, c_long) -> (), of, place);
    };
    if let (Some(Ok(disks)), Ok(place)) = (of_fd(fd), usize::try_from(place)) {
        let _stays = disks.with(fd, |volume, handle| volume.tell_again(handle, place));
    }
}

/// # Safety
/// As of libc's `closedir`: the stream is open.
#[unsafe(no_mangle)]
unsafe extern "C" fn closedir(of: *mut DIR) -> c_int {
    let Some(fd) = descriptor(of) else {
        return real!(closedir: fn(*mut DIR) -> c_int, of);
    };
    last().remove(&fd);
    if let Some(disks) = super::disks() {
        let _left_over = disks.close(fd);
    }
    0
}

/// # Safety
/// As of libc's `dirfd`: the stream is open.
#[unsafe(no_mangle)]
unsafe extern "C" fn dirfd(of: *mut DIR) -> c_int {
    match descriptor(of) {
        Some(fd) => answer(Ok(fd)) as c_int,
        None => real!(dirfd: fn(*mut DIR) -> c_int, of),
    }
}

/// # Safety
/// As of libc's `rewinddir`: the stream is open.
#[unsafe(no_mangle)]
unsafe extern "C" fn rewinddir(of: *mut DIR) {
    let Some(fd) = descriptor(of) else {
        return real!(rewinddir: fn(*mut DIR) -> (), of);
    };
    if let Some(Ok(disks)) = of_fd(fd) {
        let _start = disks.with(fd, |volume, handle| volume.seek(handle, Seek::Start(0)));
    }
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(opendir as *const ());
}
