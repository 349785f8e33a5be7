//! A thread that made a runtime and does something else: what it starts, and where it waits.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_types, reason = "std's clock is among what is tested")]

use detsim_shim_tokio as tokio;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime, worker_index};
use tokio::sync::{Notify, oneshot};
use tokio::task::{self, spawn_blocking};
use tokio::time::sleep;

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// What the closure panics with.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("it panics");
    detsim_executor::message_of(&*payload)
}

#[test]
fn tasks_run_while_their_thread_waits_for_a_channel_of_stds() {
    let (runtime, (tx, rx)) = (multi_thread(), mpsc::channel());
    let start = Instant::now();
    runtime.spawn(async move {
        sleep(Duration::from_secs(3)).await;
        tx.send(7).unwrap();
    });
    assert_eq!(rx.recv(), Ok(7));
    assert!((3..4).contains(&start.elapsed().as_secs()), "std's clock is the run's");
}

#[test]
fn a_task_that_parks_its_thread_does_not_park_who_waits_outside() {
    let (runtime, (tx, rx)) = (multi_thread(), mpsc::channel());
    let hold: Vec<_> = (0..4)
        .map(|_| {
            let (tx, (hold, held)) = (tx.clone(), mpsc::channel::<()>());
            runtime.spawn(async move {
                tx.send(()).unwrap();
                held.recv().unwrap_err();
            });
            hold
        })
        .collect();
    for _ in 0..4 {
        rx.recv_timeout(Duration::from_secs(1)).unwrap();
    }
    assert_eq!(runtime.metrics().num_alive_tasks(), 4, "nothing of them is gone");
    drop(hold);
}

#[test]
fn a_thread_spawns_on_the_runtime_while_somebody_blocks_on_it() {
    for runtime in [current_thread(), multi_thread()] {
        let (handle, (tx, rx)) = (runtime.handle().clone(), oneshot::channel());
        let thread = thread::Builder::new().spawn(move || {
            sleep_std(Duration::from_millis(50));
            handle.spawn(async move { tx.send(7).unwrap() });
        });
        assert_eq!(runtime.block_on(rx), Ok(7));
        thread.unwrap().join().unwrap();
    }
}

/// A sleep of std's: the lints know `thread::sleep` by its name.
fn sleep_std(time: Duration) {
    let (_tx, rx) = mpsc::channel::<()>();
    assert!(rx.recv_timeout(time).is_err());
}

#[test]
fn two_threads_block_on_one_runtime() {
    let runtime = Arc::new(current_thread());
    let (entered, (tx, rx)) = (Arc::new(Barrier::new(2)), oneshot::channel());
    let (owned, arrived) = (Arc::clone(&runtime), Arc::clone(&entered));
    let owner = thread::Builder::new().spawn(move || {
        owned.block_on(async {
            arrived.wait();
            rx.await.unwrap();
            worker_index()
        })
    });
    entered.wait();
    let other = Arc::clone(&runtime);
    let other = thread::Builder::new().spawn(move || other.block_on(async { worker_index() }));
    assert_eq!(other.unwrap().join().unwrap(), None);
    tx.send(()).unwrap();
    assert_eq!(owner.unwrap().join().unwrap(), Some(0));
}

#[test]
fn a_thread_of_the_programs_has_no_runtime() {
    let runtime = current_thread();
    let seen = runtime.block_on(async {
        let thread = thread::Builder::new()
            .spawn(|| (Handle::try_current().is_err(), panic_of(|| tokio::spawn(async {}))));
        thread.unwrap().join().unwrap()
    });
    assert!(seen.0 && seen.1.starts_with("there is no reactor running"), "{}", seen.1);
}

#[test]
fn who_waits_for_a_thread_that_never_ends_is_told_so() {
    let _runtime = current_thread();
    let (_tx, rx) = mpsc::channel::<()>();
    let thread = thread::Builder::new().spawn(move || rx.recv());
    let words = panic_of(|| thread.unwrap().join());
    assert!(words.contains("Resource deadlock avoided"), "{words}");
}

#[test]
fn who_waits_for_a_message_that_never_comes_is_told_so() {
    let _runtime = current_thread();
    let (_tx, rx) = mpsc::channel::<()>();
    let report = panic_of(|| rx.recv());
    assert!(report.starts_with("DEADLOCK"), "{report}");
}

