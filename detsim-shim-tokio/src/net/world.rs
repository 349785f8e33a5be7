//! The network of the runtime in which a thread is.
//!
//! Owns: the way from a call to the sockets of its simulation. Does not own: runtimes.

use std::io;

use detsim_executor::context;
use detsim_net::{Socket, Sockets};

use crate::runtime::{scope, world};

/// Opens sockets in the network of this thread's runtime, for which they wait.
///
/// # Errors
/// tokio's where the runtime has been shut down.
///
/// # Panics
/// Where there is no runtime, or one without io, in tokio's words.
#[track_caller]
pub(crate) fn open<R>(open: impl FnOnce(&Sockets) -> R) -> io::Result<R> {
    scope::with_io(|sim, runtime| Ok(Sockets::of(sim).opening_for(runtime.group().word(), open)))
}

/// A new socket of TCP, of the node that runs.
///
/// # Errors
/// As [`open`].
///
/// # Panics
/// As [`open`].
#[track_caller]
pub(crate) fn tcp(is_v6: bool) -> io::Result<Socket> {
    open(|sockets| sockets.tcp(is_v6))
}

/// Polls a socket: where nobody drives the run, as what a thread does that may do so.
#[inline]
pub(crate) fn inside<R>(poll: impl FnOnce() -> R) -> R {
    if context::is_inside() {
        return poll();
    }
    match world::opened() {
        Some(sim) if sim.is_alive() => sim.enter(poll),
        _ => poll(),
    }
}
