//! Functions of libc that detsim defines, so that code which knows nothing of it stays repeatable.
//!
//! Owns: entropy ([`entropy`]), files ([`fs`]), the network (`net`), clocks and sleeping ([`clock`]), threads that start and
//! end ([`thread`]), signals that a program sends itself ([`signal`]), and the one door of all other
//! calls of the system, through which locks wait and wake ([`syscall`], [`futex`]). Outside of a run
//! every function does what libc's does. Does not own: what a run is ([`crate::attempt`] says when one
//! begins, the kernel which thread is in it), nor what waiting means there.

#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
pub(crate) mod entropy;
#[cfg(target_os = "linux")]
pub(crate) mod fs;
#[cfg(target_os = "linux")]
mod futex;
#[cfg(target_os = "linux")]
pub(crate) mod net;
#[cfg(target_os = "linux")]
mod real;
#[cfg(target_os = "linux")]
pub(crate) mod signal;
#[cfg(target_os = "linux")]
mod syscall;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod thread;

#[cfg(not(target_os = "linux"))]
pub(crate) mod fs {
    //! Files of code that knows nothing of us are the system's own here.

    use std::rc::Rc;

    use detsim_executor::context;
    use detsim_fs::Disks;

    /// The disks of the run that this thread drives.
    pub(crate) fn disks() -> Option<Rc<Disks>> {
        context::glance(|_| ())?;
        Disks::current()
    }

    /// Has no effect on this system: a run sees no files but its own.
    pub(crate) fn take_up_parents_anywhere(_: &Disks, _: &std::path::Path) -> bool {
        false
    }

    /// Has no effect on this system.
    pub(crate) fn link_in() {}
}

#[cfg(not(target_os = "linux"))]
pub(crate) mod entropy {
    //! Entropy is the system's own here: hash seeds and random numbers differ from run to run.

    /// Has no effect on this system; the sweep says so once.
    pub(crate) fn begin(_seed: u64) {}

    /// Has no effect on this system.
    pub(crate) fn end() {}
}
