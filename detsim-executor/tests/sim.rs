//! What `Sim` promises, from the outside.

use detsim_executor::{
    Failure, Sim, SimConfig, SimTime, Strategy, context, sleep_until, yield_now,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A list that callbacks append to.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn add(&self, text: impl Into<String>) {
        self.0.borrow_mut().push(text.into());
    }

    fn adder(&self, text: &str) -> impl FnOnce() + 'static {
        let (log, text) = (self.clone(), text.to_owned());
        move || log.add(text)
    }

    fn lines(&self) -> String {
        self.0.borrow().join(" ")
    }
}

#[test]
fn callbacks_run_in_the_order_of_time_then_of_asking() {
    let (sim, log) = (Sim::new(1), Log::default());
    sim.at(SimTime::from_millis(5), log.adder("late"));
    sim.at(SimTime::from_millis(2), log.adder("a"));
    sim.at(SimTime::from_millis(2), log.adder("b"));
    sim.immediately(log.adder("now"));
    let report = sim.run().unwrap();
    assert_eq!(log.lines(), "now a b late");
    assert_eq!((report.steps, report.now), (4, SimTime::from_millis(5)));
}

#[test]
fn a_moment_of_the_past_means_now() {
    let (sim, log) = (Sim::new(1), Log::default());
    let (inner, inner_log) = (sim.clone(), log.clone());
    sim.at(SimTime::from_millis(9), move || {
        inner.at(SimTime::from_millis(3), inner_log.adder("x"))
    });
    assert_eq!(sim.run().unwrap().now, SimTime::from_millis(9));
    assert_eq!(log.lines(), "x");
}

#[test]
fn run_until_includes_its_moment_and_leaves_the_clock_there() {
    let (sim, log) = (Sim::new(1), Log::default());
    sim.at(SimTime::from_millis(5), log.adder("at"));
    sim.at(SimTime::from_millis(6), log.adder("after"));
    sim.run_until(SimTime::from_millis(5)).unwrap();
    assert_eq!((log.lines().as_str(), sim.now()), ("at", SimTime::from_millis(5)));
    sim.run_until(SimTime::from_millis(50)).unwrap();
    assert_eq!((log.lines().as_str(), sim.now()), ("at after", SimTime::from_millis(50)));
}

#[test]
fn short_runs_add_up_from_the_furthest_horizon() {
    let (sim, log) = (Sim::new(1), Log::default());
    sim.at(SimTime::from_millis(10), log.adder("x"));
    for _ in 0..10 {
        sim.run_for(MS).unwrap();
    }
    assert_eq!((log.lines().as_str(), sim.now()), ("x", SimTime::from_millis(10)));
}

#[test]
fn a_task_sleeps_in_virtual_time_and_gives_its_result() {
    let sim = Sim::new(1);
    let out = sim.block_on(async {
        let started = context::now();
        sleep_until(started + Duration::from_secs(3600)).await;
        (context::now() - started).as_secs()
    });
    assert_eq!(out.unwrap(), 3600);
}

#[test]
fn the_same_seed_gives_the_same_run_and_others_differ() {
    let run = |seed| {
        let (sim, log) = (Sim::new(seed), Log::default());
        for name in ["a", "b", "c"] {
            let log = log.clone();
            drop(sim.spawn(name, async move {
                for _ in 0..5 {
                    log.add(name);
                    yield_now().await;
                }
            }));
        }
        let report = sim.run().unwrap();
        (log.lines(), report)
    };
    assert_eq!(run(1), run(1));
    let orders: std::collections::BTreeSet<String> = (0..20).map(|seed| run(seed).0).collect();
    assert!(orders.len() > 15, "{} orders of 20 seeds", orders.len());
}

#[test]
fn fifo_is_round_robin() {
    let config = || {
        let mut config = SimConfig::default();
        config.strategy = Strategy::Fifo;
        config
    };
    let (sim, log) = (Sim::with_config(3, config()), Log::default());
    for name in ["a", "b"] {
        let log = log.clone();
        drop(sim.spawn(name, async move {
            for _ in 0..3 {
                log.add(name);
                yield_now().await;
            }
        }));
    }
    sim.run().unwrap();
    assert_eq!(log.lines(), "a b a b a b");
}

#[test]
fn a_panic_reaches_its_handle() {
    let sim = Sim::new(1);
    let error = sim.block_on(async {
        let child = context::spawn("child", async { panic!("boom {}", 7) });
        let child: Result<(), _> = child.await;
        child.unwrap_err()
    });
    let error = error.unwrap();
    assert!(error.is_panic());
    assert_eq!(error.to_string(), "task 1 panicked with message \"boom 7\"");
}

#[test]
fn a_panic_nobody_takes_fails_the_run() {
    let sim = Sim::new(9);
    drop(sim.node("n1").spawn("child", async { panic!("boom") }));
    let failure = sim.run().unwrap_err();
    assert!(matches!(&failure, Failure::Panic(panic) if panic.message == "boom"));
    let text = failure.to_string();
    assert!(
        text.starts_with("PANIC at 0.000000s, step 1, seed 9 in task 0 \"child\" on n1"),
        "{text}"
    );
    assert_eq!(failure.signature(), "panic boom");
}

