//! Barriers and cells that are set once.

use crate::{in_order, sweep};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use std::cell::Cell;
use std::sync::Arc;
use tokio::sync::{Barrier, OnceCell, SetError, SetOnce};
use tokio::task::yield_now;

#[test]
fn nobody_goes_on_before_all_have_arrived() {
    sweep(50, || async {
        let (barrier, arrived) = (Arc::new(Barrier::new(3)), Arc::new(OnceCell::new()));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let (barrier, arrived) = (Arc::clone(&barrier), Arc::clone(&arrived));
                tokio::spawn(async move {
                    if number == 2 {
                        arrived.set(()).unwrap();
                    }
                    let leads = barrier.wait().await.is_leader();
                    assert!(arrived.initialized());
                    let leads_again = barrier.wait().await.is_leader();
                    u8::from(leads) + u8::from(leads_again)
                })
            })
            .collect();
        let mut leaders = 0;
        for task in tasks {
            leaders += task.await.unwrap();
        }
        assert_eq!(leaders, 2);
    });
}

#[test]
fn who_has_arrived_counts_though_it_no_longer_waits() {
    in_order(async {
        let barrier = Barrier::new(2);
        assert!(barrier.wait().now_or_never().is_none());
        assert!(barrier.wait().now_or_never().is_some_and(|result| result.is_leader()));
        assert!(Barrier::new(0).wait().await.is_leader());
    });
}

#[test]
fn one_makes_the_value_and_the_others_wait() {
    sweep(50, || async {
        let cell = Arc::new(OnceCell::new());
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let cell = Arc::clone(&cell);
                tokio::spawn(async move {
                    let make = || async move {
                        yield_now().await;
                        number
                    };
                    *cell.get_or_init(make).await
                })
            })
            .collect();
        let mut values = Vec::new();
        for task in tasks {
            values.push(task.await.unwrap());
        }
        assert!(values.iter().all(|value| Some(value) == cell.get()));
    });
}

#[test]
fn where_one_gives_up_the_next_makes_the_value() {
    in_order(async {
        let (cell, tries) = (OnceCell::new(), Cell::new(0));
        let make = || async {
            tries.set(tries.get() + 1);
            yield_now().await;
            if tries.get() < 3 { Err("no") } else { Ok(tries.get()) }
        };
        assert!(cell.get_or_try_init(make).now_or_never().is_none());
        let (one, other) = tokio::join!(biased; cell.get_or_try_init(make), async {
            assert_eq!(cell.set(9), Err(SetError::InitializingError(9)));
            cell.get_or_try_init(make).await
        });
        assert_eq!((one, other), (Err("no"), Ok(&3)));
        assert_eq!(cell.set(9), Err(SetError::AlreadyInitializedError(9)));
        assert_eq!(format!("{:?}", cell.clone()), "OnceCell { value: Some(3) }");
        let mut cell = cell;
        assert_eq!((cell.take(), cell.get()), (Some(3), None));
    });
}

#[test]
fn a_cell_in_a_static_may_have_its_value_from_the_start() {
    static EMPTY: OnceCell<u8> = OnceCell::const_new();
    static FULL: OnceCell<u8> = OnceCell::const_new_with(7);
    static SET: SetOnce<u8> = SetOnce::const_new_with(8);
    in_order(async {
        assert_eq!(*EMPTY.get_or_init(|| async { 1 }).await, 1);
        assert_eq!(*FULL.get_or_init(|| async { unreachable!() }).await, 7);
        assert_eq!((*SET.wait().await, SET.set(1).unwrap_err().0), (8, 1));
    });
    assert_eq!(EMPTY.get(), Some(&1));
}

#[test]
fn a_value_that_is_set_ends_all_waits() {
    sweep(50, || async {
        let cell = Arc::new(SetOnce::new());
        let waits: Vec<_> = (0..3)
            .map(|_| {
                let cell = Arc::clone(&cell);
                tokio::spawn(async move { *cell.wait().await })
            })
            .collect();
        assert!(cell.set(5).is_ok() && cell.set(6).is_err());
        for wait in waits {
            assert_eq!(wait.await.unwrap(), 5);
        }
    });
}
