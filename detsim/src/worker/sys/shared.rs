//! What outlives a child: the memory that it shares with its worker, and the file that takes the
//! place of its standard output.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::NonNull;
use std::slice;

/// The longest record, report included.
pub(crate) const RECORD_BYTES_MAX: usize = 1 << 20;
/// The longest recording: choices and trace.
pub(crate) const RECORDING_BYTES_MAX: usize = 64 << 20;
/// The longest note of a panic.
pub(crate) const NOTE_BYTES_MAX: usize = 8 << 10;
/// What one run may print.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// Three mailboxes in shared memory, for a record, for a note and for a recording. What is never
/// written takes no memory.
///
/// # Invariants
/// `base` points to a mapping of [`MAPPED_BYTES`] that is never unmapped. A length is stored after
/// the bytes that it counts, so a process that dies in between leaves an empty mailbox. The worker
/// reads only once its child is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    base: NonNull<u8>,
}

// SAFETY: the mapping is never unmapped, and is written by one thread at a time: the one that runs
// the seed, or a signal handler that ends the process.
unsafe impl Send for Shared {}
// SAFETY: as for Send.
unsafe impl Sync for Shared {}

/// A mailbox: its place and room. The length stands in its first word.
#[derive(Clone, Copy)]
struct Mailbox {
    at: usize,
    bytes_max: usize,
}

const RECORD: Mailbox = Mailbox { at: 0, bytes_max: RECORD_BYTES_MAX };
const NOTE: Mailbox = Mailbox { at: LENGTH_BYTES + RECORD_BYTES_MAX, bytes_max: NOTE_BYTES_MAX };
const RECORDING: Mailbox = Mailbox {
    at: 2 * LENGTH_BYTES + RECORD_BYTES_MAX + NOTE_BYTES_MAX,
    bytes_max: RECORDING_BYTES_MAX,
};
const LENGTH_BYTES: usize = 8;
const MAPPED_BYTES: usize = RECORDING.at + LENGTH_BYTES + RECORDING.bytes_max;

impl Shared {
    /// Maps the memory, for the life of the process.
    pub(crate) fn new() -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping disturbs nothing.
        let mapped = unsafe { libc::mmap(std::ptr::null_mut(), MAPPED_BYTES, access, kind, -1, 0) };
        match NonNull::new(mapped.cast()) {
            Some(base) if mapped != libc::MAP_FAILED => Ok(Self { base }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Empties all mailboxes.
    pub(crate) fn clear(self) {
        self.store_length(RECORD, 0);
        self.store_length(NOTE, 0);
        self.store_length(RECORDING, 0);
    }

    pub(crate) fn put_record(self, record: &[u8]) {
        self.put(RECORD, &[record]);
    }

    /// As [`Shared::put_record`], of two parts and safe in a signal handler.
    pub(crate) fn put_record_parts(self, head: &[u8], tail: &[u8]) {
        self.put(RECORD, &[head, tail]);
    }

    pub(crate) fn put_note(self, note: &[u8]) {
        self.put(NOTE, &[note]);
    }

    pub(crate) fn put_recording(self, recording: &[u8]) {
        self.put(RECORDING, &[recording]);
    }

    pub(crate) fn record(&self) -> &[u8] {
        self.read(RECORD)
    }

    pub(crate) fn note(&self) -> &[u8] {
        self.read(NOTE)
    }

    pub(crate) fn recording(&self) -> &[u8] {
        self.read(RECORDING)
    }

    /// Copies what fits.
    fn put(self, to: Mailbox, parts: &[&[u8]]) {
        let mut filled = 0;
        for part in parts {
            let count = part.len().min(to.bytes_max - filled);
            // SAFETY: `filled + count` is within the mailbox, which is within the mapping; `part`
            // is memory of this process, apart from it.
            unsafe {
                let start = self.base.add(to.at + LENGTH_BYTES + filled);
                start.copy_from_nonoverlapping(NonNull::from(*part).cast(), count);
            }
            filled += count;
        }
        self.store_length(to, filled);
    }

    fn store_length(self, to: Mailbox, length: usize) {
        // SAFETY: the word is within the mapping; all mailboxes begin at a multiple of 8.
        unsafe { self.base.add(to.at).cast::<u64>().write_volatile(length as u64) };
    }

    fn read(&self, from: Mailbox) -> &[u8] {
        // SAFETY: as in `store_length`, for reading.
        let length = unsafe { self.base.add(from.at).cast::<u64>().read_volatile() };
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(from.bytes_max);
        // SAFETY: at most `bytes_max` bytes, all within the mapping, which nobody writes now: the
        // child is gone.
        unsafe { slice::from_raw_parts(self.base.add(from.at + LENGTH_BYTES).as_ptr(), length) }
    }
}

/// A file in memory that cannot grow beyond [`OUTPUT_BYTES_MAX`]: a run that prints for ever fails
/// to print, instead of filling the machine.
pub(crate) fn output_file() -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"output".as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(OUTPUT_BYTES_MAX)?;
    let seals = libc::F_SEAL_GROW | libc::F_SEAL_SHRINK;
    // SAFETY: fcntl with a number as its argument touches no memory.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(file)
}

/// Gives back the memory behind the first `bytes` of an output file, where it is worth a call.
pub(crate) fn forget(output: &File, bytes: u64) {
    const KEPT_BYTES: u64 = 64 << 10;
    if bytes > KEPT_BYTES {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: fallocate takes plain numbers. A refusal keeps the memory, no more.
        unsafe { libc::fallocate(output.as_raw_fd(), mode, 0, bytes as libc::off_t) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_keep_what_was_put_and_cut_what_does_not_fit() {
        let shared = Shared::new().unwrap();
        assert!(shared.record().is_empty() && shared.note().is_empty());
        shared.put_record_parts(b"he", b"llo");
        shared.put_note(&vec![7; NOTE_BYTES_MAX + 1]);
        shared.put_recording(b"choices");
        assert_eq!(shared.record(), b"hello");
        assert_eq!(shared.note(), vec![7; NOTE_BYTES_MAX]);
        shared.put_record(&vec![8; RECORD_BYTES_MAX + 9]);
        assert_eq!(shared.record(), vec![8; RECORD_BYTES_MAX]);
        assert_eq!(shared.note(), vec![7; NOTE_BYTES_MAX]);
        assert_eq!(shared.recording(), b"choices");
        shared.clear();
        assert!(shared.record().is_empty() && shared.note().is_empty());
        assert!(shared.recording().is_empty());
    }

    #[test]
    fn printing_without_end_fails() {
        use std::os::unix::fs::FileExt;
        let file = output_file().unwrap();
        file.write_all_at(b"last", OUTPUT_BYTES_MAX - 4).unwrap();
        let error = file.write_all_at(b"more", OUTPUT_BYTES_MAX - 3).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
