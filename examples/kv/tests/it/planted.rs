//! The store swept as a test is. Those that are ignored fail on purpose, each through one mistake.

use detsim::Sim;
use detsim_fs::FaultProfile;
use kv::{Checksums, PROFILE, Problem, check};

#[detsim::test(seeds = 2000)]
fn with_checksums_nothing_is_corrupted(sim: &mut Sim) -> Result<(), Problem> {
    check(sim, PROFILE, Checksums::On)
}

#[detsim::test(seeds = 200)]
#[ignore = "fails on purpose: records carry no checksum"]
fn corrupt_data_is_served(sim: &mut Sim) -> Result<(), Problem> {
    check(sim, PROFILE, Checksums::Off)
}

#[detsim::test(seeds = 200)]
#[ignore = "fails on purpose: no log can keep its word on a disk that lies"]
fn a_disk_lies_about_sync(sim: &mut Sim) -> Result<(), Problem> {
    let profile = FaultProfile { skip_sync_rate: 0.5, ..PROFILE };
    check(sim, profile, Checksums::On)
}