#[test]
fn a_thread_whose_run_has_failed_still_waits_for_others() {
    let seen = Arc::new((Mutex::new(0), Condvar::new()));
    let (others, (go, gone)) = (Arc::clone(&seen), mpsc::channel());
    // It starts before there is a run, and gets the lock when this thread waits.
    let other = thread::Builder::new().spawn(move || {
        gone.recv().unwrap();
        *others.0.lock().unwrap() = 7;
        others.1.notify_one();
    });
    let runtime = current_thread();
    let (_tx, rx) = mpsc::channel::<()>();
    assert!(panic_of(|| rx.recv()).starts_with("DEADLOCK"));
    drop(runtime);
    let mut number = seen.0.lock().unwrap();
    go.send(()).unwrap();
    while *number == 0 {
        number = seen.1.wait(number).unwrap();
    }
    drop(number);
    other.unwrap().join().unwrap();
}

#[test]
fn a_handle_blocks_without_an_owner() {
    let runtime = current_thread();
    let handle = runtime.handle();
    assert_eq!(handle.block_on(async { 7 }), 7);
    assert_eq!(handle.block_on(async { spawn_blocking(|| 7).await.unwrap() }), 7);
    let _entered = runtime.enter();
    assert_eq!(handle.block_on(spawn_blocking(worker_index)).unwrap(), None);
}

#[test]
fn an_owner_drives_its_runtime_from_a_blocking_closure() {
    let outer = multi_thread();
    let seen = outer.block_on(async {
        task::spawn(async {
            task::block_in_place(|| {
                let inner = current_thread();
                inner.block_on(inner.spawn(async { 7 })).unwrap()
            })
        })
        .await
        .unwrap()
    });
    assert_eq!(seen, 7);
}

#[test]
fn a_runtime_that_was_shut_down_still_blocks() {
    for runtime in [current_thread(), multi_thread()] {
        let handle = runtime.handle().clone();
        let begun = handle.spawn_blocking(|| {
            sleep_std(Duration::from_secs(1));
            7
        });
        runtime.shutdown_timeout(Duration::from_secs(1000));
        assert!(begun.is_finished(), "a shutdown waits for what has begun");
        let _entered = handle.enter();
        assert_eq!(handle.block_on(begun).unwrap(), 7);
        assert!(handle.block_on(spawn_blocking(|| 7)).unwrap_err().is_cancelled());
        let words = panic_of(|| handle.block_on(async { sleep(Duration::from_secs(1)).await }));
        assert_eq!(words, "A Tokio 1.x context was found, but it is being shutdown.");
    }
}

#[test]
fn a_shutdown_waits_no_longer_than_it_is_told() {
    let runtime = multi_thread();
    let notify = Arc::new(Notify::new());
    let waits = Arc::clone(&notify);
    let handle = runtime.handle().clone();
    let closure = runtime.spawn_blocking(move || handle.block_on(waits.notified()));
    let start = Instant::now();
    runtime.shutdown_timeout(Duration::from_secs(5));
    assert!((5..6).contains(&start.elapsed().as_secs()) && !closure.is_finished());
    notify.notify_one();
    current_thread().block_on(closure).unwrap();
}

#[test]
fn a_closure_is_polled_as_often_as_it_asks() {
    let seen = multi_thread().block_on(async {
        let (tx, mut rx) = tokio::sync::mpsc::unbounded_channel();
        (0..1000).for_each(|i| tx.send(i).unwrap());
        spawn_blocking(move || {
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            (0..1000).all(|_| rx.poll_recv(&mut cx).is_ready())
        })
        .await
    });
    assert!(seen.unwrap());
}

#[cfg(feature = "net")]
#[test]
fn a_shutdown_ends_the_waits_for_its_sockets() {
    use tokio::net::TcpListener;
    use tokio::runtime::is_rt_shutdown_err;
    let (owner, other) = (multi_thread(), multi_thread());
    let listener = owner.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let waits = other.spawn(async move { listener.accept().await.map(drop) });
    other.block_on(async { sleep(Duration::from_secs(1)).await });
    let handle = owner.handle().clone();
    drop(owner);
    let error = other.block_on(waits).unwrap().unwrap_err();
    assert!(is_rt_shutdown_err(&error), "{error}");
    let _entered = handle.enter();
    let error = other.block_on(other.spawn(TcpListener::bind("127.0.0.1:0")));
    assert!(error.unwrap().is_ok(), "the other runtime goes on");
    let error = handle.block_on(TcpListener::bind("127.0.0.1:0")).unwrap_err();
    assert!(is_rt_shutdown_err(&error), "{error}");
}

#[cfg(feature = "fs")]
#[test]
fn files_and_streams_go_with_their_runtime() {
    use tokio::io::AsyncWriteExt;
    let runtime = current_thread();
    let handle = runtime.handle().clone();
    drop(runtime);
    let error = handle.block_on(tokio::fs::read("Cargo.toml")).unwrap_err();
    assert_eq!(error.to_string(), "background task failed");
    let write = async { tokio::io::stdout().write_all(b"x").await };
    assert!(tokio::runtime::is_rt_shutdown_err(&handle.block_on(write).unwrap_err()));
}

