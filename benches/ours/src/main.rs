//! The workloads on detsim: tokio's names by the shim, as its users have them, and the kernel's own
//! for the Raft cluster, the empty simulation and the disk.

#[cfg(not(detsim))]
compile_error!("detsim simulates under its cfg only: RUSTFLAGS='--cfg detsim' cargo build");

mod kv;
mod peer;
mod raft;
#[path = "../../workloads/workloads.rs"]
mod workloads;

use std::process::ExitCode;

use bench_common::Work;

fn main() -> ExitCode {
    bench_common::peer_main(run, workloads::growth)
}

fn run(name: &str, operations: u64) -> Option<Work> {
    match name {
        "raft" => Some(raft::runs(operations)),
        "kv" => Some(kv::cycles(operations)),
        _ => workloads::run(name, operations),
    }
}
