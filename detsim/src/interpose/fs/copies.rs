//! Copies that the system makes: `copy_file_range` and `sendfile`.
//!
//! Each is one call on the disk: what others do falls before or behind it. Bytes that go to another end than a
//! simulated file are written there as by `write`. Between a simulated file and one of the system there is
//! nothing for `copy_file_range`, as between two file systems, and `sendfile` takes from simulated files alone:
//! std and others then read and write.

use std::os::fd::RawFd;

use detsim_fs::{Cost, Disks, Errno, FileKind, Outcome, Seek};
use libc::{c_int, c_long, off64_t, size_t, ssize_t};

use super::descriptors::write;
use super::paths::system;
use super::{answer, is_place, of_fd};

/// The most bytes of one call.
const BYTES_MAX: usize = 1 << 24;

/// Where one end of a copy is: at the position of its file, or where the caller says.
#[derive(Clone, Copy)]
struct End {
    fd: c_int,
    given: Option<i64>,
}

impl End {
    /// # Safety
    /// `at` is null or valid for reads, where it [is a place](is_place).
    unsafe fn new(fd: c_int, at: *const off64_t) -> Outcome<Self> {
        if !at.is_null() && !is_place(at, size_of::<off64_t>()) {
            return Err(Errno::EFAULT);
        }
        // SAFETY: the caller vouches for it.
        Ok(Self { fd, given: unsafe { at.as_ref() }.copied() })
    }

    fn offset(self, disks: &Disks, bytes: usize) -> Outcome<u64> {
        match self.given {
            None => disks.with(self.fd, |volume, handle| volume.seek(handle, Seek::Current(0))),
            // A negative one is one that is too large, where anything is to be copied.
            Some(at) => u64::try_from(at).map_err(|_| match bytes {
                0 => Errno::EINVAL,
                _ => Errno::EOVERFLOW,
            }),
        }
    }

    /// So many bytes were copied.
    ///
    /// # Safety
    /// `at` is what the end was made of, and valid for writes.
    unsafe fn pass(self, disks: &Disks, at: *mut off64_t, bytes: usize) -> Outcome<()> {
        let to = self.offset(disks, bytes)? + bytes as u64;
        match self.given {
            // SAFETY: the caller vouches for it.
            Some(_) => unsafe { at.write(to.cast_signed()) },
            None => {
                let moved = |volume: &mut detsim_fs::Volume, of| volume.seek(of, Seek::Start(to));
                disks.with(self.fd, moved)?;
            }
        }
        Ok(())
    }
}

/// Is it a file that is open for this?
fn check(disks: &Disks, fd: c_int, writes: bool) -> Outcome<u64> {
    disks.with(fd, |volume, handle| {
        let (known, flags) = (volume.handle_metadata(handle)?, volume.flags(handle)?);
        let allows = if writes { flags.writes() && !flags.append } else { flags.read };
        match known.kind {
            FileKind::Dir => Err(Errno::EISDIR),
            FileKind::File if !allows => Err(Errno::EBADF),
            FileKind::File => Ok(known.ino),
            _ => Err(Errno::EINVAL),
        }
    })
}

/// May `sendfile` write there, where it is a simulated file?
fn check_target(disks: &Disks, fd: c_int) -> Outcome<()> {
    if of_fd(fd).is_none() {
        return Ok(());
    }
    match disks.with(fd, |volume, handle| volume.flags(handle))? {
        flags if flags.append => Err(Errno::EINVAL),
        flags if !flags.writes() => Err(Errno::EBADF),
        _ => Ok(()),
    }
}

/// What there is to copy.
fn bytes_of(disks: &Disks, fd: c_int, at: u64, len: usize) -> Outcome<Vec<u8>> {
    let len = disks.readable(fd, Some(at), len.min(BYTES_MAX))?;
    let mut bytes = vec![0; len];
    let read = uninterrupted(|| disks.read(fd, Some(at), &mut bytes))?;
    bytes.truncate(read);
    Ok(bytes)
}

