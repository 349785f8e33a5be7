//! Time and signals: every method, by its type.
#![expect(dead_code, reason = "it is compiled, not called")]
#![expect(clippy::disallowed_types, reason = "std's moments are converted")]

use super::tokio;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant as StdInstant;
use tokio::signal;
use tokio::signal::unix::{Signal, SignalKind};
use tokio::time::error::{Elapsed, Error};
use tokio::time::*;

pub(in crate::parity) fn instant(mut instant: Instant, other: Instant) -> Instant {
    let _: fn() -> Instant = Instant::now;
    let _: fn(StdInstant) -> Instant = Instant::from_std;
    let _: fn(StdInstant) -> Instant = Instant::from;
    let _: fn(Instant) -> StdInstant = Instant::into_std;
    let _: fn(Instant) -> StdInstant = StdInstant::from;
    let _: fn(&Instant, Instant) -> Duration = Instant::duration_since;
    let _: fn(&Instant, Instant) -> Option<Duration> = Instant::checked_duration_since;
    let _: fn(&Instant, Instant) -> Duration = Instant::saturating_duration_since;
    let _: fn(&Instant) -> Duration = Instant::elapsed;
    let _: fn(&Instant, Duration) -> Option<Instant> = Instant::checked_add;
    let _: fn(&Instant, Duration) -> Option<Instant> = Instant::checked_sub;
    instant += Duration::ZERO;
    instant -= Duration::ZERO;
    let _: Duration = instant - other;
    instant + Duration::ZERO - Duration::ZERO
}

pub(in crate::parity) async fn sleeping() {
    let _: fn(Duration) -> Sleep = sleep;
    let _: fn(Instant) -> Sleep = sleep_until;
    let _: fn(&Sleep) -> Instant = Sleep::deadline;
    let _: fn(&Sleep) -> bool = Sleep::is_elapsed;
    let _: fn(Pin<&mut Sleep>, Instant) = Sleep::reset;
    let () = sleep(Duration::ZERO).await;
    let _: fn() = pause;
    let _: fn() = resume;
    let () = advance(Duration::ZERO).await;
}

pub(in crate::parity) async fn timeouts() {
    let _: fn(Duration, Ready<u8>) -> Timeout<Ready<u8>> = timeout;
    let _: fn(Instant, Ready<u8>) -> Timeout<Ready<u8>> = timeout_at;
    let _: fn(&Timeout<Ready<u8>>) -> &Ready<u8> = Timeout::get_ref;
    let _: fn(&mut Timeout<Ready<u8>>) -> &mut Ready<u8> = Timeout::get_mut;
    let _: fn(Timeout<Ready<u8>>) -> Ready<u8> = Timeout::into_inner;
    let _: Result<u8, Elapsed> = timeout(Duration::ZERO, ready(1)).await;
    let _: fn(Elapsed) -> io::Error = io::Error::from;
    let _: [fn() -> Error; 3] = [Error::shutdown, Error::at_capacity, Error::invalid];
    let _: [fn(&Error) -> bool; 3] = [Error::is_shutdown, Error::is_at_capacity, Error::is_invalid];
}

pub(in crate::parity) async fn intervals(mut ticks: Interval) {
    let _: fn(Duration) -> Interval = interval;
    let _: fn(Instant, Duration) -> Interval = interval_at;
    let _: Instant = ticks.tick().await;
    let _: fn(&mut Interval, &mut Context<'_>) -> Poll<Instant> = Interval::poll_tick;
    let _: fn(&mut Interval) = Interval::reset;
    let _: fn(&mut Interval) = Interval::reset_immediately;
    let _: fn(&mut Interval, Duration) = Interval::reset_after;
    let _: fn(&mut Interval, Instant) = Interval::reset_at;
    let _: fn(&Interval) -> MissedTickBehavior = Interval::missed_tick_behavior;
    let _: fn(&mut Interval, MissedTickBehavior) = Interval::set_missed_tick_behavior;
    let _: fn(&Interval) -> Duration = Interval::period;
    let _ = [MissedTickBehavior::Burst, MissedTickBehavior::Delay, MissedTickBehavior::Skip];
}

pub(in crate::parity) async fn signals(mut signal: Signal) {
    let _: io::Result<()> = signal::ctrl_c().await;
    let _: fn(SignalKind) -> io::Result<Signal> = signal::unix::signal;
    let _: Option<()> = signal.recv().await;
    let _: fn(&mut Signal, &mut Context<'_>) -> Poll<Option<()>> = Signal::poll_recv;
    let _: fn(&SignalKind) -> i32 = SignalKind::as_raw_value;
    let _: [SignalKind; 11] = [
        SignalKind::alarm(),
        SignalKind::child(),
        SignalKind::hangup(),
        SignalKind::interrupt(),
        SignalKind::io(),
        SignalKind::pipe(),
        SignalKind::quit(),
        SignalKind::terminate(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
        SignalKind::window_change(),
    ];
    const _: SignalKind = SignalKind::from_raw(1);
    let _: i32 = SignalKind::from(1).into();
}
