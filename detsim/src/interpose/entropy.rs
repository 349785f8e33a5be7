//! `getrandom`: entropy that repeats with the seed.
//!
//! The hash seeds of std, and the crates rand, getrandom and uuid, draw from it. Its words are a
//! stream of their own, split from the seed: entropy is not a choice, so no replay changes it. In
//! a worker process it serves every thread; in a test process it serves only the threads that run
//! a seed, because tests beside it have a right to real entropy.

#![expect(unsafe_code, reason = "a function that libc's callers link to")]

use std::cell::RefCell;
use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

use detsim_executor::{Stream, threads};

use super::syscall::{Words, into_errno, raw};

/// The stream of a worker process; `None` elsewhere.
static OF_PROCESS: Mutex<Option<Stream>> = Mutex::new(None);

thread_local! {
    /// The stream of a thread that runs a seed in a test process.
    static OF_THREAD: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

/// Gives the calling thread, or the whole of a worker process, the entropy of this seed.
pub(crate) fn begin(seed: u64) {
    let fresh = Stream::named(seed, "user/entropy");
    match &mut *of_process() {
        Some(stream) => *stream = fresh,
        None => OF_THREAD.set(Some(fresh)),
    }
}

/// Gives the calling thread of a test process real entropy again.
pub(crate) fn end() {
    OF_THREAD.set(None);
}

/// Gives every thread of this process repeatable entropy, before the first seed too.
pub(crate) fn serve_whole_process() {
    *of_process() = Some(Stream::named(0, "worker/entropy"));
}

fn of_process() -> MutexGuard<'static, Option<Stream>> {
    let _ours = threads::outside();
    OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills `buffer` from a seed; false where neither process nor thread has one.
fn fill(buffer: &mut [u8]) -> bool {
    let mut draw = |stream: &mut Option<Stream>| match stream {
        Some(stream) => {
            stream.fill(buffer);
            true
        }
        None => false,
    };
    // A thread that is ending has no stream left, and needs none.
    draw(&mut of_process()) || OF_THREAD.try_with(|own| draw(&mut own.borrow_mut())) == Ok(true)
}

/// libc's `getrandom`, with the entropy of the seed inside a run.
///
/// # Safety
/// As of libc's: `buffer` is valid for writes of `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(
    buffer: *mut libc::c_void,
    length: libc::size_t,
    flags: libc::c_uint,
) -> libc::ssize_t {
    let words = [buffer.expose_provenance(), length, flags as usize, 0, 0, 0];
    // SAFETY: the arguments are the caller's, for the same call.
    into_errno(unsafe { call(words) }) as libc::ssize_t
}

/// The same as a call through `syscall`.
///
/// # Safety
/// As of [`getrandom`].
pub(super) unsafe fn call(words: Words) -> isize {
    let [address, length, ..] = words;
    let buffer: *mut u8 = std::ptr::with_exposed_provenance_mut(address);
    if !buffer.is_null() {
        // SAFETY: the caller vouches for the buffer. Its bytes may be uninitialised; they are
        // written before they are read.
        let bytes = unsafe {
            buffer.write_bytes(0, length);
            slice::from_raw_parts_mut(buffer, length)
        };
        if fill(bytes) {
            return length as isize;
        }
    }
    // SAFETY: the words are the caller's, for the same call.
    unsafe { raw(libc::SYS_getrandom, words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher, RandomState};

    fn bytes() -> [u8; 16] {
        let mut bytes = [0; 16];
        // SAFETY: the buffer is valid for its length.
        let filled = unsafe { getrandom(bytes.as_mut_ptr().cast(), 16, 0) };
        assert_eq!(filled, 16);
        bytes
    }

    #[test]
    fn a_run_repeats_its_entropy_and_others_do_not() {
        let on_fresh_thread = |seed: Option<u64>| {
            let draw = move || {
                seed.into_iter().for_each(begin);
                (bytes(), RandomState::new().hash_one(7))
            };
            std::thread::spawn(draw).join().unwrap()
        };
        assert_eq!(on_fresh_thread(Some(3)), on_fresh_thread(Some(3)));
        assert_ne!(on_fresh_thread(Some(3)), on_fresh_thread(Some(4)));
        assert_ne!(on_fresh_thread(None).0, on_fresh_thread(None).0);
    }
}
