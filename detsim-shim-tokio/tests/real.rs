//! What the attributes expand to without `--cfg detsim`: one run on tokio itself.
#![cfg(not(detsim))]

use detsim_shim_tokio::__detsim::{Spec, main, test};
use detsim_shim_tokio::runtime::Handle;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const SPEC: Spec = Spec::new("shim::real::runs", "tests/real.rs", 1).seeds(5000);

#[test]
fn a_test_runs_once_on_tokio() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    test(SPEC.strategy("random"), || async {
        assert_eq!(Handle::current().metrics().num_workers(), 1);
        RUNS.fetch_add(1, Relaxed);
    });
    assert_eq!(RUNS.load(Relaxed), 1);
}

#[test]
fn an_error_that_a_test_returns_fails_it() {
    let failed = catch_unwind(|| test(SPEC, || async { Err::<(), _>("no quorum") })).unwrap_err();
    assert_eq!(*failed.downcast::<String>().unwrap(), "Error: \"no quorum\"");
}

#[test]
fn a_program_may_borrow_and_give_what_it_borrowed() {
    let text = String::from("borrowed");
    assert_eq!(main(SPEC.flavor("current_thread"), || async { text.as_str() }), "borrowed");
}

#[test]
fn a_feature_that_is_off_is_named() {
    let failed = catch_unwind(|| test(SPEC.start_paused(true), || async {}));
    if !cfg!(feature = "test-util") {
        let text = failed.unwrap_err();
        let text = text.downcast_ref::<&str>().unwrap();
        assert!(text.ends_with("turn on test-util"), "{text}");
    }
}
