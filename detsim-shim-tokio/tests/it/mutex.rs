//! The mutex.

use crate::{in_order, sweep};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use futures::executor::block_on;
use std::sync::Arc;
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard, OwnedMutexGuard};
use tokio::task::yield_now;

#[test]
fn one_at_a_time() {
    sweep(50, || async {
        let count = Arc::new(Mutex::new(0));
        let handles: Vec<_> = (0..4)
            .map(|_| {
                let count = Arc::clone(&count);
                tokio::spawn(async move {
                    for _ in 0..5 {
                        let mut count = count.lock().await;
                        let before = *count;
                        yield_now().await;
                        *count = before + 1;
                    }
                })
            })
            .collect();
        for handle in handles {
            handle.await.unwrap();
        }
        assert_eq!(*count.lock().await, 20);
    });
}

#[test]
fn first_come_first_served() {
    let order = in_order(async {
        let mutex = Arc::new(Mutex::new(Vec::new()));
        let first = mutex.lock().await;
        let handles: Vec<_> = (0..4)
            .map(|n| {
                let mutex = Arc::clone(&mutex);
                tokio::spawn(async move { mutex.lock().await.push(n) })
            })
            .collect();
        yield_now().await;
        drop(first);
        // The lock is promised to the first that waits: nobody can take it in between.
        assert_eq!(mutex.try_lock().unwrap_err().to_string(), "operation would block");
        for handle in handles {
            handle.await.unwrap();
        }
        mutex.lock().await.clone()
    });
    assert_eq!(order, [0, 1, 2, 3]);
}

#[test]
fn a_wait_that_is_given_up_passes_the_lock_on() {
    in_order(async {
        let mutex = Mutex::new(());
        let held = mutex.lock().await;
        let (mut first, mut second) = (Box::pin(mutex.lock()), Box::pin(mutex.lock()));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        drop(held);
        drop(first); // it had been granted the lock, and never knew
        drop(second.await);
        drop(mutex.try_lock().unwrap());
    });
}

#[test]
fn guards_stand_for_the_value_and_its_parts() {
    let mutex = Arc::new(Mutex::new((1, String::from("two"))));
    let guard = block_on(mutex.lock());
    assert!(std::ptr::eq(MutexGuard::mutex(&guard), &*mutex));
    let mut text: MappedMutexGuard<'_, str> = MutexGuard::map(guard, |pair| pair.1.as_mut_str());
    text.make_ascii_uppercase();
    assert_eq!(format!("{text} {text:?}"), "TWO \"TWO\"");
    let tail = MappedMutexGuard::try_map(text, |text| text.get_mut(9..)).unwrap_err();
    assert_eq!(MappedMutexGuard::map(tail, |text| &mut text[1..]).len(), 2);

    let owned = block_on(Arc::clone(&mutex).lock_owned());
    assert!(Arc::ptr_eq(OwnedMutexGuard::mutex(&owned), &mutex));
    let mut number = OwnedMutexGuard::map(owned, |pair| &mut pair.0);
    *number += 1;
    assert!(Arc::clone(&mutex).try_lock_owned().is_err());
    drop(number);
    assert_eq!(Arc::into_inner(mutex).unwrap().into_inner(), (2, "TWO".into()));
}

#[test]
fn it_is_shown_without_waiting() {
    let mutex = Mutex::new(1);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 1 }");
    let _held = mutex.try_lock().unwrap();
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
}

#[test]
fn unsized_values_and_no_values_are_fine() {
    let mutex: Arc<Mutex<[u8]>> = Arc::new(Mutex::new([1, 2, 3]));
    block_on(mutex.lock())[1] = 9;
    assert_eq!(&*mutex.try_lock().unwrap(), [1, 9, 3]);
    let mut mutex = Mutex::from(5);
    *mutex.get_mut() += 1;
    assert_eq!((mutex.into_inner(), Mutex::<u8>::default().into_inner()), (6, 0));
}

#[test]
fn a_lock_crosses_threads_as_tokios_does() {
    fn both<T: Send + Sync>(_: T) {}
    both(Mutex::new(std::cell::Cell::new(1)));
    let mutex = Mutex::new(1);
    both(mutex.lock());
    both(mutex.try_lock());
    fn send<T: Send>(_: T) {}
    let mutex = Arc::new(Mutex::new(std::cell::Cell::new(1)));
    send(mutex.lock());
    send(mutex.clone().lock_owned());
    send(mutex.try_lock());
}
