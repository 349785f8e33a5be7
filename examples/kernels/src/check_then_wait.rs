//! A shutdown that is looked for first and listened for later.
//!
//! `notify_waiters` reaches those who listen at that moment. A worker that has just seen that there is
//! no shutdown, and is still entering itself among the idle ones, is not among them.

use std::sync::Arc;
use tokio::sync::{Mutex, Notify};

/// Says once that it is time to go.
#[derive(Debug, Default)]
struct Shutdown {
    is_over: Mutex<bool>,
    idle: Mutex<u32>,
    told: Notify,
}

impl Shutdown {
    async fn tell(&self) {
        *self.is_over.lock().await = true;
        self.told.notify_waiters();
    }

    async fn wait(&self) {
        while !*self.is_over.lock().await {
            *self.idle.lock().await += 1;
            self.told.notified().await;
            *self.idle.lock().await -= 1;
        }
    }

    /// Listens from before it looks.
    async fn wait_from_now_on(&self) {
        loop {
            let told = self.told.notified();
            if *self.is_over.lock().await {
                return;
            }
            *self.idle.lock().await += 1;
            told.await;
            *self.idle.lock().await -= 1;
        }
    }
}

/// The worker may wait for a word that has been said.
pub async fn buggy() {
    let shutdown = Arc::new(Shutdown::default());
    let seen = Arc::clone(&shutdown);
    let worker = tokio::spawn(async move { seen.wait().await });
    tokio::task::yield_now().await;
    shutdown.tell().await;
    worker.await.expect("the worker does not panic");
}

/// The worker listens first.
pub async fn fixed() {
    let shutdown = Arc::new(Shutdown::default());
    let seen = Arc::clone(&shutdown);
    let worker = tokio::spawn(async move { seen.wait_from_now_on().await });
    tokio::task::yield_now().await;
    shutdown.tell().await;
    worker.await.expect("the worker does not panic");
    assert_eq!(*shutdown.idle.lock().await, 0);
}
