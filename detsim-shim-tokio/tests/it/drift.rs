//! Nodes whose clocks drift: `Instant`, sleeps, timeouts and intervals go by them.
#![expect(clippy::disallowed_types, reason = "std's clock is read by the program under test")]

use detsim_executor::{Sim, SimTime, Stream};
use detsim_shim_tokio as tokio;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use std::future::pending;
use std::time::Instant as StdInstant;
use tokio::time::{Duration, Instant, interval, sleep, sleep_until, timeout};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A node's clock and the world's, as far as they have come while it sleeps 1,000 times a second of its own, and
/// waits for 1,000 ticks, and for a timeout of 1,000 s.
fn thousands(drift_ppm: i32) -> [(Duration, Duration); 3] {
    let sim = Sim::new(7);
    let node = sim.node("n1");
    node.set_clock_drift(drift_ppm);
    let world = sim.clone();
    let measured = node.spawn("measures", async move {
        let since = |begun: (Instant, SimTime)| (begun.0.elapsed(), world.now() - begun.1);
        let now = || (Instant::now(), world.now());
        let begun = now();
        for second in 1..=1_000 {
            sleep_until(begun.0 + Duration::from_secs(second)).await;
        }
        let sleeps = since(begun);
        let begun = now();
        let mut ticks = interval(Duration::from_secs(1));
        for _ in 0..=1_000 {
            ticks.tick().await;
        }
        let ticks = since(begun);
        let begun = now();
        timeout(Duration::from_secs(1_000), pending::<()>()).await.unwrap_err();
        [sleeps, ticks, since(begun)]
    });
    sim.block_on(async move { measured.await.unwrap() }).unwrap()
}

#[test]
fn two_nodes_measure_the_same_by_their_own_clocks_and_another_by_the_worlds() {
    for (drift_ppm, world_ms) in [(200, 999_800), (-100_000, 1_111_111), (0, 1_000_000)] {
        for (own, world) in thousands(drift_ppm) {
            assert!((0..=2).contains(&(own.as_millis() as i64 - 1_000_000)), "{own:?}");
            assert!((0..=2).contains(&(world.as_millis() as i64 - world_ms)), "{world:?}");
        }
    }
}

#[test]
fn std_and_tokio_show_one_clock_which_never_goes_back() {
    let sim = Sim::new(7);
    let node = sim.node("n1");
    let drifts = node.clone();
    let looks = node.spawn("looks", async move {
        let (begun, of_std) = (Instant::now(), StdInstant::now());
        let mut last = (begun, of_std);
        for drift_ppm in [200, -100_000, 0, 500_000, -999_000, 0] {
            drifts.set_clock_drift(drift_ppm);
            sleep(ms(777)).await;
            let now = (Instant::now(), StdInstant::now());
            assert!(now.0 > last.0 && now.1 > last.1);
            last = now;
            let (ours, theirs) = (now.0 - begun, now.1 - of_std);
            assert!(ours.abs_diff(theirs) < Duration::from_micros(1), "{ours:?} {theirs:?}");
        }
    });
    sim.block_on(async move { looks.await.unwrap() }).unwrap();
}

/// Whatever the clock does while they wait, sleeps end when it shows their end, to the millisecond; those
/// among many too, which have wakers of their own.
#[test]
fn a_sleep_ends_by_the_clock_of_its_node_also_where_the_drift_changes_meanwhile() {
    for seed in 0..50 {
        let sim = Sim::new(seed);
        let node = sim.node("n1");
        let mut stream = Stream::new(seed);
        for at_ms in (0..60_000).step_by(400) {
            let (node, drift_ppm) = (node.clone(), stream.range(0, 600_000) as i32 - 300_000);
            let drift_ppm = if stream.below(3) == 0 { 0 } else { drift_ppm };
            sim.at(SimTime::from_millis(at_ms), move || node.set_clock_drift(drift_ppm));
        }
        let lengths: Vec<Duration> = (0..20).map(|_| ms(stream.range(1, 9_000))).collect();
        let sleeps = node.spawn("sleeps", async move {
            let one = |length: Duration| async move {
                let begun = Instant::now();
                sleep(length).await;
                let slept = begun.elapsed();
                let late = slept.checked_sub(length).expect("it ends too early");
                assert!(late <= ms(1) + Duration::from_micros(10), "{late:?} late");
            };
            let mut all: FuturesUnordered<_> = lengths.iter().map(|length| one(*length)).collect();
            while all.next().await.is_some() {}
            for length in lengths {
                one(length).await;
            }
        });
        sim.block_on(async move { sleeps.await.unwrap() }).unwrap();
    }
}

#[test]
fn a_step_of_the_date_moves_no_timer() {
    let sim = Sim::new(7);
    let node = sim.node("n1");
    let steps = node.clone();
    let second = Duration::from_secs(1);
    sim.after(second, move || steps.step_clock(detsim_executor::Skew::Ahead(1_000 * second)));
    let slept = node.spawn("sleeps", async move {
        let begun = Instant::now();
        sleep(2 * second).await;
        begun.elapsed()
    });
    let slept = sim.block_on(async move { slept.await.unwrap() }).unwrap();
    assert!((2 * second..2 * second + ms(2)).contains(&slept), "{slept:?}");
}

#[test]
fn another_node_notices_nothing() {
    let sim = Sim::new(7);
    let (fast, right) = (sim.node("fast"), sim.node("right"));
    fast.set_clock_drift(100_000);
    let world = sim.clone();
    let slept = right.spawn("sleeps", async move {
        let (begun, of_world) = (Instant::now(), world.now());
        sleep(ms(10_000)).await;
        (begun.elapsed(), world.now() - of_world)
    });
    let (own, world) = sim.block_on(async move { slept.await.unwrap() }).unwrap();
    assert!(own.abs_diff(world) < Duration::from_micros(1) && own >= ms(10_000), "{own:?}");
}
