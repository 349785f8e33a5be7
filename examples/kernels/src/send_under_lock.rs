//! A producer reports to a channel while it holds the state that the channel's receiver needs.
//!
//! As long as the channel has room, nobody notices.

use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};

/// Events that wait for the consumer at most.
const EVENTS_MAX: usize = 1;
const EVENTS: u32 = 3;

/// How many events were made, and how many were seen.
#[derive(Debug, Default)]
struct State {
    made: u32,
    seen: u32,
}

async fn produce_under_lock(state: Arc<Mutex<State>>, events: mpsc::Sender<u32>) {
    for event in 0..EVENTS {
        let mut state = state.lock().await;
        state.made += 1;
        events.send(event).await.expect("the consumer reads to the end");
    }
}

async fn produce(state: Arc<Mutex<State>>, events: mpsc::Sender<u32>) {
    for event in 0..EVENTS {
        state.lock().await.made += 1;
        events.send(event).await.expect("the consumer reads to the end");
    }
}

async fn consume(state: Arc<Mutex<State>>, mut events: mpsc::Receiver<u32>) {
    while events.recv().await.is_some() {
        state.lock().await.seen += 1;
    }
}

async fn check(state: &Mutex<State>) {
    let state = state.lock().await;
    assert_eq!((state.made, state.seen), (EVENTS, EVENTS));
}

/// The producer waits for room with the lock in its hand, the consumer for the lock.
pub async fn buggy() {
    let state = Arc::new(Mutex::new(State::default()));
    let (sender, receiver) = mpsc::channel(EVENTS_MAX);
    let producer = tokio::spawn(produce_under_lock(Arc::clone(&state), sender));
    let consumer = tokio::spawn(consume(Arc::clone(&state), receiver));
    producer.await.expect("the producer does not panic");
    consumer.await.expect("the consumer does not panic");
    check(&state).await;
}

/// The lock is let go before the channel is waited for.
pub async fn fixed() {
    let state = Arc::new(Mutex::new(State::default()));
    let (sender, receiver) = mpsc::channel(EVENTS_MAX);
    let producer = tokio::spawn(produce(Arc::clone(&state), sender));
    let consumer = tokio::spawn(consume(Arc::clone(&state), receiver));
    producer.await.expect("the producer does not panic");
    consumer.await.expect("the consumer does not panic");
    check(&state).await;
}
