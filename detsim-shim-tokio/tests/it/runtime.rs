//! Runtimes: several in one run, built in a run and outside of any.

use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tokio::runtime::{Builder, Handle, LocalOptions, Runtime, RuntimeFlavor};
use tokio::sync::oneshot;
use tokio::task::{self, LocalSet, spawn_local};
use tokio::time::{Duration, Instant, sleep};

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// What the closure panics with.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("it panics");
    detsim_executor::message_of(&*payload)
}

#[test]
fn a_future_that_borrows_is_blocked_on_outside_of_any_run() {
    let (runtime, text) = (current_thread(), String::from("borrowed"));
    let got = runtime.block_on(async {
        task::yield_now().await;
        text.as_str()
    });
    assert_eq!(got, "borrowed");
}

#[test]
fn a_task_of_a_current_thread_runtime_waits_for_somebody_to_block() {
    let (runtime, other) = (current_thread(), current_thread());
    let (tx, mut rx) = oneshot::channel();
    runtime.spawn(async move { tx.send(7).unwrap() });
    other.block_on(async { sleep(Duration::from_secs(1)).await });
    assert!(rx.try_recv().is_err());
    assert_eq!(runtime.block_on(rx), Ok(7));
}

#[test]
fn a_multi_thread_runtime_goes_on_while_another_is_blocked_on() {
    let (busy, other) = (Runtime::new().unwrap(), current_thread());
    let task = busy.spawn(async { 7 });
    other.block_on(async { sleep(Duration::from_secs(1)).await });
    assert!(task.is_finished());
}

#[test]
fn a_panic_comes_out_of_block_on_and_the_runtime_lives() {
    let runtime = current_thread();
    assert_eq!(panic_of(|| runtime.block_on(async { panic!("boom") })), "boom");
    assert_eq!(runtime.block_on(async { 7 }), 7);
}

#[test]
fn who_waits_for_nothing_is_told_so() {
    let runtime = current_thread();
    let report = panic_of(|| {
        runtime.block_on(async {
            let (_tx, rx) = oneshot::channel::<()>();
            rx.await
        })
    });
    assert!(report.starts_with("DEADLOCK"), "{report}");
    assert!(
        report.contains("\"main\", spawned at detsim-shim-tokio/tests/it/runtime.rs"),
        "{report}"
    );
    assert_eq!(current_thread().block_on(async { 7 }), 7);
}

#[test]
fn the_panic_of_a_detached_task_is_no_failure_where_nobody_opened_a_run() {
    let runtime = current_thread();
    drop(runtime.spawn(async { panic!("nobody hears of it") }));
    runtime.block_on(async { sleep(Duration::from_secs(1)).await });
}

#[test]
fn dropping_a_runtime_drops_its_tasks_in_its_context() {
    struct Tells(Arc<AtomicU32>);
    impl Drop for Tells {
        fn drop(&mut self) {
            Handle::current();
            self.0.fetch_add(1, Relaxed);
        }
    }
    for runtime in [current_thread(), Runtime::new().unwrap()] {
        let dropped = Arc::new(AtomicU32::new(0));
        for _ in 0..3 {
            let tells = Tells(Arc::clone(&dropped));
            runtime.spawn(async move {
                let _tells = tells;
                std::future::pending::<()>().await;
            });
        }
        runtime.block_on(task::yield_now());
        let handle = runtime.handle().clone();
        drop(runtime);
        assert_eq!(dropped.load(Relaxed), 3);
        assert!(handle.spawn(async {}).is_finished());
    }
}

#[test]
fn nesting_panics_in_tokios_words() {
    let (runtime, other) = (current_thread(), current_thread());
    let words = panic_of(|| runtime.block_on(async { other.block_on(async {}) }));
    assert!(words.starts_with("Cannot start a runtime from within a runtime."), "{words}");
    let words = panic_of(|| runtime.block_on(async { drop(current_thread()) }));
    assert!(words.starts_with("Cannot drop a runtime in a context where"), "{words}");
    runtime.block_on(async { current_thread().shutdown_background() });
}

