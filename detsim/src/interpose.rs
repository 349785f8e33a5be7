//! Functions of libc that detsim defines, so that code which knows nothing of it stays repeatable.
//!
//! Owns: entropy and files. Outside a run every function does what libc's does. Does not own: what
//! a run is ([`crate::attempt`] says when one begins).

#[cfg(target_os = "linux")]
pub(crate) mod entropy;
#[cfg(target_os = "linux")]
pub(crate) mod fs;

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
