//! Deterministic simulation: find the bug that happens once in ten thousand runs, and run it again.
//!
//! This crate is what a test imports. `#[detsim::test]` runs a scenario under many seeds, each in a
//! process of its own; a seed that fails is named with the command that runs it again, to the same
//! end.
//!
//! # Settings
//! The environment overrides what the attribute says. A value that cannot be used is an error that
//! says what is allowed; an empty one counts as unset.
//!
//! | variable | meaning | unless set |
//! |---|---|---|
//! | `DETSIM_SEED` | run this one seed and show its output; wins over `DETSIM_SEEDS` | |
//! | `DETSIM_SEEDS` | how many seeds, or which: `5000`, `100..200` | the attribute's, else 100 |
//! | `DETSIM_SEED_BASE` | the first seed, beside a count | 0 |
//! | `DETSIM_JOBS` | workers at a time, over all tests of the process | the processors |
//! | `DETSIM_STRATEGY` | the scheduler: `random` or `fifo` | the attribute's, else `random` |
//! | `DETSIM_BUDGET` | wall time of a test: `90s`, `5m`; then no new seeds begin | none |
//! | `DETSIM_OUT` | where records of failures go | `detsim/failures` in the target directory |
//! | `DETSIM_REPLAY` | run the choices of this record: a directory below that one, or a file in it | |
//! | `DETSIM_MINIMIZE` | `1`: cut failing runs down to the few choices that matter | off |
//! | `DETSIM_LOG` | a filter of `tracing`: prints events with virtual time, node and task | off |
//! | `DETSIM_IN_PROCESS` | `1`: run the seeds in the test process, each thread on one of the system, for a debugger | off |
//!
//! # What a seed can do to its sweep
//! Nothing. A panic, an abort, an exit, a signal, an overflow of the stack, more than 4 GiB of memory,
//! 64 MiB of output or 10 s inside one poll is that seed's failure; the others run on. A sweep ends
//! after 10 failing seeds. What the failing seeds print is shown once for each way of failing; what
//! passing seeds print is dropped.
//!
//! Seeds run in forked copies of a worker process that did nothing before: statics, hash orders and
//! (on Linux, where fixed addresses are allowed) addresses are the same whichever seeds ran before.
//! Seeds that pass and are quick may run back to back in one process, if the first eight show no
//! difference and the rest is audited; on the first difference all of them run in forks again.
#![deny(unsafe_code)]

mod attempt;
mod config;
mod console;
mod environment;
mod failures;
mod hook;
mod interpose;
mod local;
mod log;
mod minimize;
mod net;
mod outcome;
mod parting;
#[cfg(target_os = "linux")]
mod poller;
mod recording;
mod run;
mod signature;
mod spec;
mod sweep;
pub mod trace;
mod wall;
#[cfg(target_os = "linux")]
mod worker;

pub use detsim_executor::{
    AbortHandle, Anchor, Block, Choice, Choices, Deadline, Deadlock, Device, DeviceId, Event,
    Failure, JoinError, JoinHandle, Limits, Node, NodeFaults, NodeId, Preempt, Ratio, Report,
    RunHash, Sim, SimConfig, SimTime, Skew, Sleep, Strategy, Stream, TaskNumber, Trace, YieldNow,
    context, sleep_until, yield_now,
};
pub use detsim_fs::{
    CrashProfile, DiskConfig, DiskFaults, DiskLatency, Disks, FaultEvent, FaultProfile, FaultStats,
    FaultyStorage, PowerLoss, SECTOR_BYTES, VolumeConfig,
};
pub use detsim_macros::{main, test};
pub use detsim_net::{
    Cut, LinkSettings, Net, NetFaults, NetLink, NetStats, Network, NodeSet, Order, Partition, Rule,
    RuleGuard, Swizzle, Verdict,
};
pub use environment::Environment;
pub use net::NodeBuilder;

#[doc(hidden)]
pub mod __private {
    //! What the attributes expand to. Not for direct use: it changes without notice.

    use std::rc::Rc;

    use detsim_fs::Disks;

    /// The disks of the run that this thread drives, with the directory in which relative paths
    /// begin. `None` outside of a run, and in a section of its kernel.
    pub fn disks() -> Option<Rc<Disks>> {
        crate::interpose::fs::link_in();
        crate::interpose::fs::disks()
    }

    /// Has signals that the process sends itself outside of any run taken, where `take` says so.
    pub fn taken_outside_by(take: fn(i32) -> bool) {
        #[cfg(target_os = "linux")]
        crate::interpose::signal::taken_outside_by(take);
        #[cfg(not(target_os = "linux"))]
        let _ = take;
    }

    /// Names of local sockets.
    pub mod local {
        pub use crate::local::{bind, bind_in_place, find};
    }

    /// The sockets of std in a run, as tokio's types take them and become them.
    #[cfg(target_os = "linux")]
    pub mod descriptors {
        pub use crate::interpose::net::{Watched, give, lend, real_like, take, watch};
    }

    pub use crate::attempt::Body;
    pub use crate::outcome::{Failed, Keeps, Kind, RunOptions, RunOutcome, TestOutput, Verdict};
    #[cfg(target_os = "linux")]
    pub use crate::poller::{Access, Happened, Poller, Wanted, access_of};
    pub use crate::recording::Recording;
    pub use crate::run::{implicit, main, run_async, scenario};
    pub use crate::spec::{Built, SEEDS_DEFAULT, Spec};
    pub use crate::sweep::sweep;
}

#[cfg(windows)]
compile_error!(
    "detsim does not run on Windows: it needs fork and Unix signals; use Linux or macOS, or WSL"
);
