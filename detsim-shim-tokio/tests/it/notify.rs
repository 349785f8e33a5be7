//! Notifications.

use crate::{Log, in_order, sweep};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::task::yield_now;

#[test]
fn one_notification_is_kept() {
    in_order(async {
        let notify = Notify::new();
        notify.notify_one();
        notify.notify_one();
        notify.notified().await;
        assert!(notify.notified().now_or_never().is_none());
    });
}

#[test]
fn nobody_that_waits_is_missed() {
    sweep(50, || async {
        let notify = Arc::new(Notify::new());
        let handles: Vec<_> = (0..3)
            .map(|_| {
                let notify = Arc::clone(&notify);
                tokio::spawn(async move { notify.notified().await })
            })
            .collect();
        for _ in 0..3 {
            notify.notify_one();
            yield_now().await;
        }
        // Those that came together left one notification between them.
        while handles.iter().any(|handle| !handle.is_finished()) {
            notify.notify_one();
            yield_now().await;
        }
    });
}

#[test]
fn the_first_or_the_last_is_notified() {
    in_order(async {
        let (notify, log) = (Notify::new(), Log::default());
        let waits = |name| {
            notify.notified().map({
                let log = log.clone();
                move |()| log.add(name)
            })
        };
        let mut all = ["a", "b", "c"].map(|name| Box::pin(waits(name)));
        for future in &mut all {
            assert!(future.as_mut().now_or_never().is_none());
        }
        notify.notify_last();
        notify.notify_one();
        for future in &mut all {
            let _pending = future.as_mut().now_or_never();
        }
        assert_eq!(log.text(), "a c");
    });
}

#[test]
fn all_that_were_made_before_are_notified() {
    in_order(async {
        let notify = Arc::new(Notify::new());
        let unpolled = notify.notified();
        let owned = Arc::clone(&notify).notified_owned();
        let mut polled = Box::pin(notify.notified());
        assert!(polled.as_mut().now_or_never().is_none());
        notify.notify_waiters();
        unpolled.await;
        owned.await;
        polled.await;
        assert!(notify.notified().now_or_never().is_none());
    });
}

#[test]
fn enabling_is_waiting_without_being_polled() {
    in_order(async {
        let notify = Notify::new();
        let mut first = Box::pin(notify.notified());
        let mut second = Box::pin(notify.notified());
        assert!(!first.as_mut().enable());
        assert!(second.as_mut().now_or_never().is_none());
        notify.notify_one();
        assert!(first.as_mut().enable());
        first.await;
        assert!(second.as_mut().now_or_never().is_none());
    });
}

#[test]
fn a_notification_that_was_not_noticed_goes_on() {
    in_order(async {
        let notify = Notify::new();
        let (mut first, mut second) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        notify.notify_one();
        drop(first);
        second.await;
        // One of all is nobody else's.
        let mut third = Box::pin(notify.notified());
        assert!(third.as_mut().now_or_never().is_none());
        notify.notify_waiters();
        drop(third);
        assert!(notify.notified().now_or_never().is_none());
    });
}

#[test]
fn notified_made_first_misses_nothing() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    sweep(200, || async {
        let flag = Arc::new((Notify::new(), AtomicBool::new(false)));
        let setter = Arc::clone(&flag);
        let sets = tokio::spawn(async move {
            yield_now().await;
            setter.1.store(true, Relaxed);
            setter.0.notify_waiters();
        });
        let notified = flag.0.notified();
        if !flag.1.load(Relaxed) {
            notified.await;
        }
        sets.await.unwrap();
    });
}
