//! The workloads on detsim: tokio's names by the shim, as its users have them, and the kernel's own
//! for the Raft cluster, the empty simulation and the disk.

#[cfg(not(detsim))]
compile_error!("detsim simulates under its cfg only: RUSTFLAGS='--cfg detsim' cargo build");

mod cluster;
#[path = "../../workloads/disk.rs"]
mod disk;
mod hold;
mod kv;
#[path = "../../workloads/net.rs"]
mod net;
mod peer;
mod raft;
#[path = "../../workloads/sync.rs"]
mod sync;
#[path = "../../workloads/workloads.rs"]
mod workloads;

use std::process::ExitCode;

use bench_common::Work;

use crate::cluster::Conditions;

fn main() -> ExitCode {
    bench_common::peer_main(run, growth)
}

fn run(name: &str, operations: u64) -> Option<Work> {
    match name {
        "raft" => Some(raft::runs(operations)),
        "kv" => Some(kv::cycles(operations)),
        "hold" => Some(hold::holds(operations)),
        "echo-fair" => Some(shared(Conditions::Fair, net::echo, operations)),
        "echo-rough" => Some(shared(Conditions::Rough, net::echo, operations)),
        "bulk-fair" => Some(shared(Conditions::Fair, net::bulk, operations)),
        "bulk-rough" => Some(shared(Conditions::Rough, net::bulk, operations)),
        _ => net::network(name, operations)
            .or_else(|| disk::run(name, operations))
            .or_else(|| sync::run(name, operations))
            .or_else(|| workloads::run(name, operations)),
    }
}

fn growth(check: &str, operations: u64) -> Option<i64> {
    disk::growth(check, operations).or_else(|| workloads::growth(check, operations))
}

fn shared(conditions: Conditions, work: fn(u64, u64), operations: u64) -> Work {
    cluster::shared(conditions, work, operations);
    Work::of(operations)
}
