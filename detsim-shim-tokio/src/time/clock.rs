//! The clock as tests handle it.
//!
//! Owns: tokio's [`pause`], [`resume`] and [`advance`]. Does not own: the clock. A simulation's time is
//! virtual, paused or not; a pause means that polls and readings of the clock take none of it, so that
//! a test may count on exact times.

use crate::runtime::{NEEDS_CURRENT_THREAD, scope};
use crate::task::yield_now;
use crate::time::Duration;
use crate::time::sleep::TICK_NS;
use detsim_executor::{Kernel, context};

/// Pauses the clock: it moves only to the next timer, when nothing can run, and by [`advance`].
///
/// # Panics
/// Where it is paused already, on a `multi_thread` runtime, and outside of a simulation.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::time::{Duration, Instant, pause, sleep};
/// let sim = detsim_executor::Sim::new(7);
/// sim.block_on(async {
///     pause();
///     let start = Instant::now();
///     sleep(Duration::from_millis(500)).await;
///     assert_eq!(start.elapsed(), Duration::from_millis(500));
/// })
/// .unwrap();
/// ```
#[track_caller]
pub fn pause() {
    let paused = is_paused();
    let pausable = scope::current().is_none_or(|runtime| runtime.settings().pausable);
    assert!(pausable, "{NEEDS_CURRENT_THREAD}");
    assert!(!paused, "time is already frozen");
    context::with(|kernel| {
        // As on tokio, what was read before is earlier; a clock that stands on a tick stays there.
        if !kernel.now().as_nanos().is_multiple_of(TICK_NS) {
            kernel.read_clock();
        }
        kernel.pause_clock();
    });
}

/// Ends a pause of the clock.
///
/// # Panics
/// Where it is not paused, and outside of a simulation.
#[track_caller]
pub fn resume() {
    assert!(is_paused(), "time is not frozen");
    context::with(Kernel::resume_clock);
}

/// Moves a paused clock forward, and lets the others run. It does not wait for timers that fall due.
///
/// # Panics
/// Where the clock is not paused, and outside of a simulation.
pub async fn advance(duration: Duration) {
    assert!(is_paused(), "time is not frozen");
    context::with(|kernel| kernel.advance_clock(duration));
    yield_now().await;
}

#[track_caller]
fn is_paused() -> bool {
    let paused = context::with(|kernel| kernel.is_clock_paused());
    paused.expect("time cannot be frozen from outside the Tokio runtime")
}
