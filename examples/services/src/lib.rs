//! Four small services on tokio's sockets: a chat, an RPC that closes one direction, an HTTP/1.1 server on
//! a bare stream, and a gossip over datagrams.
//!
//! Owns: programs of the kind that everybody writes once, right; and [`Bug`], the mistake that is made in
//! each, to be switched on. Does not know that it is simulated: built without `--cfg detsim` these are
//! programs on tokio. What they have in common: a stream has no frames of its own, an end of one direction is no
//! end of the other, a datagram may come twice, and every peer may fall silent at any time, or die and begin anew.

pub mod chat;
pub mod gossip;
pub mod http;
pub mod rpc;

/// One mistake, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bug {
    /// The programs as they should be.
    #[default]
    None,
    /// Chat: what one read gives is taken for a line.
    CutLine,
    /// RPC: which calls were carried out is remembered for as long as their connection lasts.
    ForgottenCalls,
    /// HTTP: the end of the stream is taken for the end of the body.
    CutBody,
    /// Gossip: votes that come again are counted again.
    CountedTwice,
}
