//! Threads that belong to no run use its runtimes: they block on them, and drop them.

use super::tokio;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep;

fn thread<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> JoinHandle<R> {
    thread::Builder::new().spawn(f).unwrap()
}

/// A thread that starts before there is a run, and is given something then.
fn stranger<T: Send + 'static, R: Send + 'static>(
    f: impl FnOnce(T) -> R + Send + 'static,
) -> (mpsc::Sender<T>, JoinHandle<R>) {
    let (give, given) = mpsc::channel();
    let started = Arc::new(Barrier::new(2));
    let starts = Arc::clone(&started);
    let thread = thread(move || {
        starts.wait();
        f(given.recv().unwrap())
    });
    started.wait();
    (give, thread)
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// What is done on a runtime.
async fn work(number: u32) -> u32 {
    let task = tokio::spawn(async move {
        sleep(Duration::from_millis(1)).await;
        number + 1
    });
    let closure = tokio::task::spawn_blocking(move || number);
    task.await.unwrap() + closure.await.unwrap()
}

pub(crate) fn a_stranger_blocks_on_a_handle() -> String {
    let (give, other) = stranger(|handle: Handle| handle.block_on(work(1)));
    let runtime = multi_thread();
    give.send(runtime.handle().clone()).unwrap();
    let other = other.join().unwrap();
    format!("{other} {}", runtime.block_on(work(2)))
}

pub(crate) fn a_stranger_blocks_while_the_owner_does() -> String {
    let mut seen = Vec::new();
    for runtime in [current_thread, multi_thread] {
        let (tx, rx) = oneshot::channel();
        let (give, other) = stranger(move |handle: Handle| {
            let sum = handle.block_on(work(3));
            tx.send(sum).unwrap();
            sum
        });
        let runtime = runtime();
        give.send(runtime.handle().clone()).unwrap();
        let sum = runtime.block_on(async { rx.await.unwrap() });
        seen.push(sum + other.join().unwrap());
    }
    format!("{seen:?}")
}

pub(crate) fn strangers_share_a_runtime() -> String {
    let strangers = [0, 1, 2, 3].map(|number| {
        stranger(move |runtime: Arc<Runtime>| {
            let all = runtime.block_on(async move { work(number).await });
            // A current_thread runtime is driven by one of them, or by none.
            all + runtime.block_on(async { 1 })
        })
    });
    let runtime = Arc::new(multi_thread());
    let threads = strangers.map(|(give, thread)| {
        give.send(Arc::clone(&runtime)).unwrap();
        thread
    });
    format!("{:?}", threads.map(|thread| thread.join().unwrap()))
}

pub(crate) fn strangers_wait_for_each_other() -> String {
    let (first, second) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let waits = |mine: &Arc<Notify>, other: &Arc<Notify>| {
        let (mine, other) = (Arc::clone(mine), Arc::clone(other));
        stranger(move |runtime: Arc<Runtime>| {
            runtime.block_on(async {
                other.notify_one();
                mine.notified().await;
                other.notify_one();
            });
        })
    };
    let strangers = [waits(&first, &second), waits(&second, &first)];
    let runtime = Arc::new(current_thread());
    let threads = strangers.map(|(give, thread)| {
        give.send(Arc::clone(&runtime)).unwrap();
        thread
    });
    format!("{:?}", threads.map(|thread| thread.join().is_ok()))
}

pub(crate) fn a_runtime_is_dropped_elsewhere() -> String {
    let mut seen = Vec::new();
    for runtime in [current_thread, multi_thread] {
        let (give, other) = stranger(|runtime: Runtime| drop(runtime));
        let runtime = runtime();
        let (guard, dropped) = mpsc::channel::<()>();
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(guard);
        });
        let handle = runtime.handle().clone();
        give.send(runtime).unwrap();
        seen.push(dropped.recv().is_err());
        other.join().unwrap();
        seen.push(handle.spawn(async {}).is_finished());
    }
    format!("{seen:?}")
}

pub(crate) fn a_runtime_outlives_the_thread_that_made_it() -> String {
    let (give, other) = stranger(|runtime: Arc<Runtime>| {
        let sum = runtime.block_on(work(1)) + runtime.handle().block_on(work(2));
        drop(runtime);
        sum
    });
    let maker = thread(move || {
        let runtime = Arc::new(multi_thread());
        let sum = runtime.block_on(work(0));
        (runtime, sum)
    });
    let (runtime, sum) = maker.join().unwrap();
    give.send(Arc::clone(&runtime)).unwrap();
    let other = other.join().unwrap();
    format!("{sum} {other} {}", runtime.block_on(work(3)))
}

pub(crate) fn who_is_still_in_it_goes_on_without_the_maker() -> String {
    let go = Arc::new(Notify::new());
    let waits = Arc::clone(&go);
    let (inside, is_inside) = mpsc::channel();
    let (give, other) = stranger(move |runtime: Arc<Runtime>| {
        runtime.block_on(async {
            inside.send(()).unwrap();
            waits.notified().await;
            work(5).await
        })
    });
    let maker = thread(move || {
        let runtime = Arc::new(multi_thread());
        give.send(Arc::clone(&runtime)).unwrap();
        is_inside.recv().unwrap();
        runtime
    });
    let runtime = maker.join().unwrap();
    go.notify_one();
    let other = other.join().unwrap();
    drop(runtime);
    format!("{other}")
}

pub(crate) fn an_owner_waits_for_who_has_not_come_yet() -> String {
    let (give, other) = stranger(|tx: oneshot::Sender<u32>| {
        (0..1000).for_each(|_| thread::yield_now());
        tx.send(7).unwrap();
    });
    let runtime = current_thread();
    let (tx, rx) = oneshot::channel();
    give.send(tx).unwrap();
    let seven = runtime.block_on(rx).unwrap();
    other.join().unwrap();
    format!("{seven}")
}

pub(crate) fn a_panic_is_the_strangers_own() -> String {
    let (give, other) = stranger(|runtime: Arc<Runtime>| {
        let blocks = || runtime.block_on(async { panic!("as it is to") });
        let payload = catch_unwind(AssertUnwindSafe(blocks)).unwrap_err();
        let words = payload.downcast_ref::<&str>().copied().map(str::to_owned);
        (words, runtime.block_on(work(1)))
    });
    let runtime = Arc::new(current_thread());
    give.send(Arc::clone(&runtime)).unwrap();
    // Somebody has to drive a current_thread runtime for its tasks; who is first does.
    let other = other.join().unwrap();
    format!("{other:?} {}", runtime.block_on(work(2)))
}
