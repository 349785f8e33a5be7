//! What `#[tokio::test]` and `#[tokio::main]` refuse, in tokio's words.

#[path = "../../fake/runtime.rs"]
mod fake;

#[detsim_macros::tokio_main(crate = "crate::fake")]
fn main_is_not_async() {}

#[detsim_macros::tokio_test(crate = "crate::fake")]
fn test_is_not_async() {}

#[detsim_macros::tokio_test(foo, crate = "crate::fake")]
async fn unknown_name() {}

#[detsim_macros::tokio_test(foo = 1, crate = "crate::fake")]
async fn unknown_argument() {}

#[detsim_macros::tokio_test(foo(1))]
async fn unknown_form() {}

#[detsim_macros::tokio_test(a::b = 1, crate = "crate::fake")]
async fn path_for_a_name() {}

#[detsim_macros::tokio_main(threaded_scheduler, crate = "crate::fake")]
async fn old_threaded() {}

#[detsim_macros::tokio_test(single_threaded, crate = "crate::fake")]
async fn old_single() {}

#[detsim_macros::tokio_main(core_threads = 5)]
async fn old_core_threads() {}

#[detsim_macros::tokio_test(worker_threads, crate = "crate::fake")]
async fn without_value() {}

#[detsim_macros::tokio_test(flavor = 123, crate = "crate::fake")]
async fn flavor_is_no_string() {}

#[detsim_macros::tokio_test(flavor = multi_thread, crate = "crate::fake")]
async fn flavor_is_no_literal() {}

#[detsim_macros::tokio_test(flavor = "foo", crate = "crate::fake")]
async fn flavor_is_unknown() {}

#[detsim_macros::tokio_test(flavor = "single_thread", crate = "crate::fake")]
async fn flavor_is_miscalled() {}

#[detsim_macros::tokio_test(flavor = "basic_scheduler", crate = "crate::fake")]
async fn flavor_was_renamed() {}

#[detsim_macros::tokio_main(flavor = "multi_thread", flavor = "multi_thread", crate = "crate::fake")]
async fn twice() {}

#[detsim_macros::tokio_test(worker_threads = 4, crate = "crate::fake")]
async fn threads_of_the_default_test() {}

#[detsim_macros::tokio_main(flavor = "local", worker_threads = 4, crate = "crate::fake")]
async fn threads_of_a_single_thread() {}

#[detsim_macros::tokio_main(worker_threads = 0, crate = "crate::fake")]
async fn no_threads() {}

#[detsim_macros::tokio_main(worker_threads = "4", crate = "crate::fake")]
async fn threads_are_no_integer() {}

#[detsim_macros::tokio_main(worker_threads = 18446744073709551616, crate = "crate::fake")]
async fn threads_are_too_many() {}

#[detsim_macros::tokio_main(start_paused = true, crate = "crate::fake")]
async fn paused_on_many_threads() {}

#[detsim_macros::tokio_test(start_paused = "yes", crate = "crate::fake")]
async fn paused_is_no_bool() {}

#[detsim_macros::tokio_main(unhandled_panic = "ignore", crate = "crate::fake")]
async fn panics_of_many_threads() {}

#[detsim_macros::tokio_test(unhandled_panic = "abort", crate = "crate::fake")]
async fn panics_are_unknown() {}

#[detsim_macros::tokio_test(crate = 456)]
async fn crate_is_no_string() {}

#[detsim_macros::tokio_test(crate = "456")]
async fn crate_is_no_path() {}

#[detsim_macros::tokio_test(name = 1, crate = "crate::fake")]
async fn name_is_no_string() {}

#[detsim_macros::tokio_test(crate = "crate::fake")]
#[test]
async fn a_test_already() {}

#[detsim_macros::tokio_main(crate = "crate::fake")]
async fn main(arguments: Vec<String>) {}
