//! What the macros expand to calls of. Not for direct use: it changes without notice.
//!
//! Owns: the order in which branches are polled, compiled once. Invariant: a poll that follows a stop
//! begins with the branch that was stopped, and polls all the others after it: one of them may have
//! been woken while the task was stopped, by a wake that this poll answers.

use crate::task::coop;
use detsim_executor::{Kernel, context};
use std::fmt;
use std::pin::Pin;
use std::task::Context;

pub use std::future::{Future, IntoFuture, poll_fn};
pub use std::pin::pin;
pub use std::task::{Poll, ready};

/// Was the current task stopped before an operation, in this poll?
#[inline]
pub fn is_stopped() -> bool {
    context::with(|kernel| kernel.is_stopped()).unwrap_or(false)
}

/// The branches of a `select!`: which are disabled, and which is polled next.
#[derive(Debug)]
pub struct Branches {
    count: u32,
    disabled: u64,
    fair: bool,
    start: u32,
    /// Branches of this poll that were looked at, counted from `start`.
    looked_at: u32,
    /// The branch that this poll begins with, because the last one ended there.
    first: Option<u32>,
    /// No branch of this poll was looked at yet.
    fresh: bool,
    /// The branch at which this poll was stopped.
    stopped: Option<u32>,
}

impl Branches {
    /// Polled in their order.
    pub fn biased(count: u32) -> Self {
        let (disabled, fair, start, looked_at, fresh) = (0, false, 0, 0, false);
        Self { count, disabled, fair, start, looked_at, first: None, fresh, stopped: None }
    }

    /// Polled from one on that is drawn for each poll; from the first one on by default.
    pub fn fair(count: u32) -> Self {
        Self { fair: true, ..Self::biased(count) }
    }

    /// The branch is polled no more.
    pub fn disable(&mut self, branch: u32) {
        self.disabled |= 1 << branch;
    }

    /// A poll begins. `Pending` where the task has no budget left: branches that ask for it would
    /// yield, and the others are not to profit from that.
    pub fn begin(&mut self, cx: &Context<'_>) -> Poll<()> {
        if !coop::has_budget_remaining() {
            return coop::exhausted(cx);
        }
        (self.looked_at, self.fresh) = (0, true);
        self.first = self.stopped.take().filter(|branch| self.is_enabled(*branch));
        if self.first.is_none() {
            self.start = if self.fair { draw(self.count) } else { 0 };
        }
        Poll::Ready(())
    }

    /// The next branch of this poll.
    pub fn advance(&mut self) -> Option<u32> {
        if std::mem::take(&mut self.fresh) && self.first.is_some() {
            return self.first;
        }
        while self.looked_at < self.count {
            let branch = (self.start + self.looked_at) % self.count;
            self.looked_at += 1;
            if self.is_enabled(branch) && self.first != Some(branch) {
                return Some(branch);
            }
        }
        None
    }

    /// The branch is not ready. True: the task was stopped in it, and the poll ends here.
    pub fn pends(&mut self, branch: u32) -> bool {
        let stopped = is_stopped();
        self.stopped = stopped.then_some(branch);
        stopped
    }

    /// Whether there is a branch to wait for.
    pub fn is_pending(&self) -> bool {
        (0..self.count).any(|branch| self.is_enabled(branch))
    }

    fn is_enabled(&self, branch: u32) -> bool {
        self.disabled & (1 << branch) == 0
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

/// The branches of a `join!`: all of them are polled, from another one on each time.
#[derive(Debug)]
pub struct Rotation {
    count: u32,
    fair: bool,
    start: u32,
    /// The branch to be visited next.
    at: u32,
    polled: u32,
    pending: bool,
    stopped: bool,
}

/// What to do with a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Poll it.
    Poll,
    /// Go on to the next.
    Pass,
    /// All were polled.
    End,
}

impl Rotation {
    /// Polled in their order.
    pub fn biased(count: u32) -> Self {
        let (start, at, polled) = (count - 1, 0, 0);
        Self { count, fair: false, start, at, polled, pending: false, stopped: false }
    }

    /// Polled from another one on each time.
    pub fn fair(count: u32) -> Self {
        Self { fair: true, ..Self::biased(count) }
    }

    /// A poll begins.
    pub fn begin(&mut self) {
        self.start = match (self.stopped, self.fair) {
            (true, _) => (self.at + self.count - 1) % self.count,
            (false, true) => (self.start + 1) % self.count,
            (false, false) => 0,
        };
        (self.at, self.polled, self.pending, self.stopped) = (0, 0, false, false);
    }

    /// The branches ask one after the other, again and again.
    pub fn visit(&mut self) -> Visit {
        if self.polled == self.count {
            return Visit::End;
        }
        let branch = self.at;
        self.at = (branch + 1) % self.count;
        if self.polled == 0 && branch != self.start {
            return Visit::Pass;
        }
        self.polled += 1;
        Visit::Poll
    }

    /// The branch just visited is not ready. True: the task was stopped in it, and the poll ends.
    pub fn pends(&mut self) -> bool {
        self.pending = true;
        self.stopped = is_stopped();
        self.stopped
    }

    /// Whether a branch was not ready.
    pub fn is_pending(&self) -> bool {
        self.pending
    }
}

pin_project_lite::pin_project! {
    /// A future, then its output, then nothing.
    #[project = MaybeDoneProjected]
    #[project_replace = MaybeDoneReplaced]
    pub enum MaybeDone<F: Future> {
        /// Not ready yet.
        Waiting { #[pin] future: F },
        /// Ready.
        Done { output: F::Output },
        /// Taken.
        Gone,
    }
}

/// A future whose output is kept.
pub fn maybe_done<F: IntoFuture>(future: F) -> MaybeDone<F::IntoFuture> {
    MaybeDone::Waiting { future: future.into_future() }
}

impl<F: Future> MaybeDone<F> {
    /// Polls, unless it is done.
    pub fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let MaybeDoneProjected::Waiting { future } = self.as_mut().project() else {
            return Poll::Ready(());
        };
        future.poll(cx).map(|output| self.set(Self::Done { output }))
    }

    /// The output, where it is done.
    pub fn output(self: Pin<&mut Self>) -> Option<&mut F::Output> {
        match self.project() {
            MaybeDoneProjected::Done { output } => Some(output),
            _ => None,
        }
    }

    /// Takes the output out, where it is done.
    pub fn take(mut self: Pin<&mut Self>) -> Option<F::Output> {
        self.as_mut().output()?;
        match self.project_replace(Self::Gone) {
            MaybeDoneReplaced::Done { output } => Some(output),
            _ => None,
        }
    }
}

impl<F: Future> fmt::Debug for MaybeDone<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting { .. } => "Waiting",
            Self::Done { .. } => "Done",
            Self::Gone => "Gone",
        })
    }
}

#[cfg(test)]
mod tests;
