//! The workloads on tokio's current_thread runtime with a paused clock: the fastest that code
//! written for tokio runs without a simulator.

mod net;
mod peer;
#[path = "../../workloads/workloads.rs"]
mod workloads;

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_common::peer_main(workloads::run, workloads::growth)
}
