//! TCP as Linux does it.
//!
//! Owns: connections between two ends, what a socket of TCP can be, and the calls of a program on
//! one. The parts: `tcp/lane.rs` (the bytes of one direction, in `tcp/queue.rs`),
//! `tcp/connection.rs` (both ends and how they close), `tcp/wire.rs` (segments on links: loss is
//! delay), `tcp/handshake.rs` (from a SYN to an accept), `tcp/keepalive.rs`
//! (whether the peer is there), `tcp/calls.rs` (reading and writing),
//! `tcp/urgent.rs` (one byte beside the stream). Does not own: tasks or waits (`sockets.rs`).
//!
//! # The model
//! - A connection is a queue of bytes each way. No byte is lost, doubled or swapped while it lives: a
//!   segment that a link loses is sent again after 200 ms, then 400, and so on to two minutes; after
//!   15 times the sender gives up with ETIMEDOUT.
//! - A write takes as much as the send buffer has room for; bytes leave it when they are acknowledged. A
//!   segment leaves when the receiver's buffer has room, and, without `TCP_NODELAY`, a small one
//!   when nothing else is unacknowledged (Nagle).
//! - A connect is complete when the peer's kernel has answered; nobody needs to accept it. A backlog
//!   that is full drops the SYN, which comes again after 1 s, 2 s, .. and gives ETIMEDOUT after 127 s.
//! - Closing sends FIN behind what was written; with bytes unread, or lingering for zero, it sends RST.
//!   What was read into the kernel can still be read after an RST; then comes ECONNRESET, once, then
//!   the end of the stream.
//! - The death of a process closes its sockets. The loss of power sends nothing: who sends to the host
//!   hears nothing while it is down, and RST once it is up again.

pub(crate) mod calls;
pub(crate) mod connection;
mod convoy;
mod handshake;
mod keepalive;
pub(crate) mod lane;
mod mirror;
mod queue;
mod urgent;
mod usual;
mod wire;

use std::collections::VecDeque;
use std::net::SocketAddr;

pub(crate) use connection::{Connection, Step};

use crate::table::Key;

/// `SOMAXCONN`.
pub(crate) const BACKLOG_MAX: usize = 4_096;

pub(crate) type ConnectionKey = Key<Connection>;

/// A socket of TCP.
#[derive(Debug)]
pub(crate) struct TcpSocket {
    pub(crate) is_v6: bool,
    pub(crate) state: State,
}

/// What a socket of TCP is.
#[derive(Debug)]
pub(crate) enum State {
    /// Neither: it may have an address.
    Closed { local: Option<SocketAddr> },
    /// It takes connections.
    Listening(Listener),
    /// It is one end of a connection.
    Connection { key: ConnectionKey, side: usize },
}

/// A socket that takes connections.
///
/// # Invariants
/// What is in `queue` has no socket yet, and is closed with the listener.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) local: SocketAddr,
    pub(crate) backlog: usize,
    /// Complete, and not accepted yet.
    pub(crate) queue: VecDeque<ConnectionKey>,
    /// Not complete yet.
    pub(crate) half_open: usize,
}