/// The system is not interrupted in the middle of a copy.
fn uninterrupted(mut call: impl FnMut() -> Outcome<usize>) -> Outcome<usize> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            outcome => return outcome,
        }
    }
}

fn copy(disks: &Disks, from: End, to: End, len: usize, flags: u32) -> Outcome<usize> {
    if flags != 0 {
        return Err(Errno::EINVAL);
    }
    let (source, target) = (check(disks, from.fd, false)?, check(disks, to.fd, true)?);
    let (start, place) = (from.offset(disks, len)?, to.offset(disks, len)?);
    let len = disks.readable(from.fd, Some(start), len.min(BYTES_MAX))?;
    let reach = |start: u64| start..start.saturating_add(len as u64);
    let (read, written) = (reach(start), reach(place));
    if source == target && read.start < written.end && written.start < read.end {
        return Err(Errno::EINVAL);
    }
    let bytes = bytes_of(disks, from.fd, start, len)?;
    if bytes.is_empty() {
        return Ok(0);
    }
    uninterrupted(|| disks.write(to.fd, Some(place), &bytes))
}

/// # Safety
/// As of libc's `copy_file_range`: the positions are null or valid.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn copy_file_range(
    from: RawFd,
    from_at: *mut off64_t,
    to: RawFd,
    to_at: *mut off64_t,
    len: size_t,
    flags: libc::c_uint,
) -> ssize_t {
    let disks = match (of_fd(from), of_fd(to)) {
        (None, None) => {
            return system!(SYS_copy_file_range, from, from_at, to, to_at, len, flags) as ssize_t;
        }
        (Some(disks), Some(_)) => disks,
        // An end that is nothing at all is told first.
        _ if from < 0 || to < 0 => Err(Errno::EBADF),
        _ => Err(Errno::EXDEV),
    };
    let copied = disks.and_then(|disks| {
        // SAFETY: the caller vouches for the positions.
        let ends = unsafe { (End::new(from, from_at)?, End::new(to, to_at)?) };
        disks.blocking(Cost::Write, |disks| {
            let copied = copy(disks, ends.0, ends.1, len, flags)?;
            if copied > 0 {
                // SAFETY: as above.
                unsafe {
                    ends.0.pass(disks, from_at, copied)?;
                    ends.1.pass(disks, to_at, copied)?;
                }
            }
            Ok(copied)
        })
    });
    answer(copied) as ssize_t
}

/// # Safety
/// As of libc's `sendfile`: `at` is null or valid.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn sendfile64(
    to: RawFd,
    from: RawFd,
    at: *mut off64_t,
    len: size_t,
) -> ssize_t {
    let Some(disks) = of_fd(from) else {
        return match of_fd(to) {
            Some(_) => answer::<c_long>(Err(Errno::EINVAL)) as ssize_t,
            None => system!(SYS_sendfile, to, from, at, len) as ssize_t,
        };
    };
    let taken = disks.and_then(|disks| {
        // SAFETY: the caller vouches for the position.
        let end = unsafe { End::new(from, at)? };
        check(&disks, from, false)?;
        check_target(&disks, to)?;
        let start = end.offset(&disks, 0)?;
        let bytes = disks.blocking(Cost::Read, |disks| bytes_of(disks, from, start, len))?;
        Ok((disks, end, bytes))
    });
    let (disks, end, bytes) = match taken {
        Ok(taken) => taken,
        Err(errno) => return answer::<c_long>(Err(errno)) as ssize_t,
    };
    // SAFETY: the bytes are there for as long as the call lasts.
    let sent = unsafe { write(to, bytes.as_ptr().cast(), bytes.len()) };
    if let Ok(sent @ 1..) = usize::try_from(sent) {
        // SAFETY: the caller vouches for the position.
        if let Err(errno) = unsafe { end.pass(&disks, at, sent) } {
            return answer::<c_long>(Err(errno)) as ssize_t;
        }
    }
    sent
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(copy_file_range as *const ());
}
