//! A seed of a kernel has one trace: in one process and in two.

use std::process::Command;

use detsim::{Sim, SimConfig};

/// The trace of a buggy kernel's run, however it ends.
fn trace<F: Future<Output = ()> + 'static>(seed: u64, kernel: impl FnOnce() -> F) -> String {
    let mut config = SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(seed, config);
    let _failing = sim.block_on(kernel());
    sim.trace().to_string()
}

/// The traces of all kernels, of one seed.
fn traces(seed: u64) -> String {
    let traces = [
        trace(seed, kernels::ab_ba::buggy),
        trace(seed, kernels::abort_mid_transfer::buggy),
        trace(seed, kernels::check_then_wait::buggy),
        trace(seed, kernels::framed_select::buggy),
        trace(seed, kernels::permit_leak_on_cancel::buggy),
        trace(seed, kernels::relock::buggy),
        trace(seed, kernels::req_resp_full::buggy),
        trace(seed, kernels::ring3::buggy),
        trace(seed, kernels::rw_recursive_read::buggy),
        trace(seed, kernels::send_under_lock::buggy),
        trace(seed, kernels::toctou_await::buggy),
    ];
    assert!(traces.iter().all(|trace| trace.lines().count() > 5));
    traces.concat()
}

const SEED: u64 = 16;

#[test]
#[ignore = "prints traces, for the test below"]
#[expect(clippy::print_stdout, reason = "another process reads it")]
fn prints_traces() {
    print!("<<<{}>>>", traces(SEED));
}

#[test]
fn a_seed_has_one_trace_in_one_process_and_in_two() {
    let here = traces(SEED);
    assert_eq!(here, traces(SEED));
    assert_ne!(here, traces(SEED + 1));
    for _ in 0..2 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let args = ["repeats::prints_traces", "--exact", "--ignored", "--nocapture"];
        let said = String::from_utf8(command.args(args).output().unwrap().stdout).unwrap();
        assert_eq!(said.split("<<<").nth(1).and_then(|t| t.split(">>>").next()), Some(&*here));
    }
}
