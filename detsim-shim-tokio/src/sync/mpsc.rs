//! Channels from many senders to one receiver.
//!
//! Mirrors tokio's module. Owns: the bounded and the unbounded channel. All that they do is in
//! `chan.rs`, which does not know the type of the messages; the rest are its names.

mod bounded;
mod chan;
mod ends;
mod permit;
mod unbounded;

pub use tokio::sync::mpsc::error;

pub use bounded::{Receiver, Sender, WeakSender, channel};
pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
