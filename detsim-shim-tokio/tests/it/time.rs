//! Sleeping, timeouts and intervals.

use crate::{Log, in_order, sweep};
use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use std::future::{pending, ready};
use std::panic::catch_unwind;
use std::pin::pin;
use tokio::task::yield_now;
use tokio::time::{
    Duration, Instant, MissedTickBehavior, advance, interval, interval_at, pause, resume, sleep,
    sleep_until, timeout, timeout_at,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_sleep_ends_at_a_whole_millisecond_and_never_early() {
    sweep(20, || async {
        let start = Instant::now();
        for (asked, slept_ms) in [(ms(5), 5), (Duration::from_micros(1500), 2)] {
            let begun = Instant::now();
            sleep(asked).await;
            assert!(begun.elapsed() >= asked);
            assert!(begun.elapsed().as_millis() <= slept_ms + 1, "{:?}", begun.elapsed());
        }
        sleep_until(start + ms(20)).await;
        assert!((ms(20)..ms(22)).contains(&start.elapsed()), "{:?}", start.elapsed());
    });
}

#[test]
fn a_sleep_of_no_length_waits_for_the_next_tick() {
    in_order(async {
        let start = Instant::now();
        sleep(Duration::ZERO).await;
        let slept = start.elapsed().as_micros();
        assert!((990..1010).contains(&slept), "{slept} us");
    });
}

#[test]
fn a_sleep_can_be_moved() {
    in_order(async {
        let start = Instant::now();
        let mut moved = pin!(sleep(ms(10)));
        assert_eq!(moved.deadline(), moved.deadline());
        moved.as_mut().reset(start + ms(30));
        moved.as_mut().await;
        assert!(moved.is_elapsed() && start.elapsed() >= ms(30));
        moved.as_mut().reset(start + ms(50));
        assert!(!moved.is_elapsed());
        moved.await;
        assert!(start.elapsed() >= ms(50));
    });
}

#[test]
fn the_longest_sleep_is_thirty_years() {
    in_order(async {
        let years =
            (sleep(Duration::MAX).deadline() - Instant::now()).as_secs() / (365 * 24 * 3600);
        assert!((29..=30).contains(&years), "{years}");
    });
}

#[test]
fn a_timeout_prefers_the_value() {
    sweep(20, || async {
        assert_eq!(timeout(Duration::ZERO, ready(1)).await, Ok(1));
        assert!(timeout(ms(1), pending::<()>()).await.is_err());
        assert!(timeout_at(Instant::now() + ms(1), pending::<()>()).await.is_err());
        let slow = timeout(ms(10), sleep(ms(20))).await.unwrap_err();
        assert_eq!(slow.to_string(), "deadline has elapsed");
        assert_eq!(std::io::Error::from(slow).kind(), std::io::ErrorKind::TimedOut);
        assert_eq!(timeout(ms(20), sleep(ms(10))).await, Ok(()));
    });
}

#[test]
fn a_timeout_that_is_not_needed_does_not_hold_up_the_end() {
    let sim = crate::fifo();
    let hour = Duration::from_secs(3600);
    drop(sim.spawn("main", async move { timeout(hour, sleep(ms(1))).await.unwrap() }));
    assert_eq!(sim.run().unwrap().now.as_millis(), 1);
}

/// The ticks of an interval of 10 ms whose first tick is met 25 ms late, relative to its start.
fn ticks(behavior: MissedTickBehavior) -> String {
    in_order(async move {
        let start = Instant::now() + ms(1);
        let mut ticks = interval_at(start, ms(10));
        ticks.set_missed_tick_behavior(behavior);
        let log = Log::default();
        ticks.tick().await;
        sleep(ms(25)).await;
        for _ in 0..4 {
            let due = ticks.tick().await;
            log.add((due - start).as_millis());
        }
        log.text()
    })
}

#[test]
fn missed_ticks_burst_are_delayed_or_skipped() {
    assert_eq!(ticks(MissedTickBehavior::Burst), "10 20 30 40");
    assert_eq!(ticks(MissedTickBehavior::Delay), "10 35 45 55");
    assert_eq!(ticks(MissedTickBehavior::Skip), "10 30 40 50");
}

#[test]
fn an_interval_can_be_reset() {
    in_order(async {
        let mut ticks = interval(ms(10));
        let first = ticks.tick().await;
        sleep(ms(5)).await;
        ticks.reset();
        assert!(ticks.tick().await >= first + ms(15));
        ticks.reset_immediately();
        let now = Instant::now();
        assert!(ticks.tick().await <= now + ms(1));
        ticks.reset_after(ms(30));
        assert!(ticks.tick().await >= now + ms(30));
        assert_eq!(ticks.period(), ms(10));
    });
}

#[test]
fn an_instant_can_lie_before_the_simulation() {
    in_order(async {
        let hour_ago = Instant::now() - Duration::from_secs(3600);
        assert!(hour_ago.elapsed() >= Duration::from_secs(3600));
        assert_eq!(hour_ago.duration_since(Instant::now()), Duration::ZERO);
        assert_eq!(hour_ago.checked_duration_since(Instant::now()), None);
        assert_eq!(hour_ago.checked_sub(Duration::MAX), None);
        assert_eq!(hour_ago.checked_add(Duration::MAX), None);
    });
}

#[test]
fn a_clock_that_is_watched_moves() {
    in_order(async {
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(50) {}
    });
}

#[test]
fn a_paused_clock_is_exact_and_can_be_moved() {
    sweep(20, || async {
        pause();
        let start = Instant::now();
        yield_now().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        let sleeps = tokio::spawn(sleep(ms(7)));
        yield_now().await;
        advance(ms(3)).await;
        assert_eq!((start.elapsed(), sleeps.is_finished()), (ms(3), false));
        advance(ms(4)).await;
        sleeps.await.unwrap();
        assert_eq!(start.elapsed(), ms(7));
        resume();
        yield_now().await;
        assert!(start.elapsed() > ms(7));
    });
}

#[tokio::test(crate = "crate::entry::shim", start_paused = true)]
async fn a_test_may_start_paused() {
    let start = Instant::now();
    yield_now().await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    sleep(ms(1)).await;
    assert_eq!(start.elapsed(), ms(1));
}

#[test]
fn misuse_is_told_in_tokios_words() {
    let text = |panicked: Box<dyn std::any::Any + Send>| match panicked.downcast::<String>() {
        Ok(text) => *text,
        Err(panicked) => (*panicked.downcast::<&str>().unwrap()).to_owned(),
    };
    let outside = catch_unwind(|| drop(sleep(ms(1)))).unwrap_err();
    assert!(text(outside).starts_with("there is no reactor running"));
    let zero = catch_unwind(|| drop(interval(Duration::ZERO))).unwrap_err();
    assert_eq!(text(zero), "`period` must be non-zero.");
    let twice = Sim::new(1).block_on(async { (pause(), pause()) }).unwrap_err();
    assert_eq!(twice.signature(), "panic time is already frozen");
    let never = Sim::new(1).block_on(async { resume() }).unwrap_err();
    assert_eq!(never.signature(), "panic time is not frozen");
}

#[test]
fn the_futures_are_as_pinned_as_tokios() {
    trait NotUnpin<A> {
        fn check() {}
    }
    impl<T: ?Sized> NotUnpin<()> for T {}
    impl<T: ?Sized + Unpin> NotUnpin<u8> for T {}
    // Ambiguous, and so no program, where the type is `Unpin`.
    <tokio::time::Sleep as NotUnpin<_>>::check();
    <tokio::time::Timeout<std::future::Ready<()>> as NotUnpin<_>>::check();
    <tokio::sync::futures::Notified<'static> as NotUnpin<_>>::check();
}

#[test]
fn a_sleep_that_is_moved_keeps_its_waker() {
    let sim = Sim::new(1);
    let woken = sim.block_on(async {
        let mut sleep = Box::pin(sleep(Duration::from_secs(10)));
        assert!(futures::poll!(sleep.as_mut()).is_pending());
        let before = Instant::now();
        sleep.as_mut().reset(before + Duration::from_secs(1));
        // Nothing polls it again before it wakes.
        let mut polls = 0;
        std::future::poll_fn(|cx| {
            polls += 1;
            match polls {
                1 => std::task::Poll::Pending,
                _ => sleep.as_mut().poll(cx),
            }
        })
        .await;
        (polls, before.elapsed().as_secs())
    });
    assert_eq!(woken.unwrap(), (2, 1));
}

#[test]
fn a_sleep_has_not_elapsed_before_it_was_polled() {
    let sim = Sim::new(1);
    sim.block_on(async {
        let mut sleep = Box::pin(sleep_until(Instant::now() - Duration::from_secs(1)));
        assert!(!sleep.is_elapsed());
        sleep.as_mut().await;
        assert!(sleep.is_elapsed());
    })
    .unwrap();
}

#[test]
fn an_interval_of_forever_ticks_once() {
    let sim = Sim::new(1);
    let second = sim.block_on(async {
        let mut ticks = interval(Duration::MAX);
        ticks.tick().await;
        ticks.reset();
        ticks.reset_after(Duration::MAX);
        timeout(Duration::from_secs(3600), ticks.tick()).await
    });
    assert!(second.unwrap().is_err());
}

#[test]
fn a_moment_goes_to_std_and_back() {
    let sim = Sim::new(1);
    sim.block_on(async {
        let now = Instant::now();
        let std = now.into_std();
        assert_eq!(Instant::from_std(std), now);
        for by in [Duration::from_nanos(1), Duration::from_secs(3600)] {
            assert_eq!(Instant::from(std + by), now + by);
            assert_eq!((now - by).into_std(), std - by);
        }
    })
    .unwrap();
}

#[test]
fn a_future_that_uses_up_its_budget_is_timed_out() {
    let sim = Sim::new(1);
    let busy = async {
        loop {
            tokio::task::consume_budget().await;
        }
    };
    let out = sim.block_on(async { timeout(Duration::from_millis(1), busy).await });
    assert!(out.unwrap().is_err());
}

#[test]
fn ticks_are_whole_milliseconds_of_each_runtime() {
    let paused = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().unwrap()
    };
    let first = paused();
    std::thread::sleep(Duration::from_micros(300));
    let second = paused();
    let _entered = first.enter();
    let mut sleep = pin!(sleep(Duration::from_millis(1)));
    let deadline = sleep.deadline() + Duration::from_millis(1);
    second.block_on(async { sleep.as_mut().reset(deadline) });
    let start = Instant::now();
    first.block_on(sleep);
    assert_eq!(start.elapsed(), Duration::from_millis(2));
}
