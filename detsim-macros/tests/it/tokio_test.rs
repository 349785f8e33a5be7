//! `#[tokio::test]`.

use crate::assert_calls;

#[detsim_macros::tokio_test(crate = "crate::fake")]
async fn a_bare_attribute_is_marked_as_tokios() {
    assert_calls(&["tokio_test()"]);
}

#[detsim_macros::tokio_test(
    flavor = "multi_thread",
    worker_threads = 4usize,
    name = "workers",
    crate = "crate::fake"
)]
async fn a_multi_thread_runtime_has_workers() {
    assert_calls(&[
        "tokio_test()",
        "flavor(multi_thread)",
        "worker_threads(4)",
        "runtime_name(workers)",
    ]);
}

#[detsim_macros::tokio_test(
    start_paused = true,
    unhandled_panic = "shutdown_runtime",
    crate = "crate::fake"
)]
async fn a_current_thread_runtime_may_be_paused() {
    assert_calls(&["tokio_test()", "start_paused(true)", "unhandled_panic(shutdown_runtime)"]);
}

#[detsim_macros::tokio_test(Flavor = "local", crate = "crate::fake")]
async fn the_case_of_a_name_is_ignored() {
    assert_calls(&["tokio_test()", "flavor(local)"]);
}

#[detsim_macros::tokio_test(crate = "crate::fake")]
#[should_panic = "the test returned an error: ()"]
async fn an_err_fails_the_test() -> Result<(), ()> {
    Err(())
}

#[rustfmt::skip] // A body on one line is what `unused_braces` looks for.
#[detsim_macros::tokio_test(crate = "crate::fake")]
async fn a_body_on_one_line_brings_no_warning() { assert_calls(&["tokio_test()"]) }

macro_rules! wrapped {
    (async fn $name:ident() $body:block) => {
        #[detsim_macros::tokio_test(crate = "crate::fake")]
        async fn $name() {
            $body
        }
    };
}

wrapped!(
    async fn a_test_may_come_from_a_macro() {
        assert_calls(&["tokio_test()"]);
    }
);
