//! A cache whose insertion makes room under the lock that making room takes.
//!
//! Nothing happens until the cache is full. No other task is needed.

use std::collections::VecDeque;
use tokio::sync::Mutex;

/// Keys that a cache holds at most.
const KEYS_MAX: usize = 2;

/// The latest keys.
#[derive(Debug, Default)]
struct Cache {
    keys: Mutex<VecDeque<u32>>,
}

impl Cache {
    /// Takes out the oldest key.
    async fn evict(&self) {
        self.keys.lock().await.pop_front();
    }

    async fn insert(&self, key: u32) {
        let mut keys = self.keys.lock().await;
        if keys.len() == KEYS_MAX {
            self.evict().await;
        }
        keys.push_back(key);
    }

    async fn insert_under_one_lock(&self, key: u32) {
        let mut keys = self.keys.lock().await;
        if keys.len() == KEYS_MAX {
            keys.pop_front();
        }
        keys.push_back(key);
    }
}

/// The third key waits for the lock that its own insertion holds.
pub async fn buggy() {
    let cache = Cache::default();
    for key in 0..3 {
        cache.insert(key).await;
    }
    assert_eq!(*cache.keys.lock().await, [1, 2]);
}

/// Whoever holds the lock works on what it guards.
pub async fn fixed() {
    let cache = Cache::default();
    for key in 0..3 {
        cache.insert_under_one_lock(key).await;
    }
    assert_eq!(*cache.keys.lock().await, [1, 2]);
}
