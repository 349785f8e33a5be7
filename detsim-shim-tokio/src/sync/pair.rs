//! One allocation of two owners.
//!
//! Owns: [`Half`], which is what an `Arc` would be that is never cloned: two halves are made together, and the
//! second that goes frees what they share. So the first costs one locked instruction, and nothing else
//! costs any. Invariant: `left` is false while both halves exist, and set by the first that is
//! dropped, after which that one touches nothing.
#![expect(unsafe_code, reason = "who frees is decided between two owners")]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Acquire},
};

/// One of two owners of a value.
pub(super) struct Half<T> {
    shared: NonNull<Shared<T>>,
    _owns: PhantomData<Shared<T>>,
}

struct Shared<T> {
    /// One of the halves is gone.
    left: AtomicBool,
    value: T,
}

// SAFETY: as with an `Arc`: a half gives `&T`, and drops a `T` on whatever thread is last.
unsafe impl<T: Send + Sync> Send for Half<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Half<T> {}

// The value does not move with its owners.
impl<T> Unpin for Half<T> {}

/// Both owners of a value.
#[inline]
pub(super) fn pair<T>(make: impl FnOnce() -> T) -> (Half<T>, Half<T>) {
    // The memory first: the value is made in it, and not copied there.
    let shared = Box::<Shared<T>>::new_uninit();
    let shared = Box::write(shared, Shared { left: AtomicBool::new(false), value: make() });
    let shared = NonNull::from(Box::leak(shared));
    (Half { shared, _owns: PhantomData }, Half { shared, _owns: PhantomData })
}

impl<T> Deref for Half<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: it is freed by the second half to go, and this one is there.
        &unsafe { self.shared.as_ref() }.value
    }
}

impl<T> Drop for Half<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is freed by the second half to go, and this one is there.
        let left = &unsafe { self.shared.as_ref() }.left;
        // Once the other has left nobody else looks: no need to say so.
        if left.load(Acquire) || left.swap(true, AcqRel) {
            // SAFETY: the other half is gone, and has been done with this since before it said so; the
            // box was leaked by `pair`.
            drop(unsafe { Box::from_raw(self.shared.as_ptr()) });
        }
    }
}

impl<T> fmt::Debug for Half<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Half")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_second_half_frees_whichever_it_is() {
        for first_goes_first in [true, false] {
            let counted = Arc::new(());
            let (one, other) = pair(|| Arc::clone(&counted));
            let (first, second) = if first_goes_first { (one, other) } else { (other, one) };
            drop(first);
            assert_eq!(Arc::strong_count(&second), 2);
            drop(second);
            assert_eq!(Arc::strong_count(&counted), 1);
        }
    }

    #[test]
    fn halves_go_on_two_threads_at_once() {
        for _ in 0..200 {
            let counted = Arc::new(());
            let (one, other) = pair(|| Arc::clone(&counted));
            let there = std::thread::spawn(move || drop(one));
            drop(other);
            there.join().expect("it does not panic");
            assert_eq!(Arc::strong_count(&counted), 1);
        }
    }
}
