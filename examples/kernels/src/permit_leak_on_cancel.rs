//! A pool that counts a connection as used before there is anything that gives it back.
//!
//! Who gives up in between takes the slot along. Nothing is wrong until the pool is empty.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{sleep, timeout};

/// What it takes to connect, to use a connection, and how long an impatient client waits for one.
const CONNECTING: Duration = Duration::from_millis(5);
const USING: Duration = Duration::from_millis(8);
const PATIENCE: Duration = Duration::from_millis(15);

/// Connections to a database, one at a time.
#[derive(Debug)]
struct Pool {
    slots: Semaphore,
}

/// A connection; its slot goes back when it is dropped.
#[derive(Debug)]
struct Connection<'a> {
    pool: &'a Pool,
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.pool.slots.add_permits(1);
    }
}

impl Pool {
    fn new() -> Arc<Self> {
        Arc::new(Self { slots: Semaphore::new(1) })
    }

    async fn slot(&self) -> SemaphorePermit<'_> {
        self.slots.acquire().await.expect("the pool stays open")
    }

    /// Takes a slot, connects, and only then has something that is dropped.
    async fn connect(&self) -> Connection<'_> {
        self.slot().await.forget();
        sleep(CONNECTING).await;
        Connection { pool: self }
    }

    /// Holds the permit until the connection takes it over.
    async fn connect_with_permit(&self) -> Connection<'_> {
        let slot = self.slot().await;
        sleep(CONNECTING).await;
        slot.forget();
        Connection { pool: self }
    }
}

async fn impatient(pool: Arc<Pool>) {
    if let Ok(connection) = timeout(PATIENCE, pool.connect()).await {
        sleep(USING).await;
        drop(connection);
    }
}

async fn impatient_with_permit(pool: Arc<Pool>) {
    if let Ok(connection) = timeout(PATIENCE, pool.connect_with_permit()).await {
        sleep(USING).await;
        drop(connection);
    }
}

async fn patient(pool: Arc<Pool>) {
    let connection = pool.connect_with_permit().await;
    sleep(USING).await;
    drop(connection);
}

/// An impatient client may leave the pool without a slot, and the next one waits for ever.
pub async fn buggy() {
    let pool = Pool::new();
    let first = tokio::spawn(impatient(Arc::clone(&pool)));
    let second = tokio::spawn(patient(Arc::clone(&pool)));
    first.await.expect("a client does not panic");
    second.await.expect("a client does not panic");
    patient(pool).await;
}

/// From the first moment on, the slot has an owner.
pub async fn fixed() {
    let pool = Pool::new();
    let first = tokio::spawn(impatient_with_permit(Arc::clone(&pool)));
    let second = tokio::spawn(patient(Arc::clone(&pool)));
    first.await.expect("a client does not panic");
    second.await.expect("a client does not panic");
    patient(Arc::clone(&pool)).await;
    assert_eq!(pool.slots.available_permits(), 1);
}
