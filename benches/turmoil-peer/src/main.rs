//! The workloads on sockets on turmoil, with tokio beside it as its users have it. It has no others of
//! them: its tasks and channels are tokio's own.

mod cluster;
#[path = "../../workloads/net.rs"]
mod net;

use std::process::ExitCode;

use bench_common::Work;

fn main() -> ExitCode {
    bench_common::peer_main(run, |_, _| None)
}

fn run(name: &str, operations: u64) -> Option<Work> {
    match name {
        // A host costs it some microseconds each simulated millisecond: hours, and minutes.
        "idle-500" | "gossip-200" => None,
        _ => net::network(name, operations),
    }
}
