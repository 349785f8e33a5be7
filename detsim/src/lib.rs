//! Deterministic simulation: sweep, replay, reports
#![deny(unsafe_code)]

mod attempt;
mod config;
mod console;
mod hook;
mod interpose;
mod log;
mod outcome;
mod run;
mod signature;
mod spec;
mod sweep;
mod wall;
#[cfg(target_os = "linux")]
mod worker;

#[doc(hidden)]
pub mod __private {
    //! What the attributes expand to. Not for direct use: it changes without notice.

    pub use crate::attempt::Body;
    pub use crate::outcome::{Failed, Kind, RunOptions, RunOutcome, TestOutput, Verdict};
    pub use crate::spec::{SEEDS_DEFAULT, Spec};
    pub use crate::sweep::sweep;
}

#[cfg(windows)]
compile_error!(
    "detsim does not run on Windows: it needs fork and Unix signals; use Linux or macOS, or WSL"
);
