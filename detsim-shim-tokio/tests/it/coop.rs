//! Budgets: who always finds something to do lets others run.

use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Waker};
use tokio::task::coop::{cooperative, has_budget_remaining, poll_proceed};
use tokio::task::{consume_budget, unconstrained};

/// How much `work` gets done before another task does anything.
fn done_alone<F: Future<Output = ()> + Send + 'static>(
    work: impl FnOnce(Arc<AtomicU32>) -> F + 'static,
) -> u32 {
    let sim = Sim::new(1);
    let count = Arc::new(AtomicU32::new(0));
    let alone = sim.block_on(async move {
        let worker = tokio::spawn(work(Arc::clone(&count)));
        let other = tokio::spawn(async move {
            while count.load(Relaxed) == 0 {
                tokio::task::yield_now().await;
            }
            count.load(Relaxed)
        });
        worker.await.unwrap();
        other.await.unwrap()
    });
    alone.unwrap()
}

#[test]
fn a_loop_of_ready_operations_yields_after_128_of_them() {
    let alone = done_alone(|count| async move {
        for _ in 0..1000 {
            consume_budget().await;
            count.fetch_add(1, Relaxed);
        }
    });
    assert_eq!(alone % 128, 0, "{alone}");
    assert!((128..1000).contains(&alone), "{alone}");
}

#[test]
fn without_a_budget_nothing_yields() {
    let alone = done_alone(|count| {
        unconstrained(async move {
            for _ in 0..1000 {
                consume_budget().await;
                count.fetch_add(1, Relaxed);
            }
        })
    });
    assert_eq!(alone, 1000);
}

#[test]
fn an_operation_that_waits_is_free() {
    let sim = Sim::new(1);
    let polled = sim.block_on(async {
        std::future::poll_fn(|cx| {
            // Dropped without having made progress.
            assert!((0..1000).all(|_| poll_proceed(cx).is_ready()));
            let made = (0..1000).take_while(|_| match poll_proceed(cx) {
                std::task::Poll::Ready(proceeds) => {
                    proceeds.made_progress();
                    true
                }
                std::task::Poll::Pending => false,
            });
            std::task::Poll::Ready(made.count())
        })
        .await
    });
    assert_eq!(polled, Ok(128));
}

#[test]
fn what_is_cooperative_spends_where_it_completes() {
    let sim = Sim::new(1);
    let spent = sim.block_on(async {
        let mut spent = 0;
        while has_budget_remaining() {
            cooperative(std::future::ready(())).await;
            spent += 1;
        }
        spent
    });
    assert_eq!(spent, Ok(128));
}

#[test]
fn outside_of_a_task_there_is_always_budget() {
    assert!(has_budget_remaining());
}

/// Two units a round, so that it is always the operation which is awaited that finds no budget, whether
/// its task is stopped before it or not.
#[test]
fn a_stop_where_the_budget_ends_is_the_yield_of_it() {
    crate::sweep(300, || async {
        let semaphore = tokio::sync::Semaphore::new(2);
        for round in 0..200 {
            let _first = semaphore.acquire().await.unwrap();
            let second = std::pin::pin!(semaphore.acquire());
            let polled = second.poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_ready(), "round {round}");
        }
    });
}
