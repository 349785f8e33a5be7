//! The branches of a `join!`: their outputs, and the order in which a poll asks them.
//!
//! Owns: [`MaybeDone`], which also knows that the task was stopped in it; [`Order`], which outlives a
//! poll, and [`Rotation`], which is one poll. Invariant: a poll asks each branch once, unless it is
//! stopped.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, mem};

use super::is_stopped;
use super::list::{And, List, Nil};

/// Where polls begin.
pub trait Order {
    /// The branch, of `count`, that the next poll begins with, unless it was stopped in another.
    fn start(&mut self, count: u32, stopped: Option<u32>) -> u32;

    /// A poll of the branches begins.
    fn rotation<L: Stops>(&mut self, branches: Pin<&mut L>) -> Rotation {
        let start = self.start(L::COUNT, branches.take_stopped());
        Rotation { count: L::COUNT, start, at: 0, polled: 0, pending: false }
    }
}

/// Polls begin with another branch each time.
#[derive(Debug)]
pub struct Fair {
    next: u32,
}

/// Polls begin with the first branch.
#[derive(Debug)]
pub struct Biased;

/// For the macros, which know the order by this name.
pub const fn fair() -> Fair {
    Fair { next: 0 }
}

/// For the macros, which know the order by this name.
pub const fn biased() -> Biased {
    Biased
}

impl Order for Fair {
    fn start(&mut self, count: u32, stopped: Option<u32>) -> u32 {
        let start = stopped.unwrap_or(self.next);
        self.next = (start + 1) % count;
        start
    }
}

impl Order for Biased {
    fn start(&mut self, _count: u32, stopped: Option<u32>) -> u32 {
        stopped.unwrap_or(0)
    }
}

/// Branches that know in which of them the task was stopped.
pub trait Stops: List {
    /// The branch in which the last poll was stopped.
    fn take_stopped(self: Pin<&mut Self>) -> Option<u32>;
}

impl Stops for Nil {
    fn take_stopped(self: Pin<&mut Self>) -> Option<u32> {
        None
    }
}

impl<L: Stops, F: Future> Stops for And<L, MaybeDone<F>> {
    fn take_stopped(self: Pin<&mut Self>) -> Option<u32> {
        let (rest, last) = self.parts();
        rest.take_stopped().or_else(|| last.take_stop().then_some(L::COUNT))
    }
}

/// One poll of the branches.
#[derive(Debug)]
pub struct Rotation {
    count: u32,
    start: u32,
    /// The branch to be visited next.
    at: u32,
    polled: u32,
    pending: bool,
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
    pub fn pends<F: Future>(&mut self, branch: Pin<&mut MaybeDone<F>>) -> bool {
        self.pending = true;
        let stopped = is_stopped();
        if stopped {
            branch.stop();
        }
        stopped
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
        /// Not ready yet; was the task stopped in it?
        Waiting { #[pin] future: F, stopped: bool },
        /// Ready.
        Done { output: F::Output },
        /// Taken.
        Gone,
    }
}

/// A future whose output is kept.
pub fn maybe_done<F: IntoFuture>(future: F) -> MaybeDone<F::IntoFuture> {
    MaybeDone::Waiting { future: future.into_future(), stopped: false }
}

impl<F: Future> MaybeDone<F> {
    /// Polls, unless it is done.
    pub fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let MaybeDoneProjected::Waiting { future, .. } = self.as_mut().project() else {
            return Poll::Ready(());
        };
        future.poll(cx).map(|output| self.set(Self::Done { output }))
    }

    /// The task was stopped in it.
    pub fn stop(self: Pin<&mut Self>) {
        if let MaybeDoneProjected::Waiting { stopped, .. } = self.project() {
            *stopped = true;
        }
    }

    fn take_stop(self: Pin<&mut Self>) -> bool {
        match self.project() {
            MaybeDoneProjected::Waiting { stopped, .. } => mem::take(stopped),
            _ => false,
        }
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
