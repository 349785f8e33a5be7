//! What tokio's driver has not told of yet.
//!
//! Owns: [`Untold`], and which calls it lets wait. Does not own: what tokio remembers (`dispatch.rs`), nor events
//! of the network, which happen between polls and are told at once. tokio asks the system what sockets are
//! ready for when it has nothing to poll: so what comes up within a poll, and what a new socket is ready
//! for, is not known in that poll, though a call of the system's would find it. Invariant: nothing is untold in
//! a later poll, nor after [`WAIT_NS_MAX`], nor to who asks for it [`REFUSALS_MAX`] times.

use std::io;

use detsim_executor::{Kernel, OpKind, SimTime, TaskTag};

use super::{Entry, Socket, SocketKey, World};
use crate::errno::Errno;
use crate::waits::Side;

/// What has come up in one poll: see the module's documentation.
#[derive(Debug, Default)]
pub(crate) struct Untold {
    /// [read, write].
    sides: [bool; 2],
    step: u64,
    since: SimTime,
    refusals: u8,
}

/// A thread that blocks in a poll, or goes round and round in it, is one of several: another drives.
const WAIT_NS_MAX: u64 = 1_000;
const REFUSALS_MAX: u8 = 16;

impl Untold {
    #[inline(always)]
    pub(super) fn is_any(&self) -> bool {
        self.sides[0] | self.sides[1]
    }

    /// Which ends nobody has told of: [read, write].
    pub(super) fn sides(&self, kernel: &Kernel) -> [bool; 2] {
        let waited_ns = kernel.now().as_nanos().saturating_sub(self.since.as_nanos());
        let is_told = self.step != kernel.steps()
            || waited_ns >= WAIT_NS_MAX
            || self.refusals >= REFUSALS_MAX;
        if is_told { [false, false] } else { self.sides }
    }

    fn begin(&mut self, kernel: &Kernel, sides: [bool; 2]) {
        let (step, since) = (kernel.steps(), kernel.now());
        *self = Self { sides, step, since, refusals: 0 };
    }
}

impl Entry {
    /// It is ready for what it was not `before`. Where a task is polled now, tokio does not know, unless it
    /// wakes somebody who waits for it.
    #[inline]
    pub(super) fn became_ready(&mut self, kernel: &Kernel, before: [bool; 2], wakes: bool) {
        if kernel.current_tag() == TaskTag::NOBODY {
            return;
        }
        let mut sides = self.untold.sides(kernel);
        for (at, side) in sides.iter_mut().enumerate() {
            if self.ready[at] && !before[at] {
                *side = !wakes;
            }
        }
        self.untold.begin(kernel, sides);
    }

    /// tokio takes it for ready until it finds that it is not: [read, write].
    pub(crate) fn assume(&mut self, ready: [bool; 2]) {
        (self.ready, self.untold) = (ready, Untold::default());
    }
}

impl World {
    /// Whether a call has to wait for tokio to be told of what is there.
    #[inline]
    pub(super) fn must_be_told(
        &mut self,
        kernel: &Kernel,
        key: SocketKey,
        op: OpKind,
        side: Side,
    ) -> bool {
        let waits = matches!(op, OpKind::Recv | OpKind::Send | OpKind::Accept | OpKind::Read);
        let is_any = self.sockets.get(key).is_some_and(|entry| entry.untold.is_any());
        waits && is_any && self.is_untold(kernel, key, side)
    }

    #[cold]
    fn is_untold(&mut self, kernel: &Kernel, key: SocketKey, side: Side) -> bool {
        let Ok(truth) = self.truth(key) else { return false };
        let Ok(entry) = self.entry_mut(key) else { return false };
        let untold = entry.untold.sides(kernel);
        if untold == [false, false] {
            entry.untold = Untold::default();
            return false;
        }
        let there = [truth.readable && side != Side::Write, truth.writable && side != Side::Read];
        let is_there = there != [false, false];
        let is_known = (there[0] && !untold[0]) || (there[1] && !untold[1]);
        if is_there && !is_known {
            entry.untold.refusals += 1;
        }
        is_there && !is_known
    }
}

impl Socket {
    /// tokio's driver watches it from now on. Until it has turned, it is taken to be ready for what is assumed,
    /// and nothing else: [read, write].
    pub fn register(&self, assumed: [bool; 2]) {
        self.sockets.with(|world, kernel| {
            let Ok(entry) = world.entry_mut(self.key) else { return };
            entry.assume(assumed);
            if kernel.current_tag() != TaskTag::NOBODY {
                entry.untold.begin(kernel, assumed.map(|is_assumed| !is_assumed));
            }
        });
    }

    /// The socket, for one of tokio's calls that only try: where tokio would ask the system at all.
    ///
    /// # Errors
    /// EAGAIN where it would not, since it has not been told that an end is ready.
    pub fn told(&self, side: Side) -> io::Result<&Self> {
        let untold = self
            .sockets
            .with(|world, kernel| world.must_be_told(kernel, self.key, OpKind::Read, side));
        if untold == Some(true) { Err(Errno::AGAIN.into()) } else { Ok(self) }
    }
}
