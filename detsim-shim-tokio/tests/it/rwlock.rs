//! The lock for many readers or one writer.

use crate::{Log, in_order, sweep};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use std::sync::Arc;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::task::yield_now;

#[test]
fn readers_together_writers_alone() {
    sweep(50, || async {
        // The second number follows the first whenever nobody writes.
        let lock = Arc::new(RwLock::new((0, 0)));
        let writers = (0..3).map(|_| {
            let lock = Arc::clone(&lock);
            tokio::spawn(async move {
                let mut pair = lock.write().await;
                pair.0 += 1;
                yield_now().await;
                pair.1 += 1;
            })
        });
        let readers = (0..3).map(|_| {
            let lock = Arc::clone(&lock);
            tokio::spawn(async move {
                let pair = lock.read().await;
                yield_now().await;
                assert_eq!(pair.0, pair.1);
            })
        });
        let tasks: Vec<_> = writers.chain(readers).collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*lock.read().await, (3, 3));
    });
}

#[test]
fn who_waits_to_write_keeps_out_later_readers() {
    let log = Log::default();
    in_order({
        let log = log.clone();
        async move {
            let lock = RwLock::new(());
            let first = lock.read().await;
            let write = async {
                let _guard = lock.write().await;
                log.add("write");
            };
            let read = async {
                let _guard = lock.read().await;
                log.add("read");
            };
            let release = async {
                assert!(lock.try_read().is_err(), "a writer waits");
                drop(first);
            };
            tokio::join!(biased; write, read, release);
        }
    });
    assert_eq!(log.text(), "write read");
}

#[test]
fn a_writer_becomes_a_reader_without_letting_another_write() {
    in_order(async {
        let lock = RwLock::new(1);
        let mut write = lock.write().await;
        let mut waiting = Box::pin(lock.write());
        assert!((&mut waiting).now_or_never().is_none());
        *write += 1;
        let read = write.downgrade();
        assert!((&mut waiting).now_or_never().is_none());
        assert_eq!(*read, 2);
        drop(read);
        *waiting.await += 1;
        assert_eq!(*lock.read().await, 3);
    });
}

#[test]
fn no_more_readers_than_there_may_be() {
    in_order(async {
        let lock = RwLock::with_max_readers(1, 2);
        let (one, two) = (lock.read().await, lock.try_read().unwrap());
        assert!(lock.try_read().is_err() && lock.try_write().is_err());
        drop(one);
        assert_eq!(*two + *lock.read().await, 2);
    });
}

#[test]
fn guards_of_parts() {
    in_order(async {
        let lock = Arc::new(RwLock::new((1, Some(2))));
        let read = RwLockReadGuard::map(lock.read().await, |pair| &pair.0);
        assert!(RwLockReadGuard::try_map(read, |_| None::<&u8>).is_err_and(|read| *read == 1));
        let mut write = RwLockWriteGuard::map(lock.write().await, |pair| &mut pair.1);
        *write = None;
        drop(write);
        let owned = lock.clone().write_owned().await;
        let owned = OwnedRwLockWriteGuard::try_map(owned, |pair| pair.1.as_mut()).unwrap_err();
        assert!(Arc::ptr_eq(&lock, OwnedRwLockWriteGuard::rwlock(&owned)));
        let owned = OwnedRwLockWriteGuard::downgrade_map(owned, |pair| &pair.0);
        assert_eq!((*owned, lock.try_read().unwrap().0), (1, 1));
        assert_eq!(format!("{:?} {owned}", lock), "RwLock { data: (1, None) } 1");
        drop(owned);
        let _write = lock.write().await;
        assert_eq!(format!("{lock:?}"), "RwLock { data: <locked> }");
    });
}
