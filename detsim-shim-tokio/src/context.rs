//! Being inside a simulation.
//!
//! Owns: the text that tokio has for a use outside of a runtime. Does not own: the simulation.

/// tokio's words where there is no runtime.
pub(crate) const MISSING: &str =
    "there is no reactor running, must be called from the context of a Tokio 1.x runtime";

/// tokio's words where the runtime was shut down.
pub(crate) const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// Ends in tokio's panic.
#[cold]
#[track_caller]
pub(crate) fn missing() -> ! {
    panic!("{MISSING}")
}
