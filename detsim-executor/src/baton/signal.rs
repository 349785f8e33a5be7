//! What a thread sleeps on until it is given the baton.
//!
//! Owns: [`Signal`]. Does not own: what it is raised for. Invariants: a signal that was raised before it
//! is waited for is not lost; whatever was written before [`Signal::raise`] is seen after
//! [`Signal::wait`]. It is not std's parking: the program under test parks its threads itself.
#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "the C library has no safe door to futex")
)]

#[cfg(not(target_os = "linux"))]
pub(crate) use everywhere::Signal;
#[cfg(target_os = "linux")]
pub(crate) use linux::Signal;

#[cfg(target_os = "linux")]
mod linux {
    use std::ptr;
    use std::sync::atomic::{AtomicU32, Ordering::*};

    /// A flag that one thread waits for.
    #[derive(Debug, Default)]
    pub(crate) struct Signal(AtomicU32);

    const RAISED: u32 = 1;

    impl Signal {
        pub(crate) const fn new() -> Self {
            Self(AtomicU32::new(0))
        }

        /// Lets the waiting thread go on.
        pub(crate) fn raise(&self) {
            self.0.store(RAISED, Release);
            self.futex(libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
        }

        /// Waits until it is raised, and lowers it.
        pub(crate) fn wait(&self) {
            while self.0.swap(0, Acquire) != RAISED {
                self.futex(libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, 0);
            }
        }

        /// Every way in which the call can fail means: look at the word again.
        fn futex(&self, operation: libc::c_int, value: u32) {
            let no_timeout = ptr::null::<libc::timespec>();
            // SAFETY: the word lives as long as `self`; the call writes to no memory.
            unsafe {
                libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, value, no_timeout);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod everywhere {
    use std::sync::{Condvar, Mutex, PoisonError};

    /// A flag that one thread waits for.
    #[derive(Debug, Default)]
    pub(crate) struct Signal {
        raised: Mutex<bool>,
        bell: Condvar,
    }

    impl Signal {
        pub(crate) const fn new() -> Self {
            Self { raised: Mutex::new(false), bell: Condvar::new() }
        }

        /// Lets the waiting thread go on.
        pub(crate) fn raise(&self) {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.bell.notify_one();
        }

        /// Waits until it is raised, and lowers it.
        pub(crate) fn wait(&self) {
            let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            let raised = self.bell.wait_while(raised, |raised| !*raised);
            *raised.unwrap_or_else(PoisonError::into_inner) = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_seen_whenever_it_was_raised() {
        static THERE: Signal = Signal::new();
        static BACK: Signal = Signal::new();
        THERE.raise();
        let other = std::thread::spawn(|| {
            for _ in 0..1000 {
                THERE.wait();
                BACK.raise();
            }
        });
        for _ in 1..1000 {
            BACK.wait();
            THERE.raise();
        }
        BACK.wait();
        other.join().unwrap();
    }
}
