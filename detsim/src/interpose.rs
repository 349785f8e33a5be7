//! Functions of libc that detsim defines, so that code which knows nothing of it stays repeatable.
//!
//! Owns: entropy, so far. Outside a run every function does what libc's does. Does not own: what
//! a run is ([`crate::attempt`] says when one begins).

#[cfg(target_os = "linux")]
pub(crate) mod entropy;

#[cfg(not(target_os = "linux"))]
pub(crate) mod entropy {
    //! Entropy is the system's own here: hash seeds and random numbers differ from run to run.

    /// Has no effect on this system; the sweep says so once.
    pub(crate) fn begin(_seed: u64) {}

    /// Has no effect on this system.
    pub(crate) fn end() {}
}
