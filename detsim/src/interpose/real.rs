//! libc's own functions, behind ours of the same name.
//!
//! Owns: how they are found, once each. Does not own: who calls them, and when.
#![expect(unsafe_code, reason = "the next function of a name is asked of the linker")]

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A function of libc's that has ours before it.
pub(super) struct Real {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Real {
    pub(super) const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(null_mut()) }
    }

    pub(super) fn find(&self) -> *mut c_void {
        let known = self.found.load(Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends in a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        assert!(!found.is_null(), "detsim: libc has no {:?}; link it dynamically", self.name);
        self.found.store(found, Relaxed);
        found
    }
}

/// Calls libc's own function of a name and a type, with the arguments of the caller.
macro_rules! real {
    ($name:ident: fn($($type:ty),*) -> $gives:ty, $($argument:expr),*) => {{
        static REAL: $crate::interpose::real::Real = $crate::interpose::real::Real::new(
            match std::ffi::CStr::from_bytes_with_nul(
                concat!(stringify!($name), "\0").as_bytes(),
            ) {
                Ok(name) => name,
                Err(_) => panic!("invariant: a name with one zero, at its end"),
            },
        );
        // SAFETY: libc's function of this name has this type; the arguments are the caller's, for
        // the same call.
        unsafe {
            let function: unsafe extern "C" fn($($type),*) -> $gives =
                std::mem::transmute::<*mut std::ffi::c_void, _>(REAL.find());
            function($($argument),*)
        }
    }};
}
pub(super) use real;
