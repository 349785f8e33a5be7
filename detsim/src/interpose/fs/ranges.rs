//! Locks of parts of files: the commands of `fcntl` that are about them.
//!
//! Owns: which they are, and their `flock` structure. Does not own: what a lock is (`detsim_fs`).

use detsim_fs::{ByteRange, Disks, Errno, LockKind, LockOwner, Outcome, Seek, Volume};
use libc::{c_int, c_long};

use super::is_place;

/// What a command does.
#[derive(Clone, Copy)]
enum Does {
    Looks,
    Locks { waits: bool },
}

fn command(what: c_int) -> Option<(LockOwner, Does)> {
    Some(match what {
        libc::F_GETLK => (LockOwner::Process, Does::Looks),
        libc::F_SETLK => (LockOwner::Process, Does::Locks { waits: false }),
        libc::F_SETLKW => (LockOwner::Process, Does::Locks { waits: true }),
        libc::F_OFD_GETLK => (LockOwner::OpenFile, Does::Looks),
        libc::F_OFD_SETLK => (LockOwner::OpenFile, Does::Locks { waits: false }),
        libc::F_OFD_SETLKW => (LockOwner::OpenFile, Does::Locks { waits: true }),
        _ => return None,
    })
}

/// Does a command of `fcntl` on a simulated file, where it is about such locks.
///
/// # Safety
/// `argument` is the address of a `flock` that is valid for reads and writes, where the command is one of
/// these.
pub(super) unsafe fn control(
    disks: &Disks,
    fd: c_int,
    what: c_int,
    argument: c_long,
) -> Option<Outcome<()>> {
    let (owner, does) = command(what)?;
    let lock: *mut libc::flock = std::ptr::with_exposed_provenance_mut(argument as usize);
    let is_there = is_place(lock, size_of::<libc::flock>());
    // SAFETY: the caller vouches for it.
    let asked = is_there.then(|| unsafe { &mut *lock }).ok_or(Errno::EFAULT);
    Some(asked.and_then(|asked| match does {
        // An open file has no process.
        _ if owner == LockOwner::OpenFile && asked.l_pid != 0 => Err(Errno::EINVAL),
        Does::Locks { waits } => {
            let (range, kind) = (range(disks, fd, asked)?, kind(asked)?);
            disks.lock_range(fd, owner, range, kind, waits)
        }
        Does::Looks => look(disks, fd, owner, asked),
    }))
}

fn look(disks: &Disks, fd: c_int, owner: LockOwner, asked: &mut libc::flock) -> Outcome<()> {
    let range = range(disks, fd, asked)?;
    let kind = kind(asked)?.ok_or(Errno::EINVAL)?;
    let found =
        disks.with(fd, |volume, handle| volume.range_obstacle(handle, owner, range, kind))?;
    let Some((kind, range)) = found else {
        asked.l_type = libc::F_UNLCK as _;
        return Ok(());
    };
    let to_end = range.end == u64::MAX;
    asked.l_type = match kind {
        LockKind::Exclusive => libc::F_WRLCK as _,
        LockKind::Shared => libc::F_RDLCK as _,
    };
    asked.l_whence = libc::SEEK_SET as _;
    asked.l_start = range.start.cast_signed();
    asked.l_len = if to_end { 0 } else { (range.end - range.start).cast_signed() };
    asked.l_pid = -1;
    Ok(())
}

fn kind(asked: &libc::flock) -> Outcome<Option<LockKind>> {
    match c_int::from(asked.l_type) {
        libc::F_RDLCK => Ok(Some(LockKind::Shared)),
        libc::F_WRLCK => Ok(Some(LockKind::Exclusive)),
        libc::F_UNLCK => Ok(None),
        _ => Err(Errno::EINVAL),
    }
}

fn range(disks: &Disks, fd: c_int, asked: &libc::flock) -> Outcome<ByteRange> {
    let base = match c_int::from(asked.l_whence) {
        libc::SEEK_SET => 0,
        libc::SEEK_CUR => {
            let here = |volume: &mut Volume, handle| volume.seek(handle, Seek::Current(0));
            disks.with(fd, here)?.cast_signed()
        }
        libc::SEEK_END => {
            let known = disks.with(fd, |volume, handle| volume.handle_metadata(handle))?;
            known.size.cast_signed()
        }
        _ => return Err(Errno::EINVAL),
    };
    let start = base.checked_add(asked.l_start).ok_or(Errno::EOVERFLOW)?;
    let (start, end) = match asked.l_len {
        0 => (start, None),
        len @ ..0 => (start.checked_add(len).ok_or(Errno::EINVAL)?, Some(start)),
        // The last byte may be the last position.
        len => match start.checked_add(len - 1) {
            Some(i64::MAX) => (start, None),
            Some(last) => (start, Some(last + 1)),
            None if start < 0 => return Err(Errno::EINVAL),
            None => return Err(Errno::EOVERFLOW),
        },
    };
    let position = |at: i64| u64::try_from(at).map_err(|_| Errno::EINVAL);
    Ok(ByteRange { start: position(start)?, end: end.map_or(Ok(u64::MAX), position)? })
}
