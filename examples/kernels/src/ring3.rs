//! Three shards, three tasks that each move keys from one shard to the next.
//!
//! Each holds its own shard and waits for its neighbour's. Any two of them get along; all three
//! together close the ring.

use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

const SHARDS: usize = 3;

type Shard = Mutex<Vec<u32>>;

/// The shards, each with one key.
fn shards() -> Arc<Vec<Shard>> {
    Arc::new((0..SHARDS as u32).map(|key| Mutex::new(vec![key])).collect())
}

/// Moves what is in a shard to the next one.
fn rotate(mut from: MutexGuard<'_, Vec<u32>>, mut to: MutexGuard<'_, Vec<u32>>) {
    to.append(&mut from);
}

async fn move_to_next(shards: Arc<Vec<Shard>>, index: usize) {
    let from = shards[index].lock().await;
    let to = shards[(index + 1) % SHARDS].lock().await;
    rotate(from, to);
}

async fn move_in_order(shards: Arc<Vec<Shard>>, index: usize) {
    let next = (index + 1) % SHARDS;
    let lower = shards[index.min(next)].lock().await;
    let higher = shards[index.max(next)].lock().await;
    match index < next {
        true => rotate(lower, higher),
        false => rotate(higher, lower),
    }
}

async fn check(shards: &[Shard]) {
    let mut keys = Vec::new();
    for shard in shards {
        keys.extend(shard.lock().await.iter().copied());
    }
    keys.sort_unstable();
    assert_eq!(keys, [0, 1, 2]);
}

/// Each task takes its own shard first.
pub async fn buggy() {
    let shards = shards();
    let tasks: Vec<_> =
        (0..SHARDS).map(|index| tokio::spawn(move_to_next(Arc::clone(&shards), index))).collect();
    for task in tasks {
        task.await.expect("a move does not panic");
    }
    check(&shards).await;
}

/// Each task takes the lower shard first.
pub async fn fixed() {
    let shards = shards();
    let tasks: Vec<_> =
        (0..SHARDS).map(|index| tokio::spawn(move_in_order(Arc::clone(&shards), index))).collect();
    for task in tasks {
        task.await.expect("a move does not panic");
    }
    check(&shards).await;
}
