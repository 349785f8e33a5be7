//! How a signal handler asks the kernel where it is.

/// The longest name of a task that is told.
pub(crate) const NAME_BYTES_MAX: usize = 128;

/// Where the kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Steps so far; a kernel that works moves it.
    pub(crate) steps: u64,
    /// How much of the buffer the name of the task that is being polled takes.
    pub(crate) name_bytes: usize,
}

/// Reads the progress and writes the task's name into the buffer. Called in a signal handler, so
/// it neither allocates nor locks.
pub(crate) type ReadProgress = fn(&mut [u8; NAME_BYTES_MAX]) -> Progress;
