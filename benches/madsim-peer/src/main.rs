//! The workloads on madsim, with madsim-tokio standing in for tokio as its users have it.

#[cfg(not(madsim))]
compile_error!("madsim simulates under its cfg only: RUSTFLAGS='--cfg madsim' cargo build");

mod cluster;
mod net;
#[path = "../../workloads/net.rs"]
mod net_text;
mod peer;
#[path = "../../workloads/raft.rs"]
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
        _ => net_text::network(name, operations).or_else(|| workloads::run(name, operations)),
    }
}
