//! The semaphore.

use crate::{in_order, sweep};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use futures::executor::block_on;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::sync::{Semaphore, TryAcquireError};
use tokio::task::yield_now;

#[test]
fn never_more_than_there_are_permits() {
    sweep(50, || async {
        let (semaphore, inside) = (Arc::new(Semaphore::new(3)), Arc::new(AtomicUsize::new(0)));
        let handles: Vec<_> = (1..=6)
            .map(|n| {
                let (semaphore, inside) = (Arc::clone(&semaphore), Arc::clone(&inside));
                tokio::spawn(async move {
                    let permits = semaphore.acquire_many(1 + n % 3).await.unwrap();
                    let count = permits.num_permits();
                    assert!(inside.fetch_add(count, Relaxed) + count <= 3);
                    yield_now().await;
                    inside.fetch_sub(count, Relaxed);
                })
            })
            .collect();
        for handle in handles {
            handle.await.unwrap();
        }
        assert_eq!(semaphore.available_permits(), 3);
    });
}

#[test]
fn a_big_request_is_not_overtaken() {
    in_order(async {
        let semaphore = Semaphore::new(3);
        let one = semaphore.acquire().await.unwrap();
        let mut all = Box::pin(semaphore.acquire_many(3));
        assert!(all.as_mut().now_or_never().is_none());
        // What was free is promised already.
        assert_eq!(semaphore.available_permits(), 0);
        assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        let mut small = Box::pin(semaphore.acquire());
        assert!(small.as_mut().now_or_never().is_none());
        drop(one);
        let all = all.await.unwrap();
        assert!(small.as_mut().now_or_never().is_none());
        drop(all);
        drop(small.await.unwrap());
    });
}

#[test]
fn a_request_that_is_given_up_gives_back_its_part() {
    in_order(async {
        let semaphore = Semaphore::new(2);
        let mut many = Box::pin(semaphore.acquire_many(5));
        assert!(many.as_mut().now_or_never().is_none());
        let mut one = Box::pin(semaphore.acquire());
        assert!(one.as_mut().now_or_never().is_none());
        drop(many);
        drop(one.await.unwrap());
        assert_eq!(semaphore.available_permits(), 2);
    });
}

#[test]
fn closing_tells_those_who_wait_and_those_who_come() {
    in_order(async {
        let semaphore = Arc::new(Semaphore::new(1));
        let held = semaphore.acquire().await.unwrap();
        let waits = tokio::spawn(Arc::clone(&semaphore).acquire_owned());
        yield_now().await;
        semaphore.close();
        assert!(semaphore.is_closed());
        assert_eq!(waits.await.unwrap().unwrap_err().to_string(), "semaphore closed");
        assert!(semaphore.acquire().await.is_err());
        assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
        drop(held);
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn permits_are_added_forgotten_merged_and_split() {
    let semaphore = Arc::new(Semaphore::new(5));
    block_on(semaphore.acquire()).unwrap().forget();
    assert_eq!((semaphore.available_permits(), semaphore.forget_permits(1)), (4, 1));
    semaphore.add_permits(2);
    let mut three = block_on(semaphore.acquire_many(3)).unwrap();
    let mut two = three.split(2).unwrap();
    assert_eq!((three.num_permits(), two.num_permits()), (1, 2));
    assert!(two.split(3).is_none());
    drop(three.split(1));
    assert_eq!((three.num_permits(), semaphore.available_permits()), (0, 3));
    three.merge(two);
    assert_eq!(three.num_permits(), 2);
    drop(three);
    assert_eq!(semaphore.available_permits(), 5);
    let owned = Arc::clone(&semaphore).try_acquire_many_owned(2).unwrap();
    assert!(Arc::ptr_eq(owned.semaphore(), &semaphore));
    owned.forget();
    assert_eq!(semaphore.available_permits(), 3);
    drop(block_on(semaphore.acquire_many(0)).unwrap());
    assert_eq!(semaphore.available_permits(), 3);
}

#[test]
fn misuse_is_told_in_tokios_words() {
    let text = |f: fn()| *catch_unwind(f).unwrap_err().downcast::<String>().unwrap();
    assert_eq!(
        text(|| drop(Semaphore::new(Semaphore::MAX_PERMITS + 1))),
        format!("a semaphore may not have more than MAX_PERMITS permits ({})", usize::MAX >> 3)
    );
    assert_eq!(
        text(|| Semaphore::new(1).add_permits(Semaphore::MAX_PERMITS)),
        format!(
            "number of added permits ({0}) would overflow MAX_PERMITS ({0})",
            Semaphore::MAX_PERMITS
        )
    );
    let merged = catch_unwind(|| {
        let (a, b) = (Semaphore::new(1), Semaphore::new(1));
        a.try_acquire().unwrap().merge(b.try_acquire().unwrap());
    });
    let text = merged.unwrap_err();
    let text = text.downcast_ref::<&str>().unwrap();
    assert_eq!(*text, "merging permits from different semaphore instances");
}
