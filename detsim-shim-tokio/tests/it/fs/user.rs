//! Who a thread is to the real file system.
//!
//! Owns: that tests which run as root see what everybody else would: permissions bind them. Does not own: what
//! that shows.
#![expect(unsafe_code, reason = "std cannot change the user of one thread")]

/// The user that owns nothing, by its usual number.
const NOBODY: u32 = 65_534;

/// From now on the modes of files bind this thread, and the files that it makes belong to nobody, where the
/// process may say so; it is bound already where it may not.
pub(super) fn be_nobody() {
    // SAFETY: the call takes a number, and concerns the access of this thread to files alone.
    unsafe {
        libc::setfsuid(NOBODY);
    }
}