#[test]
fn the_current_runtime_is_what_was_entered_and_then_the_tasks() {
    let words = panic_of(Handle::current);
    assert!(words.starts_with("there is no reactor running"), "{words}");
    let (one, two) = (current_thread(), Runtime::new().unwrap());
    let entered = one.enter();
    assert_eq!(Handle::current().id(), one.handle().id());
    two.block_on(async {
        assert_eq!(Handle::current().id(), two.handle().id());
        let inner = one.enter();
        assert_eq!(Handle::current().runtime_flavor(), RuntimeFlavor::CurrentThread);
        drop(inner);
        let of_task = tokio::spawn(async { Handle::current().id() }).await.unwrap();
        assert_eq!(of_task, two.handle().id());
    });
    drop(entered);
    assert!(Handle::try_current().unwrap_err().is_missing_context());
}

#[test]
fn guards_are_dropped_in_the_reverse_order() {
    let (one, two) = (current_thread(), current_thread());
    let words = panic_of(|| {
        let first = one.enter();
        let _second = two.enter();
        drop(first);
    });
    assert!(words.starts_with("`EnterGuard` values dropped out of order."), "{words}");
    // The one that was not dropped in its turn stays entered, as on tokio.
    assert_eq!(Handle::current().id(), one.handle().id());
    assert_eq!(two.block_on(async { Handle::current().id() }), two.handle().id());
}

#[test]
fn runtimes_made_in_a_run_are_of_that_run() {
    let sim = Sim::new(3);
    let sum = sim.block_on(async {
        let runtimes = [Runtime::new().unwrap(), Runtime::new().unwrap()];
        let tasks = runtimes.each_ref().map(|runtime| {
            runtime.spawn(async {
                sleep(Duration::from_secs(1)).await;
                Instant::now()
            })
        });
        let mut moments = Vec::new();
        for task in tasks {
            moments.push(task.await.unwrap());
        }
        runtimes.into_iter().for_each(Runtime::shutdown_background);
        moments
    });
    assert_eq!(sum.unwrap().len(), 2);
    assert_eq!(sim.now().as_nanos() / 1_000_000_000, 1);
}

#[test]
fn without_time_there_is_no_sleep() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let words = panic_of(|| runtime.block_on(async { sleep(Duration::ZERO).await }));
    assert!(words.contains("timers are disabled"), "{words}");
}

#[test]
fn a_paused_clock_is_its_runtimes() {
    let paused = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let reads = || async { (0..3).map(|_| Instant::now()).collect::<Vec<_>>() };
    let still = paused.block_on(reads());
    assert_eq!(still[0], still[2]);
    let moves = current_thread().block_on(reads());
    assert!(moves[0] < moves[2]);
    let still = paused.block_on(reads());
    assert_eq!(still[0], still[2]);
}

#[test]
fn hooks_are_called_for_each_worker() {
    let counts = [(); 4].map(|()| Arc::new(AtomicU32::new(0)));
    let count = |index: usize| {
        let count = Arc::clone(&counts[index]);
        move || {
            count.fetch_add(1, Relaxed);
        }
    };
    let seen = || counts.each_ref().map(|count| count.load(Relaxed));
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().on_thread_start(count(0)).on_thread_stop(count(1));
    let runtime = builder.on_thread_park(count(2)).on_thread_unpark(count(3)).build().unwrap();
    assert_eq!(seen(), [2, 0, 0, 0]);
    runtime.block_on(async { sleep(Duration::from_millis(1)).await });
    assert_eq!(seen(), [2, 0, 2, 2]);
    drop(runtime);
    assert_eq!(seen(), [2, 2, 2, 2]);
}

