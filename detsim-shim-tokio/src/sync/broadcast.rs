//! Channels from many to all.
//!
//! Mirrors tokio's. Owns: the ends [`Sender`], [`WeakSender`] and [`Receiver`], and the messages. Does
//! not own: how far the channel has come, and who waits (`core`). Messages are cloned for each receiver,
//! which may do anything; so each place of the buffer has a lock of the standard library, as in tokio.
//!
//! Invariants: messages have positions that count up; the message at a position is in the place of that
//! number modulo the capacity; senders take turns, each with its place locked before it makes its
//! position known, so whoever has locked the place of a position that is known finds the message
//! there, or a later one. A section of `core` never contains a lock of a place.

mod core;
mod receiver;
mod sender;

use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::core::Core;

pub use receiver::Receiver;
pub use sender::{Sender, WeakSender};
pub use tokio::sync::broadcast::error;

/// A channel that keeps the last `capacity` messages, rounded up to a power of two. A receiver that is
/// further behind loses some, and is told how many.
///
/// # Panics
/// Where `capacity` is 0 or more than half of what a `usize` can count.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::sync::broadcast;
/// let sim = detsim_executor::Sim::new(7);
/// let got = sim.block_on(async {
///     let (sender, mut one) = broadcast::channel(4);
///     let mut other = sender.subscribe();
///     sender.send("hello").unwrap();
///     (one.recv().await, other.recv().await)
/// });
/// assert_eq!(got.unwrap(), (Ok("hello"), Ok("hello")));
/// ```
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let shared = Shared::new(capacity, 1, Location::caller());
    (Sender::first(Arc::clone(&shared)), Receiver::first(shared))
}

/// What all ends share.
struct Shared<T> {
    core: Core,
    /// Whose turn it is to send: the position of the next message.
    turn: Mutex<u64>,
    places: Box<[Mutex<Place<T>>]>,
}

/// A place for one message.
struct Place<T> {
    /// Which message it is for.
    position: u64,
    /// Receivers that have not had it.
    missing: usize,
    message: Option<T>,
}

impl<T> Shared<T> {
    #[track_caller]
    fn new(capacity: usize, receivers: usize, site: &'static Location<'static>) -> Arc<Self> {
        assert!(capacity > 0, "broadcast channel capacity cannot be zero");
        assert!(
            capacity <= usize::MAX >> 1,
            "broadcast channel capacity exceeded `usize::MAX / 2`"
        );
        let capacity = capacity.next_power_of_two();
        // As if each were for a message before the first.
        let place = |index: usize| {
            let position = (index as u64).wrapping_sub(capacity as u64);
            Mutex::new(Place { position, missing: 0, message: None })
        };
        let places = (0..capacity).map(place).collect();
        let core = Core::new(capacity as u64, receivers, site);
        Arc::new(Self { core, turn: Mutex::new(0), places })
    }

    /// The place of a position, locked.
    fn place(&self, position: u64) -> MutexGuard<'_, Place<T>> {
        // The length is a power of two.
        lock(&self.places[position as usize & (self.places.len() - 1)])
    }
}

/// A panic in a user's `clone` or destructor leaves a place as it was.
fn lock<S>(mutex: &Mutex<S>) -> MutexGuard<'_, S> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Place<T> {
    /// One receiver has had the message, or does without: the message, where that was the last.
    fn leave(&mut self) -> Option<T> {
        self.missing -= 1;
        if self.missing == 0 { self.message.take() } else { None }
    }
}
