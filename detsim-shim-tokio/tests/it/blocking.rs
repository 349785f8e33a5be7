//! The `blocking_*` calls: outside of a run they park the thread, in a task they are refused.

use detsim_shim_tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use expect_test::expect;
use std::sync::Arc;
use std::thread;

#[test]
fn two_threads_without_a_run_talk_over_a_channel_of_one_place() {
    let (sender, mut receiver) = mpsc::channel(1);
    let thread = thread::Builder::new();
    let sends = move || (0..100).try_for_each(|number| sender.blocking_send(number));
    let thread = thread.spawn(sends).unwrap();
    let received: Vec<u32> = std::iter::from_fn(|| receiver.blocking_recv()).collect();
    assert_eq!(received, (0..100).collect::<Vec<_>>());
    assert_eq!(receiver.blocking_recv_many(&mut Vec::new(), 3), 0);
    thread.join().unwrap().unwrap();
}

#[test]
fn a_thread_without_a_run_waits_for_a_lock_a_permit_and_a_value() {
    let (mutex, semaphore) = (Arc::new(Mutex::new(1)), Arc::new(Semaphore::new(2)));
    let (sender, receiver) = oneshot::channel();
    let (guard, permits) =
        (mutex.blocking_lock(), Arc::clone(&semaphore).blocking_acquire_many_owned(2).unwrap());
    let thread = {
        let (mutex, semaphore) = (Arc::clone(&mutex), Arc::clone(&semaphore));
        thread::Builder::new().spawn(move || {
            drop(semaphore.blocking_acquire().unwrap());
            *mutex.blocking_lock_owned() += receiver.blocking_recv().unwrap();
        })
    };
    drop((guard, permits));
    sender.send(5).unwrap();
    thread.unwrap().join().unwrap();
    assert_eq!(*mutex.blocking_lock(), 6);
}

#[test]
fn a_task_is_not_blocked() {
    let sim = detsim_executor::Sim::new(7);
    let failure = sim.block_on(async { drop(Mutex::new(1).blocking_lock()) }).unwrap_err();
    let text = failure.to_string();
    let said = text.lines().find(|line| line.contains("Cannot block")).unwrap_or(&text);
    expect!["Cannot block the current thread from within a runtime. This happens because a function attempted to block the current thread while the thread is being used to drive asynchronous tasks."].assert_eq(said.trim());
}
