//! A seat that is free when it is looked at, and taken when it is booked.
//!
//! Every access is under the lock. Between looking and booking, the lock is let go.

use std::sync::Arc;
use tokio::sync::Mutex;

/// Seats that there are.
const SEATS: usize = 1;

/// Who has a seat, and who was charged for one.
#[derive(Debug, Default)]
struct Train {
    passengers: Mutex<Vec<u32>>,
    charged: Mutex<Vec<u32>>,
}

impl Train {
    async fn charge(&self, passenger: u32) {
        self.charged.lock().await.push(passenger);
    }

    async fn book(&self, passenger: u32) -> bool {
        if self.passengers.lock().await.len() >= SEATS {
            return false;
        }
        self.charge(passenger).await;
        self.passengers.lock().await.push(passenger);
        true
    }

    async fn book_at_once(&self, passenger: u32) -> bool {
        let mut passengers = self.passengers.lock().await;
        if passengers.len() >= SEATS {
            return false;
        }
        self.charge(passenger).await;
        passengers.push(passenger);
        true
    }

    async fn check(&self) {
        let passengers = self.passengers.lock().await;
        let count = passengers.len();
        assert!(count <= SEATS, "{count} passengers on {SEATS} seat");
        assert_eq!(*passengers, *self.charged.lock().await);
    }
}

/// Two passengers see the same free seat.
pub async fn buggy() {
    let train = Arc::new(Train::default());
    let (first, second) = (Arc::clone(&train), Arc::clone(&train));
    let first = tokio::spawn(async move { first.book(1).await });
    let second = tokio::spawn(async move { second.book(2).await });
    first.await.expect("a booking does not panic");
    second.await.expect("a booking does not panic");
    train.check().await;
}

/// Looked at and booked under one lock.
pub async fn fixed() {
    let train = Arc::new(Train::default());
    let (first, second) = (Arc::clone(&train), Arc::clone(&train));
    let first = tokio::spawn(async move { first.book_at_once(1).await });
    let second = tokio::spawn(async move { second.book_at_once(2).await });
    let first = first.await.expect("a booking does not panic");
    let second = second.await.expect("a booking does not panic");
    assert!(first != second, "one seat, one booking");
    train.check().await;
}
