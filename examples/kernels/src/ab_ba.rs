//! Two accounts, two transfers in opposite directions, two locks in opposite order.
//!
//! Each transfer holds the account it takes from while it waits for the other one.

use std::sync::Arc;
use tokio::sync::Mutex;

/// An account: its number, and what is on it.
#[derive(Debug)]
struct Account {
    number: u32,
    balance: Mutex<i64>,
}

impl Account {
    fn new(number: u32, balance: i64) -> Arc<Self> {
        Arc::new(Self { number, balance: Mutex::new(balance) })
    }
}

/// Locks in the order in which the accounts are named.
async fn transfer(from: Arc<Account>, to: Arc<Account>, amount: i64) {
    let mut source = from.balance.lock().await;
    let mut target = to.balance.lock().await;
    *source -= amount;
    *target += amount;
}

/// Locks the account with the lower number first, whichever way the money goes.
async fn transfer_in_order(from: Arc<Account>, to: Arc<Account>, amount: i64) {
    if from.number < to.number {
        transfer(from, to, amount).await;
    } else {
        transfer(to, from, -amount).await;
    }
}

/// A transfer there and a transfer back wait for each other.
pub async fn buggy() {
    let (anna, bert) = (Account::new(1, 100), Account::new(2, 100));
    let there = tokio::spawn(transfer(Arc::clone(&anna), Arc::clone(&bert), 30));
    let back = tokio::spawn(transfer(Arc::clone(&bert), Arc::clone(&anna), 20));
    there.await.expect("a transfer does not panic");
    back.await.expect("a transfer does not panic");
    assert_eq!(*anna.balance.lock().await + *bert.balance.lock().await, 200);
}

/// All transfers lock in one order.
pub async fn fixed() {
    let (anna, bert) = (Account::new(1, 100), Account::new(2, 100));
    let there = tokio::spawn(transfer_in_order(Arc::clone(&anna), Arc::clone(&bert), 30));
    let back = tokio::spawn(transfer_in_order(Arc::clone(&bert), Arc::clone(&anna), 20));
    there.await.expect("a transfer does not panic");
    back.await.expect("a transfer does not panic");
    assert_eq!((*anna.balance.lock().await, *bert.balance.lock().await), (90, 110));
}
