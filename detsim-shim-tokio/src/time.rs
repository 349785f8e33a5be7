//! Virtual time under tokio's names.
//!
//! Mirrors `tokio::time`. Owns: tokio's rounding to milliseconds, its instants, intervals and
//! timeouts. Does not own: the clock and the timers, which are the kernel's.

mod clock;
pub mod error;
mod instant;
mod interval;
mod sleep;
mod std;
mod timeout;

pub use ::std::time::Duration;
pub use clock::{advance, pause, resume};
pub use instant::Instant;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Timeout, timeout, timeout_at};