/// A thread that is part of no run: it starts before there is one, and is given a handle to it.
fn foreigner<R: Send + 'static>(
    f: impl FnOnce(Handle) -> R + Send + 'static,
) -> (mpsc::Sender<Handle>, thread::JoinHandle<R>) {
    let (give, given) = mpsc::channel();
    let thread = thread::Builder::new().spawn(move || f(given.recv().unwrap()));
    (give, thread.unwrap())
}

#[test]
fn a_thread_of_no_run_spawns_in_one_and_joins() {
    for runtime in [current_thread, multi_thread] {
        let (spawned, arrived) = mpsc::channel();
        let (give, thread) = foreigner(move |handle| {
            let sum = handle.spawn(async {
                sleep(Duration::from_secs(1)).await;
                tokio::spawn(async { 1 + 1 }).await.unwrap()
            });
            let closure = handle.spawn_blocking(|| 3);
            let lost = handle.spawn(std::future::pending::<()>());
            lost.abort();
            let _entered = handle.enter();
            let entered = tokio::spawn(async { Handle::current().id() });
            assert_ne!(sum.id(), lost.id());
            spawned.send(()).unwrap();
            let joined = futures::executor::block_on(async {
                (sum.await, closure.await, lost.await, entered.await)
            });
            let (sum, closure, lost, entered) = joined;
            assert_eq!(entered.unwrap(), handle.id());
            (sum.unwrap(), closure.unwrap(), lost.unwrap_err().is_cancelled())
        });
        let runtime = runtime();
        give.send(runtime.handle().clone()).unwrap();
        arrived.recv().unwrap();
        runtime.block_on(async { sleep(Duration::from_secs(5)).await });
        assert_eq!(thread.join().unwrap(), (2, 3, true));
    }
}

#[test]
fn what_is_sent_to_a_run_that_ends_is_cancelled() {
    let (give, thread) = foreigner(|handle| {
        let (guard, dropped) = mpsc::channel::<()>();
        let task = handle.spawn(async move { guard.send(()).unwrap() });
        let joined = futures::executor::block_on(task);
        (joined.unwrap_err().is_cancelled(), dropped.recv().is_err())
    });
    let sim = detsim_executor::Sim::new(1);
    let handle = sim.enter(|| current_thread().handle().clone());
    give.send(handle).unwrap();
    drop(sim);
    assert_eq!(thread.join().unwrap(), (true, true));
}

#[test]
fn a_run_says_that_it_was_spawned_on_from_elsewhere() {
    let sim = detsim_executor::Sim::new(1);
    let runtime = sim.enter(current_thread);
    let (give, thread) = foreigner(|handle| drop(handle.spawn(async {})));
    give.send(runtime.handle().clone()).unwrap();
    thread.join().unwrap();
    let escapes = sim.take_escapes();
    assert!(escapes.iter().any(|it| it.starts_with("spawn on runtime by a thread")), "{escapes:?}");
    sim.enter(|| drop(runtime));
}

/// A thread of no run that blocks on a runtime for good, and what it is told in the end, when it is inside.
fn blocked_stranger() -> (detsim_executor::Sim, oneshot::Receiver<()>, thread::JoinHandle<String>) {
    let (tx, inside) = oneshot::channel();
    let (give, thread) = foreigner(move |handle| {
        panic_of(|| {
            handle.block_on(async {
                tx.send(()).unwrap();
                std::future::pending::<()>().await;
            });
        })
    });
    let mut config = detsim_executor::SimConfig::default();
    config.expects_others = true;
    let sim = detsim_executor::Sim::with_config(1, config);
    give.send(sim.enter(|| multi_thread().handle().clone())).unwrap();
    (sim, inside, thread)
}

#[test]
fn who_visits_a_run_that_fails_is_told_why() {
    let (sim, inside, thread) = blocked_stranger();
    let ended: Result<(), _> = sim.block_on(async {
        inside.await.unwrap();
        panic!("as it is to");
    });
    assert!(ended.is_err());
    let words = thread.join().unwrap();
    assert!(words.contains("as it is to"), "{words}");
}

#[test]
fn who_visits_a_run_that_ends_is_told_so() {
    let (sim, inside, thread) = blocked_stranger();
    sim.block_on(async { inside.await.unwrap() }).unwrap();
    drop(sim);
    let words = thread.join().unwrap();
    assert!(words.contains("not part of its run"), "{words}");
}
