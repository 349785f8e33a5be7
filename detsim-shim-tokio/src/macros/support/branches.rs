//! The branches of a `select!`: which are disabled, and the order in which a poll looks at them.
//!
//! Owns: [`Branches`], which outlives a poll, and [`Turn`], which is one poll. Invariant: a poll looks
//! at each branch that is not disabled once.

use crate::task::coop;
use detsim_executor::{Kernel, context};
use std::fmt;
use std::task::{Context, Poll};

use super::is_stopped;

/// Is the branch that a poll begins with drawn?
pub const fn is_fair() -> bool {
    true
}

/// As [`is_fair`], for branches that are polled in their order.
pub const fn is_biased() -> bool {
    false
}

/// A bit for each branch.
pub trait Mask: Copy + Default + fmt::Debug {
    /// Is the bit of this branch set?
    fn has(self, branch: u32) -> bool;
    /// Sets the bit of this branch.
    fn set(&mut self, branch: u32);
}

macro_rules! mask {
    ($bits:ty, $is_wide:literal) => {
        impl Mask for $bits {
            fn has(self, branch: u32) -> bool {
                self & (1 << branch) != 0
            }
            fn set(&mut self, branch: u32) {
                *self |= 1 << branch;
            }
        }
        impl Masked for Size<$is_wide> {
            type Mask = $bits;
        }
    };
}

mask!(u32, false);
mask!(u64, true);

/// Are there more than 32 branches?
#[derive(Debug)]
pub struct Size<const IS_WIDE: bool>;

/// The mask for so many branches.
pub trait Masked {
    /// The smallest that has a bit for each.
    type Mask: Mask;
}

/// The mask for up to 32 branches, or for more.
pub type MaskOf<const IS_WIDE: bool> = <Size<IS_WIDE> as Masked>::Mask;

/// What is known of the branches between two polls.
#[derive(Debug)]
pub struct Branches<M> {
    disabled: M,
    /// The branch at which the last poll was stopped.
    stopped: Option<Stopped>,
}

/// The number of a branch, in one byte with the absence of it.
type Stopped = std::num::NonZeroU8;

/// One poll of the branches.
#[derive(Debug)]
pub struct Turn {
    count: u32,
    start: u32,
    /// Branches that were looked at, counted from `start`.
    looked_at: u32,
    /// The branch that this poll begins with, because the last one ended there.
    first: Option<u32>,
    /// No branch was looked at yet.
    fresh: bool,
}

impl<M: Mask> Default for Branches<M> {
    fn default() -> Self {
        Self { disabled: M::default(), stopped: None }
    }
}

impl<M: Mask> Branches<M> {
    /// The branch is polled no more.
    pub fn disable(&mut self, branch: u32) {
        self.disabled.set(branch);
    }

    /// All but one.
    pub fn without(mut self, branch: u32) -> Self {
        self.disable(branch);
        self
    }

    /// A poll of `count` branches begins: at one that is drawn, or at the first. `Pending` where the
    /// task has no budget left: branches that ask for it would yield, and the others are not to
    /// profit from that.
    pub fn begin(&mut self, count: u32, is_fair: bool, cx: &Context<'_>) -> Poll<Turn> {
        if !coop::has_budget_remaining() {
            return coop::exhausted(cx);
        }
        let stopped = self.stopped.take().map(|branch| u32::from(branch.get()) - 1);
        let first = stopped.filter(|branch| self.is_enabled(*branch));
        let start = if is_fair && first.is_none() { draw(count) } else { 0 };
        Poll::Ready(Turn { count, start, looked_at: 0, first, fresh: true })
    }

    /// The next branch of a poll.
    pub fn advance(&self, turn: &mut Turn) -> Option<u32> {
        if std::mem::take(&mut turn.fresh) && turn.first.is_some() {
            return turn.first;
        }
        while turn.looked_at < turn.count {
            let branch = (turn.start + turn.looked_at) % turn.count;
            turn.looked_at += 1;
            if self.is_enabled(branch) && turn.first != Some(branch) {
                return Some(branch);
            }
        }
        None
    }

    /// The branch is not ready. True: the task was stopped in it, and the poll ends here.
    pub fn pends(&mut self, branch: u32) -> bool {
        let stopped = is_stopped();
        if stopped {
            self.stop_at(branch);
        }
        stopped
    }

    pub(super) fn stop_at(&mut self, branch: u32) {
        self.stopped = Stopped::new(branch as u8 + 1);
    }

    /// Whether there is a branch to wait for.
    pub fn is_pending(&self, turn: &Turn) -> bool {
        (0..turn.count).any(|branch| self.is_enabled(branch))
    }

    fn is_enabled(&self, branch: u32) -> bool {
        !self.disabled.has(branch)
    }
}

/// The branch to start from: a choice of the run, the first one where nothing runs.
fn draw(count: u32) -> u32 {
    if count < 2 {
        return 0;
    }
    let draw = |kernel: &mut Kernel| {
        let (anchor, domain) = (kernel.anchor(), kernel.choices().domain("select"));
        kernel.choices().draw(domain, anchor, u64::from(count), 0) as u32
    };
    context::with(draw).unwrap_or(0)
}
