//! Reports of deadlocks: every one names the resource, who has it since which line, and the cycle.

use crate::fifo;
use detsim_shim_tokio as tokio;
use expect_test::{Expect, expect};
use std::sync::Arc;
use tokio::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch,
};
use tokio::task::yield_now;

/// Runs a program that gets stuck, and compares its report.
#[track_caller]
fn check(program: impl Future<Output = ()> + 'static, expected: Expect) {
    let sim = fifo();
    drop(sim.spawn("main", program));
    let failure = sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "deadlock", "{failure}");
    expected.assert_eq(&failure.to_string());
}

#[test]
fn two_locks_in_two_orders() {
    async fn both(first: Arc<Mutex<()>>, second: Arc<Mutex<()>>) {
        let _first = first.lock().await;
        yield_now().await;
        let _second = second.lock().await;
    }
    check(
        async {
            let a = Arc::new(Mutex::new(()));
            let b = Arc::new(Mutex::new(()));
            drop(tokio::spawn(both(a.clone(), b.clone())));
            drop(tokio::spawn(both(b, a)));
        },
        expect![[r#"
            DEADLOCK at 0.000000s, step 5, seed 1: 2 tasks blocked, no timer or packet pending
              task 1, spawned at detsim-shim-tokio/tests/it/deadlock.rs:33
                waits: lock at detsim-shim-tokio/tests/it/deadlock.rs:27
                  for the Mutex of detsim-shim-tokio/tests/it/deadlock.rs:32, since step 4
                  held by task 2 at detsim-shim-tokio/tests/it/deadlock.rs:25
                stack: it::deadlock::two_locks_in_two_orders::both at tests/it/deadlock.rs:27
              task 2, spawned at detsim-shim-tokio/tests/it/deadlock.rs:34
                waits: lock at detsim-shim-tokio/tests/it/deadlock.rs:27
                  for the Mutex of detsim-shim-tokio/tests/it/deadlock.rs:31, since step 5
                  held by task 1 at detsim-shim-tokio/tests/it/deadlock.rs:25
                stack: it::deadlock::two_locks_in_two_orders::both at tests/it/deadlock.rs:27
              cycle: task 1 -> task 2 -> task 1
        "#]],
    );
}

#[test]
fn a_ring_of_three() {
    check(
        async {
            let forks = [(); 3].map(|()| Arc::new(Mutex::new(())));
            for n in 0..3 {
                let (left, right) = (forks[n].clone(), forks[(n + 1) % 3].clone());
                drop(tokio::spawn(async move {
                    let _left = left.lock().await;
                    yield_now().await;
                    let _right = right.lock().await;
                }));
            }
        },
        expect![[r#"
            DEADLOCK at 0.000000s, step 7, seed 1: 3 tasks blocked, no timer or packet pending
              task 1, spawned at detsim-shim-tokio/tests/it/deadlock.rs:60
                waits: lock at detsim-shim-tokio/tests/it/deadlock.rs:63
                  for the Mutex of detsim-shim-tokio/tests/it/deadlock.rs:57, since step 5
                  held by task 2 at detsim-shim-tokio/tests/it/deadlock.rs:61
                stack: it::deadlock::a_ring_of_three at tests/it/deadlock.rs:63
              task 2, spawned at detsim-shim-tokio/tests/it/deadlock.rs:60
                waits: lock at detsim-shim-tokio/tests/it/deadlock.rs:63
                  for the Mutex of detsim-shim-tokio/tests/it/deadlock.rs:57, since step 6
                  held by task 3 at detsim-shim-tokio/tests/it/deadlock.rs:61
                stack: it::deadlock::a_ring_of_three at tests/it/deadlock.rs:63
              task 3, spawned at detsim-shim-tokio/tests/it/deadlock.rs:60
                waits: lock at detsim-shim-tokio/tests/it/deadlock.rs:63
                  for the Mutex of detsim-shim-tokio/tests/it/deadlock.rs:57, since step 7
                  held by task 1 at detsim-shim-tokio/tests/it/deadlock.rs:61
                stack: it::deadlock::a_ring_of_three at tests/it/deadlock.rs:63
              cycle: task 1 -> task 2 -> task 3 -> task 1
        "#]],
    );
}

#[test]
fn a_lock_taken_twice() {
    check(
        async {
            let mutex = Mutex::new(());
            let _once = mutex.lock().await;
            let _twice = mutex.lock().await;
        },
        expect![[r#"
            DEADLOCK at 0.000000s, step 1, seed 1: 1 task blocked, no timer or packet pending
              task 0 "main", spawned at detsim-shim-tokio/tests/it/deadlock.rs:91
                waits: lock at detsim-shim-tokio/tests/it/deadlock.rs:95
                  for the Mutex of detsim-shim-tokio/tests/it/deadlock.rs:93, since step 1
                  held by task 0 "main" at detsim-shim-tokio/tests/it/deadlock.rs:94
                stack: it::deadlock::a_lock_taken_twice at tests/it/deadlock.rs:95
              cycle: task 0 "main" waits for itself
        "#]],
    );
}

#[test]
fn two_full_channels() {
    /// Answers a message with two.
    async fn echo(mut receiver: mpsc::Receiver<u8>, sender: mpsc::Sender<u8>) {
        while let Some(n) = receiver.recv().await {
            sender.send(n).await.unwrap();
            sender.send(n).await.unwrap();
        }
    }
    check(
        async {
            let (to_left, left) = mpsc::channel(1);
            let (to_right, right) = mpsc::channel(1);
            to_left.send(1).await.unwrap();
            drop(tokio::spawn(echo(left, to_right)));
            drop(tokio::spawn(echo(right, to_left)));
        },
        expect![[r#"
            DEADLOCK at 0.000000s, step 6, seed 1: 2 tasks blocked, no timer or packet pending
              task 1, spawned at detsim-shim-tokio/tests/it/deadlock.rs:123
                waits: send at detsim-shim-tokio/tests/it/deadlock.rs:115
                  for the mpsc channel of detsim-shim-tokio/tests/it/deadlock.rs:121, since step 6
                  last received from by task 2 at detsim-shim-tokio/tests/it/deadlock.rs:113
                stack: it::deadlock::two_full_channels::echo at tests/it/deadlock.rs:115
              task 2, spawned at detsim-shim-tokio/tests/it/deadlock.rs:124
                waits: send at detsim-shim-tokio/tests/it/deadlock.rs:114
                  for the mpsc channel of detsim-shim-tokio/tests/it/deadlock.rs:120, since step 5
                  last received from by task 1 at detsim-shim-tokio/tests/it/deadlock.rs:113
                stack: it::deadlock::two_full_channels::echo at tests/it/deadlock.rs:114
              cycle: task 1 -> task 2 -> task 1
        "#]],
    );
}

#[test]
fn a_permit_that_is_never_returned() {
    check(
        async {
            let semaphore = Arc::new(Semaphore::new(2));
            let leaks = semaphore.clone();
            let leak = tokio::spawn(async move {
                std::mem::forget(leaks.acquire_many(2).await.unwrap());
            });
            leak.await.unwrap();
            let _one = semaphore.acquire().await.unwrap();
        },
        expect![[r#"
            DEADLOCK at 0.000000s, step 3, seed 1: 1 task blocked, no timer or packet pending
              task 0 "main", spawned at detsim-shim-tokio/tests/it/deadlock.rs:145
                waits: acquire at detsim-shim-tokio/tests/it/deadlock.rs:153
                  for the Semaphore of detsim-shim-tokio/tests/it/deadlock.rs:147, since step 3
                  held by task 1 (which has ended), 2 permits at detsim-shim-tokio/tests/it/deadlock.rs:150
                stack: it::deadlock::a_permit_that_is_never_returned at tests/it/deadlock.rs:153
        "#]],
    );
}

#[test]
fn nobody_sends_notifies_or_answers() {
    check(
        async {
            let (_sender, mut receiver) = mpsc::channel::<u8>(1);
            let (_answer, question) = oneshot::channel::<u8>();
            drop(tokio::spawn(async move { receiver.recv().await }));
            drop(tokio::spawn(question));
            Notify::new().notified().await;
        },
        expect![[r#"
            DEADLOCK at 0.000000s, step 3, seed 1: 3 tasks blocked, no timer or packet pending
              task 0 "main", spawned at detsim-shim-tokio/tests/it/deadlock.rs:168
                waits: notified at detsim-shim-tokio/tests/it/deadlock.rs:174
                  for the Notify of detsim-shim-tokio/tests/it/deadlock.rs:174, since step 1
                  nobody is known to be about to notify it
                stack: it::deadlock::nobody_sends_notifies_or_answers at tests/it/deadlock.rs:174
              task 1, spawned at detsim-shim-tokio/tests/it/deadlock.rs:172
                waits: recv at detsim-shim-tokio/tests/it/deadlock.rs:172
                  for the mpsc channel of detsim-shim-tokio/tests/it/deadlock.rs:170, since step 2
                  nobody has used its other end yet
                stack: it::deadlock::nobody_sends_notifies_or_answers at tests/it/deadlock.rs:172
              task 2, spawned at detsim-shim-tokio/tests/it/deadlock.rs:173
                waits: recv at detsim-shim-tokio/tests/it/deadlock.rs:171
                  for the oneshot channel of detsim-shim-tokio/tests/it/deadlock.rs:171, since step 3
                  its other end was last seen with task 0 "main" at detsim-shim-tokio/tests/it/deadlock.rs:171
        "#]],
    );
}

#[test]
fn every_kind_of_wait_says_who_had_to_do_with_it() {
    check(
        async {
            let lock = Arc::new(RwLock::new(()));
            let writer = Arc::clone(&lock);
            drop(tokio::spawn(async move { drop(writer.write().await) }));
            let (sender, mut receiver) = broadcast::channel(1);
            drop(tokio::spawn(async move { receiver.recv().await.and(receiver.recv().await) }));
            let (watched, mut watching) = watch::channel(1);
            drop(tokio::spawn(async move { watching.changed().await }));
            drop(tokio::spawn(async { Barrier::new(2).wait().await.is_leader() }));
            let cell = OnceCell::<()>::new();
            let _read = lock.read().await;
            sender.send(1).unwrap();
            let notify = Notify::new();
            notify.notify_waiters();
            tokio::join!(
                cell.get_or_init(|| async { *SetOnce::new().wait().await }),
                cell.get_or_init(std::future::pending),
                watched.closed(),
                notify.notified(),
            );
        },
        expect![[r#"
            DEADLOCK at 0.000000s, step 5, seed 1: 5 tasks blocked, no timer or packet pending
              task 0 "main", spawned at detsim-shim-tokio/tests/it/deadlock.rs:198
                waits: notified at detsim-shim-tokio/tests/it/deadlock.rs:214
                  for the SetOnce of detsim-shim-tokio/tests/it/deadlock.rs:214, since step 1
                  nobody has used it
                waits: lock at detsim-shim-tokio/tests/it/deadlock.rs:215
                  for the OnceCell of detsim-shim-tokio/tests/it/deadlock.rs:208, since step 1
                  held by task 0 "main" at detsim-shim-tokio/tests/it/deadlock.rs:214
                waits: close at detsim-shim-tokio/tests/it/deadlock.rs:216
                  for the watch channel of detsim-shim-tokio/tests/it/deadlock.rs:205, since step 1
                  nobody has used its other end yet
                waits: notified at detsim-shim-tokio/tests/it/deadlock.rs:217
                  for the Notify of detsim-shim-tokio/tests/it/deadlock.rs:211, since step 1
                  last used by task 0 "main" at detsim-shim-tokio/tests/it/deadlock.rs:212
                stack: it::deadlock::every_kind_of_wait_says_who_had_to_do_with_it at tests/it/deadlock.rs:214
                       it::deadlock::every_kind_of_wait_says_who_had_to_do_with_it at src/macros/join.rs:33
                       it::deadlock::every_kind_of_wait_says_who_had_to_do_with_it at tests/it/deadlock.rs:213
              task 1, spawned at detsim-shim-tokio/tests/it/deadlock.rs:202
                waits: write at detsim-shim-tokio/tests/it/deadlock.rs:202
                  for the RwLock of detsim-shim-tokio/tests/it/deadlock.rs:200, since step 2
                  locked for reading by task 0 "main" at detsim-shim-tokio/tests/it/deadlock.rs:209
                stack: it::deadlock::every_kind_of_wait_says_who_had_to_do_with_it at tests/it/deadlock.rs:202
              task 2, spawned at detsim-shim-tokio/tests/it/deadlock.rs:204
                waits: recv at detsim-shim-tokio/tests/it/deadlock.rs:204
                  for the broadcast channel of detsim-shim-tokio/tests/it/deadlock.rs:203, since step 3
                  last sent to by task 0 "main" at detsim-shim-tokio/tests/it/deadlock.rs:210
                stack: it::deadlock::every_kind_of_wait_says_who_had_to_do_with_it at tests/it/deadlock.rs:204
              task 3, spawned at detsim-shim-tokio/tests/it/deadlock.rs:206
                waits: recv at detsim-shim-tokio/tests/it/deadlock.rs:206
                  for the watch channel of detsim-shim-tokio/tests/it/deadlock.rs:205, since step 4
                  nobody has used its other end yet
                stack: it::deadlock::every_kind_of_wait_says_who_had_to_do_with_it at tests/it/deadlock.rs:206
              task 4, spawned at detsim-shim-tokio/tests/it/deadlock.rs:207
                waits: wait at detsim-shim-tokio/tests/it/deadlock.rs:207
                  for the Barrier of detsim-shim-tokio/tests/it/deadlock.rs:207, since step 5
                  last used by task 4 at detsim-shim-tokio/tests/it/deadlock.rs:207
                stack: it::deadlock::every_kind_of_wait_says_who_had_to_do_with_it at tests/it/deadlock.rs:207
              cycle: task 0 "main" waits for itself
        "#]],
    );
}

#[test]
fn a_channel_that_nobody_has_received_from_tells_of_nobody() {
    let sim = fifo();
    let program = async {
        let (sender, mut receiver) = mpsc::channel(1);
        let sends = tokio::spawn(async move {
            for n in 0..3 {
                sender.send(n).await.unwrap();
            }
        });
        while receiver.recv().await.is_some() {}
        sends.await.unwrap();
        let (sender, _receiver) = mpsc::channel(1);
        sender.send(1).await.unwrap();
        sender.send(2).await.unwrap();
    };
    drop(sim.spawn("main", program));
    let report = sim.run().unwrap_err().to_string();
    assert!(report.contains("nobody has used its other end yet"), "{report}");
}
