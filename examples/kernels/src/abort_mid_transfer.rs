//! A transfer that is aborted between its two halves.
//!
//! An abort lands at an await. Between debit and credit there is one.

use std::sync::Arc;
use tokio::sync::Mutex;

/// Two accounts under locks of their own.
#[derive(Debug)]
struct Bank {
    source: Mutex<i64>,
    target: Mutex<i64>,
}

impl Bank {
    fn new() -> Arc<Self> {
        Arc::new(Self { source: Mutex::new(100), target: Mutex::new(0) })
    }

    async fn transfer(&self, amount: i64) {
        *self.source.lock().await -= amount;
        *self.target.lock().await += amount;
    }

    /// Has both locks before it changes anything.
    async fn transfer_at_once(&self, amount: i64) {
        let mut source = self.source.lock().await;
        let mut target = self.target.lock().await;
        *source -= amount;
        *target += amount;
    }

    async fn check(&self) {
        let (source, target) = (*self.source.lock().await, *self.target.lock().await);
        assert_eq!(source + target, 100, "{source} and {target}: money is gone");
    }
}

/// The abort may find the money on its way.
pub async fn buggy() {
    let bank = Bank::new();
    let transferring = Arc::clone(&bank);
    let transfer = tokio::spawn(async move { transferring.transfer(30).await });
    tokio::task::yield_now().await;
    transfer.abort();
    // Cancelled or done.
    let _either = transfer.await;
    bank.check().await;
}

/// There is no await between the two halves.
pub async fn fixed() {
    let bank = Bank::new();
    let transferring = Arc::clone(&bank);
    let transfer = tokio::spawn(async move { transferring.transfer_at_once(30).await });
    tokio::task::yield_now().await;
    transfer.abort();
    // Cancelled or done.
    let _either = transfer.await;
    bank.check().await;
}
