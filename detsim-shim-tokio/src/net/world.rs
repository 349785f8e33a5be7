//! The network of the runtime in which a thread is.
//!
//! Owns: the way from a call to the sockets of its simulation. Does not own: runtimes.

use detsim_net::{Socket, Sockets};

use crate::runtime::scope;

/// Opens sockets in the network of this thread's runtime.
///
/// # Panics
/// Where there is no runtime, or one without io, in tokio's words.
#[track_caller]
pub(crate) fn open<R>(open: impl FnOnce(&Sockets) -> R) -> R {
    scope::with_io(|sim| open(&Sockets::of(sim)))
}

/// A new socket of TCP, of the node that runs.
///
/// # Panics
/// As [`open`].
#[track_caller]
pub(crate) fn tcp(is_v6: bool) -> Socket {
    open(|sockets| sockets.tcp(is_v6))
}
