//! Threads that the program itself starts in a run.
//!
//! Owns: their tasks ([`begin`]), and what such a thread does at its beginning and its end
//! ([`Ticket::enter`], [`leave`]). Does not own: the thread, which is the system's. Invariants: from its
//! first instruction of the program to the last destructor of its locals the thread runs under the
//! baton, as the poll of its task; whoever joins it waits in the wait graph.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};

use super::address::{Standing, wake_at};
use super::call::{fail_call, is_gone};
use super::crew::{give, take};
use super::host::{Outcome, dismiss, give_back, order, resume, suspend_in_call};
use super::{Order, Seat, enter, lane, seat};
use crate::group::GroupId;
use crate::join::Belongs;
use crate::lane::Lane;
use crate::{context, here};

/// A thread that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    lane: &'static Lane,
    seat: &'static Seat,
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lane").field("index", &self.index()).finish_non_exhaustive()
    }
}

/// The body of a thread's task.
struct Started {
    seat: &'static Seat,
    /// Whether the thread has entered or may do so yet.
    lives: bool,
    slot: u32,
}

/// A task for a thread that the program starts: it becomes ready at once.
#[track_caller]
pub fn begin() -> Ticket {
    let seat: &'static Seat = Box::leak(Box::new(Seat::apart()));
    // A thread goes with no runtime.
    let belongs = Belongs { name: "a thread", group: Some(GroupId::ROOT), ..Belongs::default() };
    let sim = context::sim().unwrap_or_else(|| context::outside());
    let started = Started { seat, lives: true, slot: 0 };
    drop(crate::join::spawn(&sim, started, belongs, Location::caller()));
    Ticket { lane: lane(), seat }
}

/// The thread could not be started after all.
pub fn cancel(ticket: Ticket) {
    ticket.seat.ended.store(true, Relaxed);
}

impl Ticket {
    /// What names the thread to [`join`].
    pub fn id(self) -> usize {
        std::ptr::from_ref(self.seat).addr()
    }

    /// Called on the new thread: waits for its turn. False where its task was dropped before: it is to
    /// do nothing.
    pub fn enter(self) -> bool {
        here::set_seat(self.lane.index(), self.seat);
        here::set_may_block(true);
        here::set_started();
        take(self.lane, self.seat) == Order::Go
    }
}

/// Called by such a thread when it has nothing more to do: whoever joins it goes on.
pub fn leave() {
    let lane = lane();
    let mine = seat(lane);
    // Nothing uses the seat again: its address names no other thread.
    wake_at(std::ptr::from_ref(mine).addr(), usize::MAX, u32::MAX);
    mine.ended.store(true, Relaxed);
    let resumer = give_back(Outcome::Left(true));
    give(lane, resumer, Order::Back);
}

/// Waits for the end of a thread that [`Ticket::id`] names. False where the task was dropped meanwhile,
/// and the call is to fail: unlike std's other waits, that for a thread has something to drop. A thread
/// that panics waits all the same, since it cannot panic again.
#[track_caller]
#[must_use = "the call is to fail where the task is gone"]
pub fn join(ticket: Ticket) -> bool {
    let site = Location::caller();
    while !ticket.seat.ended.load(Relaxed) {
        if is_gone() && !std::thread::panicking() {
            fail_call();
            return false;
        }
        let _wait = Standing::begin(ticket.id(), u32::MAX, None, site);
        if !suspend_in_call(site) && !std::thread::panicking() {
            return false;
        }
    }
    true
}

impl Future for Started {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.seat.ended.load(Relaxed) {
            self.lives = false;
            return Poll::Ready(());
        }
        {
            let mut kernel = enter();
            self.slot = kernel.current_index();
            let slot = self.slot;
            kernel.threads.forget(slot);
            kernel.threads.hosts.push(slot);
        }
        if resume(self.seat, order()) == Outcome::Suspended {
            return Poll::Pending;
        }
        self.lives = false;
        enter().threads.forget(self.slot);
        Poll::Ready(())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if self.lives && !self.seat.ended.load(Relaxed) {
            dismiss(self.seat);
            context::with(|kernel| kernel.threads.forget(self.slot));
        }
    }
}
