//! The workloads on madsim, with madsim-tokio standing in for tokio as its users have it.

#[cfg(not(madsim))]
compile_error!("madsim simulates under its cfg only: RUSTFLAGS='--cfg madsim' cargo build");

mod net;
mod peer;
#[path = "../../workloads/workloads.rs"]
mod workloads;

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_common::peer_main(workloads::run, workloads::growth)
}
