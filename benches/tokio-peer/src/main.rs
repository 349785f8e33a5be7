//! The workloads on tokio's current_thread runtime with a paused clock: the fastest that code
//! written for tokio runs without a simulator.

#[path = "../../workloads/disk.rs"]
mod disk;
mod net;
mod peer;
#[path = "../../workloads/raft.rs"]
mod raft;
#[path = "../../workloads/sync.rs"]
mod sync;
#[path = "../../workloads/workloads.rs"]
mod workloads;

use std::process::ExitCode;

use bench_common::Work;

fn main() -> ExitCode {
    bench_common::peer_main(run, growth)
}

fn run(name: &str, operations: u64) -> Option<Work> {
    match name {
        "raft" => Some(raft::runs(operations)),
        _ => disk::run(name, operations)
            .or_else(|| sync::run(name, operations))
            .or_else(|| workloads::run(name, operations)),
    }
}

fn growth(check: &str, operations: u64) -> Option<i64> {
    disk::growth(check, operations).or_else(|| workloads::growth(check, operations))
}
