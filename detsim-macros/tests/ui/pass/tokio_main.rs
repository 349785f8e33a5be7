//! A program written for tokio.

#[path = "../../fake/runtime.rs"]
mod fake;

#[detsim_macros::tokio_main(flavor = "current_thread", start_paused = true, crate = "fake")]
async fn main() {
    assert_eq!(fake::spec().calls, ["flavor(current_thread)", "start_paused(true)"]);
}
