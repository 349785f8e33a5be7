//! Tasks and their handles.

use crate::{in_order, sweep};
use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use std::panic::catch_unwind;
use tokio::task::{JoinError, yield_now};

#[test]
fn a_task_gives_its_result() {
    sweep(20, || async {
        let handle = tokio::spawn(async {
            yield_now().await;
            7
        });
        assert_eq!(handle.await.unwrap(), 7);
    });
}

#[test]
fn the_errors_have_tokios_texts() {
    let errors = in_order(async {
        let aborted = tokio::spawn(std::future::pending::<()>());
        aborted.abort();
        let panicked = tokio::spawn(async { panic!("boom {}", 1) });
        let silent = tokio::spawn(async { std::panic::panic_any(7_u8) });
        let panicked: Result<(), JoinError> = panicked.await;
        let silent: Result<(), JoinError> = silent.await;
        [aborted.await.unwrap_err(), panicked.unwrap_err(), silent.unwrap_err()]
    });
    let texts = errors.each_ref().map(|error| format!("{error} | {error:?}"));
    assert_eq!(
        texts,
        [
            "task 1 was cancelled | JoinError::Cancelled(Id(1))",
            "task 2 panicked with message \"boom 1\" | JoinError::Panic(Id(2), \"boom 1\", ...)",
            "task 3 panicked | JoinError::Panic(Id(3), ...)",
        ]
    );
    assert!(errors[0].is_cancelled() && !errors[0].is_panic());
    let [_, _, silent] = errors;
    assert_eq!(silent.into_panic().downcast_ref::<u8>(), Some(&7));
}

/// It took minutes when each wake looked through all that were woken, and when each poll asked all of
/// them although there was no budget left.
#[test]
fn a_set_holds_a_hundred_thousand_tasks() {
    let joined = Sim::new(1).block_on(async {
        let mut set = tokio::task::JoinSet::new();
        (0..100_000).for_each(|_| drop(set.spawn(yield_now())));
        let mut joined = 0;
        while set.join_next().await.is_some() {
            joined += 1;
        }
        joined
    });
    assert_eq!(joined, Ok(100_000));
}

#[test]
fn an_abort_handle_outlives_its_task() {
    in_order(async {
        let handle = tokio::spawn(async {});
        let abort = handle.abort_handle();
        assert_eq!(abort.id(), handle.id());
        yield_now().await;
        assert!(handle.is_finished());
        abort.abort();
        handle.await.unwrap();
    });
}

#[test]
fn without_a_runtime_it_says_what_tokio_says() {
    let panicked = catch_unwind(|| tokio::spawn(async {})).unwrap_err();
    let text = panicked.downcast_ref::<String>().unwrap();
    let tokios =
        "there is no reactor running, must be called from the context of a Tokio 1.x runtime";
    assert_eq!(text, tokios);
}

#[test]
fn task_locals_are_tokios() {
    tokio::task_local! {
        static NUMBER: u32;
    }
    sweep(5, || async {
        let seen = |number| {
            tokio::spawn(NUMBER.scope(number, async {
                yield_now().await;
                NUMBER.get()
            }))
        };
        let (one, two) = (seen(1), seen(2));
        assert_eq!((one.await.unwrap(), two.await.unwrap()), (1, 2));
    });
}

#[test]
fn what_a_finished_simulation_leaves_is_dead() {
    let sim = Sim::new(1);
    let spawned = sim.block_on(async { [tokio::spawn(std::future::pending::<()>())] });
    let [handle] = spawned.unwrap();
    drop(sim);
    assert!(handle.is_finished());
    handle.abort();
    let error = futures::executor::block_on(handle).unwrap_err();
    assert!(error.is_cancelled());
}

#[test]
fn the_handles_are_what_tokios_are() {
    fn all<T: Send + Sync + Unpin + std::panic::UnwindSafe>() {}
    all::<tokio::task::JoinHandle<std::cell::Cell<u8>>>();
    all::<tokio::task::AbortHandle>();
    fn error<T: Send + Sync + std::error::Error>() {}
    error::<JoinError>();
}
