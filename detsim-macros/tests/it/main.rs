//! The attributes at work. Each function under one of them is expanded, run by the test harness, and
//! asks what it was run with; the runtime underneath is a stand-in, reached by `crate = ".."`.

#![deny(warnings)]

mod detsim_main;
mod detsim_test;
#[path = "../fake/runtime.rs"]
mod fake;
mod tokio_main;
mod tokio_test;
mod ui;

/// Asserts the calls that the attribute around this made on its spec.
#[track_caller]
fn assert_calls(calls: &[&str]) {
    assert_eq!(fake::spec().calls, calls);
}
