//! How a call waits.
//!
//! Owns: [`How`]. Does not own: the wait (`waits.rs`), or when a call waits (`socket.rs`).

use std::panic::Location;

use detsim_executor::OpKind;

use crate::waits::{Side, Ticket};

/// How a call waits: for which end, at which line, and as whom.
#[derive(Debug)]
pub struct How<'a> {
    pub(super) side: Side,
    pub(super) op: OpKind,
    pub(super) site: &'static Location<'static>,
    pub(super) ticket: Option<&'a mut Ticket>,
    /// Whether it is one of the operations of which a task may do so many at a time.
    pub(super) costs: bool,
}

impl<'a> How<'a> {
    /// As whoever polls an end: the last one that did is the one to be woken.
    #[track_caller]
    pub fn poller(op: OpKind) -> Self {
        Self::at(op, Location::caller(), None)
    }

    /// As whoever polls an end, at this line.
    #[inline]
    pub fn poller_at(op: OpKind, site: &'static Location<'static>) -> Self {
        Self::at(op, site, None)
    }

    /// As one future of several.
    pub fn future(op: OpKind, site: &'static Location<'static>, ticket: &'a mut Ticket) -> Self {
        Self::at(op, site, Some(ticket))
    }

    #[inline]
    fn at(op: OpKind, site: &'static Location<'static>, ticket: Option<&'a mut Ticket>) -> Self {
        let side = match op {
            OpKind::Send | OpKind::Connect => Side::Write,
            _ => Side::Read,
        };
        Self { side, op, site, ticket, costs: true }
    }

    /// Is it a poll of whoever has the socket, which counts as an operation?
    #[inline]
    pub(super) fn is_usual(&self) -> bool {
        self.ticket.is_none() && self.costs && matches!(self.op, OpKind::Recv | OpKind::Send)
    }
}