#[test]
fn a_panic_whose_handle_is_dropped_unread_fails_the_run() {
    let sim = Sim::new(1);
    let child = sim.spawn("child", async { panic!("boom") });
    sim.run_until(SimTime::from_millis(1)).unwrap();
    sim.at(SimTime::from_millis(2), move || drop(child));
    assert!(matches!(sim.run(), Err(Failure::Panic(_))));
}

#[test]
fn a_callback_that_panics_fails_the_run_and_the_next() {
    let sim = Sim::new(1);
    sim.immediately(|| panic!("in a callback"));
    let failure = sim.run().unwrap_err();
    assert!(failure.to_string().contains("in the simulation"), "{failure}");
    assert_eq!(sim.run().unwrap_err(), failure);
}

#[test]
fn abort_drops_the_future_where_it_waits() {
    struct Noisy(Rc<Cell<u32>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let drops = Rc::new(Cell::new(0));
    let sim = Sim::new(1);
    let noisy = Noisy(Rc::clone(&drops));
    let error = sim.block_on(async move {
        let child = context::spawn("child", async move {
            let _noisy = noisy;
            std::future::pending::<()>().await;
        });
        yield_now().await;
        child.abort();
        child.await.unwrap_err()
    });
    assert!(error.unwrap().is_cancelled());
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_step_budget_ends_a_livelock() {
    let sim = Sim::new(1);
    sim.set_max_steps(1000);
    drop(sim.spawn("spinner", async {
        loop {
            yield_now().await;
        }
    }));
    let failure = sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "livelock");
    assert!(failure.to_string().contains("task 0 \"spinner\""), "{failure}");
}

#[test]
fn a_step_budget_with_timers_on_their_way_is_a_limit() {
    let sim = Sim::new(1);
    sim.set_max_steps(1000);
    drop(sim.spawn("ticker", async {
        loop {
            sleep_until(context::now() + MS).await;
        }
    }));
    drop(sim.spawn("far", async { sleep_until(SimTime::from_secs(1_000_000)).await }));
    assert_eq!(sim.run().unwrap_err().verdict(), "limit");
}

#[test]
fn an_early_end_leaves_no_timer_behind() {
    let sim = Sim::new(1);
    drop(sim.spawn("a", async {
        let mut far = Box::pin(sleep_until(SimTime::from_secs(3600)));
        std::future::poll_fn(|cx| {
            assert!(far.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
    }));
    assert!(sim.run().unwrap().now < SimTime::from_millis(1));
}

#[test]
fn a_stuck_task_is_a_deadlock_at_once() {
    let sim = Sim::new(4);
    let child = sim.spawn("child", std::future::pending::<()>());
    drop(sim.spawn("parent", async move { child.await.unwrap() }));
    let failure = sim.run().unwrap_err();
    let Failure::Deadlock(deadlock) = &failure else { panic!("{failure}") };
    assert_eq!(deadlock.tasks.len(), 2);
    let text = failure.to_string();
    assert!(text.contains("task 1 \"parent\""), "{text}");
    assert!(text.contains("still running: task 0 \"child\""), "{text}");
    assert!(text.contains("polled once more it returned Pending and kept no waker"), "{text}");
    assert!(text.contains("stack: sim::a_stuck_task_is_a_deadlock_at_once at"), "{text}");
}

#[test]
fn a_foreign_primitive_that_forgets_to_wake_is_a_lost_wakeup() {
    let sim = Sim::new(4);
    let ready = Rc::new(Cell::new(false));
    let seen = Rc::clone(&ready);
    drop(sim.spawn("sleepy", async move {
        std::future::poll_fn(|cx| {
            let _kept = cx.waker().clone();
            if seen.get() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }));
    sim.after(MS, move || ready.set(true));
    let failure = sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "lost wakeup");
    assert!(failure.to_string().contains("the wakeup was lost"), "{failure}");
}

#[test]
fn a_killed_node_loses_its_tasks_and_a_restart_runs_its_init() {
    let (sim, log) = (Sim::new(1), Log::default());
    let node = sim.node("n1");
    let init_log = log.clone();
    node.on_start(move || {
        let log = init_log.clone();
        drop(context::spawn("beat", async move {
            loop {
                log.add(format!("{}ms", context::now().as_millis()));
                sleep_until(context::now() + 10 * MS).await;
            }
        }));
    });
    sim.at(SimTime::from_millis(15), {
        let node = node.clone();
        move || node.kill()
    });
    sim.at(SimTime::from_millis(40), {
        let node = node.clone();
        move || node.restart()
    });
    sim.run_until(SimTime::from_millis(55)).unwrap();
    assert_eq!(log.lines(), "0ms 10ms 40ms 50ms");
}

#[test]
fn a_paused_node_does_nothing_until_it_resumes() {
    let (sim, log) = (Sim::new(1), Log::default());
    let node = sim.node("n1");
    let task_log = log.clone();
    drop(node.spawn("t", async move {
        sleep_until(SimTime::from_millis(10)).await;
        task_log.add(format!("{}ms", context::now().as_millis()));
    }));
    node.pause();
    sim.at(SimTime::from_millis(30), {
        let node = node.clone();
        move || node.resume()
    });
    sim.run().unwrap();
    assert_eq!(log.lines(), "30ms");
}

#[test]
#[should_panic(expected = "this simulation has ended")]
fn a_clone_that_outlives_its_simulation_says_so() {
    let clone = Sim::new(1).clone();
    clone.now();
}

#[test]
#[should_panic(expected = "no simulation is running on this thread")]
fn spawning_outside_of_a_run_says_so() {
    drop(context::spawn("x", async {}));
}

#[test]
fn a_run_inside_of_a_run_says_so() {
    let sim = Sim::new(1);
    let inner = sim.clone();
    sim.immediately(move || drop(inner.run()));
    assert!(sim.run().unwrap_err().to_string().contains("running already"));
}

#[test]
fn thousands_of_simulations_one_after_the_other_leave_nothing() {
    for seed in 0..10_000 {
        let sim = Sim::new(seed);
        let inner = sim.clone();
        sim.after(Duration::from_secs(9), move || assert!(inner.is_alive()));
        drop(sim.spawn("t", std::future::pending::<()>()));
        sim.run_until(SimTime::from_millis(1)).unwrap();
    }
}

#[test]
fn one_simulation_may_run_inside_another() {
    let outer = Sim::new(1);
    let inner_time = outer.block_on(async {
        let inner = Sim::new(2);
        let time = inner.block_on(async {
            sleep_until(SimTime::from_secs(5)).await;
            context::now().as_millis() / 1000
        });
        (time.unwrap(), context::now().as_millis())
    });
    assert_eq!(inner_time.unwrap(), (5, 0));
}

#[test]
fn a_recorded_run_replays_from_its_choices() {
    let run = |replay: Option<Vec<detsim_executor::Choice>>, record| {
        let mut config = SimConfig::default();
        (config.record, config.replay) = (record, replay);
        let (sim, log) = (Sim::with_config(11, config), Log::default());
        for name in ["a", "b", "c"] {
            let log = log.clone();
            drop(sim.spawn(name, async move {
                for _ in 0..4 {
                    log.add(name);
                    yield_now().await;
                }
            }));
        }
        sim.run().unwrap();
        (log.lines(), sim.hash(), sim.recorded_choices(), sim.unused_choices())
    };
    let (lines, hash, choices, _) = run(None, true);
    assert!(!choices.is_empty());
    let (plain_lines, plain_hash, ..) = run(None, false);
    assert_eq!((&lines, hash), (&plain_lines, plain_hash), "recording changes nothing");
    let (again, again_hash, _, unused) = run(Some(choices.clone()), false);
    assert_eq!((again, again_hash, unused), (lines, hash, 0));
    let (default, ..) = run(Some(Vec::new()), false);
    assert_eq!(default, "a b c a b c a b c a b c");
    run(Some(choices[1..].to_vec()), false);
}

/// Runs the youngest ready task first.
#[derive(Debug, Default)]
struct Youngest(Vec<u32>);

impl detsim_executor::Scheduler for Youngest {
    fn ready(&mut self, task: detsim_executor::scheduler::Ready) {
        self.0.push(task.slot);
    }
    fn pick(&mut self, _at: detsim_executor::scheduler::Pick) -> Option<u32> {
        self.0.pop()
    }
    fn preempt_after(&mut self) -> Option<u32> {
        None
    }
    fn remove(&mut self, slot: u32) {
        self.0.retain(|ready| *ready != slot);
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn default_pick(&self, _at: detsim_executor::scheduler::Pick) -> Option<u32> {
        self.0.last().copied()
    }
}

#[test]
fn a_scheduler_of_ones_own_decides() {
    let (sim, log) = (Sim::new(1), Log::default());
    sim.set_scheduler(Box::new(Youngest::default()));
    for name in ["a", "b", "c"] {
        let log = log.clone();
        drop(sim.spawn(name, async move { log.add(name) }));
    }
    sim.run().unwrap();
    assert_eq!(log.lines(), "c b a");
}

#[test]
fn tasks_that_are_ready_when_their_node_loses_its_power_are_gone() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let node = sim.node("n");
        for name in ["a", "b", "c"] {
            let spins = async {
                loop {
                    yield_now().await;
                }
            };
            drop(node.spawn(name, spins));
        }
        let crashed = node.clone();
        sim.after(Duration::from_nanos(500), move || crashed.crash());
        sim.run_for(Duration::from_micros(10)).unwrap();
        assert!(!node.is_up());
        node.restart();
        let task = node.spawn("d", yield_now());
        sim.block_on(task).unwrap().unwrap();
    }
}