#[test]
fn a_hook_that_wakes_keeps_the_run_from_being_stuck() {
    let (tx, rx) = oneshot::channel();
    let tx = std::sync::Mutex::new(Some(tx));
    let mut builder = Builder::new_current_thread();
    builder.on_thread_park(move || {
        if let Some(tx) = tx.lock().unwrap().take() {
            tokio::spawn(async move { tx.send(7).unwrap() });
        }
    });
    assert_eq!(builder.build().unwrap().block_on(rx), Ok(7));
}

#[test]
fn metrics_count_tasks_and_workers() {
    let runtime = Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
    let metrics = runtime.metrics();
    assert_eq!((metrics.num_workers(), metrics.num_alive_tasks()), (3, 0));
    runtime.spawn(std::future::pending::<()>());
    assert_eq!((metrics.global_queue_depth(), metrics.num_alive_tasks()), (1, 1));
    runtime.block_on(async { sleep(Duration::from_millis(1)).await });
    assert_eq!((metrics.global_queue_depth(), metrics.num_alive_tasks()), (0, 1));
    drop(runtime);
    assert_eq!(metrics.num_alive_tasks(), 0);
    assert!(metrics.worker_total_busy_duration(2) > Duration::ZERO);
}

#[test]
fn a_local_runtime_takes_tasks_that_are_not_send() {
    let builder = &mut Builder::new_current_thread();
    let runtime = builder.build_local(LocalOptions::default()).unwrap();
    let shared = std::rc::Rc::new(7);
    let other = std::rc::Rc::clone(&shared);
    let task =
        runtime.spawn_local(async move { spawn_local(async move { *other }).await.unwrap() });
    assert_eq!(runtime.block_on(task).unwrap(), 7);
    let words = panic_of(|| current_thread().block_on(async { drop(spawn_local(async {})) }));
    assert!(words.contains("called from outside of a `task::LocalSet`"), "{words}");
}

#[test]
fn local_tasks_run_while_somebody_waits_for_them() {
    let runtime = current_thread();
    let local = LocalSet::new();
    let count = std::rc::Rc::new(std::cell::Cell::new(0));
    let counts = std::rc::Rc::clone(&count);
    local.spawn_local(async move {
        loop {
            counts.set(counts.get() + 1);
            sleep(Duration::from_millis(1)).await;
        }
    });
    runtime.block_on(async { sleep(Duration::from_millis(5)).await });
    assert_eq!(count.get(), 0);
    local.block_on(&runtime, async { sleep(Duration::from_millis(5)).await });
    let seen = count.get();
    assert!(seen >= 4, "{seen}");
    runtime.block_on(async { sleep(Duration::from_millis(5)).await });
    assert_eq!(count.get(), seen);
    drop(local);
    assert_eq!(std::rc::Rc::strong_count(&count), 1);
}

#[test]
fn a_local_set_waits_for_all_of_its_tasks() {
    let sim = Sim::new(1);
    let seen = sim.block_on(async {
        let local = LocalSet::new();
        let count = std::rc::Rc::new(std::cell::Cell::new(0));
        for ms in 1..4 {
            let count = std::rc::Rc::clone(&count);
            local.spawn_local(async move {
                sleep(Duration::from_millis(ms)).await;
                spawn_local(async move { count.set(count.get() + 1) });
            });
        }
        local.await;
        count.get()
    });
    assert_eq!(seen, Ok(3));
}

#[test]
fn a_join_set_joins_in_the_order_of_ends() {
    let runtime = current_thread();
    let order = runtime.block_on(async {
        let mut set = task::JoinSet::new();
        for ms in [3, 1, 2] {
            set.spawn(async move {
                sleep(Duration::from_millis(ms)).await;
                ms
            });
        }
        let aborted = set.spawn(std::future::pending());
        aborted.abort();
        let mut order = Vec::new();
        while let Some(joined) = set.join_next().await {
            order.push(joined.map_err(|error| error.is_cancelled()));
        }
        order
    });
    assert_eq!(order, [Err(true), Ok(1), Ok(2), Ok(3)]);
}
