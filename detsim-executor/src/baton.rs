//! The baton: one thread runs at a time, and which one may change in the middle of a poll.
//!
//! Owns: what a run knows about its threads ([`Threads`]), and what each gets the baton for ([`Order`]).
//! Does not own: how the baton passes from one to another (`baton/crew.rs`), what a thread waits for
//! (`block.rs`, `baton/address.rs`), who runs next (the scheduler: a thread that was put aside is the poll
//! of a task like any other), the loop (`run.rs`).
//!
//! A run begins on the thread that drives it, its *home*. The thread that runs the loop polls tasks on
//! its own stack. A poll that has to stop in its middle is *put aside* ([`host::suspend`]): its task's body
//! gives place to one whose poll *resumes* that thread (`baton/host.rs`), and an idle thread of the
//! pool goes on with the loop. A thread that was resumed gives the baton back to whoever resumed it.
//! So a thread is at any time one of: the loop's, resumed by it, put aside in a task's poll, idle.
//! A thread is one of std's, with thread-locals, an id and a stack of its own; whether the system runs it
//! or another of its threads does on its behalf (`baton/fiber.rs`) makes no difference but the price.
//!
//! Invariants:
//! - exactly one thread holds the baton of a simulation: the only one with its id in `HERE`. It takes
//!   the id out before it passes the baton, and touches nothing of the run afterwards; what it wrote is
//!   released, and acquired on the other side. So the kernel, and whatever of
//!   the user is not `Sync`, is used by one thread at a time, each use ordered after the last.
//! - the baton passes outside of every section only: `busy` is 0, no gate is held.
//! - the home of the lane moves with the baton (`bound/protocol.rs`), written by the one who takes it.
//! - only the home thread ends a drive: any other thread that finds the run over frees the home of the
//!   poll it is in, if it is in one, and passes the baton there.
//! - a thread that is put aside in a poll of a task is alone at its future: the body in the task's slot
//!   is the host's until the poll has ended. Neither is dropped before the thread has left the poll:
//!   where a task is to be dropped, its thread is resumed to unwind ([`Unwound`]).
//! - a thread that cannot be put aside (in a callback, a destructor of a cancelled task) lets other
//!   threads that were put aside go on, and nobody else (`host::help`).
//! - a home thread may stand by while another has the loop of its drive (`baton/home.rs`).
//! - a pooled thread belongs to its lane, and is parked between two runs. None is made before the first
//!   poll is put aside: a frozen worker has one thread. One that has run closures runs no others than
//!   those of one run, which find no thread-locals of another's: it ends before the next run's first.

pub(crate) mod address;
mod blocking;
mod call;
mod crew;
mod fiber;
mod hold;
mod home;
pub(crate) mod host;
mod pool;
mod runner;
mod signal;
mod thread;
pub(crate) mod visit;

pub use self::address::{
    Woken, is_programs, is_waited_for_elsewhere, move_waits, sleep, wait_at, wake_at,
    wake_from_elsewhere, yield_thread,
};
pub use self::blocking::{Blocking, block_in_place, block_on, blocking, may_block};
pub use self::call::{fail_call, is_gone, is_unwinding, pass_time, wait_for_wake};
pub(crate) use self::crew::{Crew, Seat};
pub use self::fiber::keep_threads_apart;
pub use self::hold::Hold;
pub(crate) use self::home::stand_by;
pub use self::home::{AtHome, at_home, is_home};
pub(crate) use self::host::{Aborts, Outcome, after_poll, returned};
pub use self::runner::end_workers;
pub(crate) use self::runner::{forget_token, rest};
pub use self::thread::{
    Ticket, begin as begin_thread, cancel as cancel_thread, join as join_thread,
    leave as leave_thread,
};

pub(crate) use self::visit::bar_visitors;
pub use self::visit::{Barred, abandon, visit};

use std::any::Any;
use std::fmt;

use self::address::Addresses;
use self::hold::Holds;
use self::home::Station;
use self::pool::Pool;
use crate::SimTime;
use crate::bound::kernel;
use crate::event::TaskNumber;
use crate::failure::Failure;
use crate::here;
use crate::lane::Lane;
use crate::sim::Report;
use crate::slot::BodyPtr;
use crate::stack::Stack;

/// What a thread gets the baton for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Order {
    /// Whom it resumed has given the baton back.
    Back,
    /// The drive is over.
    Ended,
    /// Go on with the poll.
    Go,
    /// Run what lies in [`Threads::job`].
    Job,
    /// End. It comes without the baton.
    Leave,
    /// Run the loop.
    Loop,
    /// Say where you are, and give the baton back.
    Probe,
    /// Leave the poll by unwinding.
    Unwind,
}

impl Order {
    const ALL: [Self; 8] = [
        Self::Back,
        Self::Ended,
        Self::Go,
        Self::Job,
        Self::Leave,
        Self::Loop,
        Self::Probe,
        Self::Unwind,
    ];
}

/// What a run knows about its threads.
#[derive(Default)]
pub(crate) struct Threads {
    /// Threads that go on with loops, with nothing to do.
    idle: Vec<&'static Seat>,
    /// Threads that have run closures of this run, with nothing to do.
    resting: Vec<&'static Seat>,
    /// The same of the lane's runs before.
    left_over: Vec<&'static Seat>,
    /// Seats of threads that have ended.
    vacant: Vec<&'static Seat>,
    /// Those that wait for whom they resumed; the last one's is the one that runs.
    resumers: Vec<&'static Seat>,
    /// Slots of the tasks whose polls are on threads of their own.
    hosts: Vec<u32>,
    /// Those of them whose tasks were woken since.
    woken: Vec<u32>,
    /// The slot of the task whose poll was put aside on the home thread.
    on_home: Option<u32>,
    station: Station,
    /// Tasks of threads that belong to no run.
    pub(crate) visitors: Vec<u64>,
    /// Tasks that wait for the home thread.
    for_home: Vec<u64>,
    /// How the last stretch of a resumed thread ended.
    outcome: Option<Outcome>,
    /// Where the last thread stood that was resumed to say so.
    probed: Option<Stack>,
    /// The body of a task whose poll was put aside and has ended.
    returned: Option<BodyPtr>,
    /// What the destructor of a future panicked with whose poll had panicked before.
    pub(crate) dropped: Option<Box<dyn Any + Send>>,
    /// The poll that ends next is perhaps no plain one: see [`after_poll`].
    unusual: bool,
    /// What drives the run is a call of its home thread that waits.
    pub(crate) attended: bool,
    /// The task whose turn it is, whoever else is ready.
    pub(crate) first: Option<u32>,
    /// The thread that runs is to unwind at its next stop; a panic that it comes to before is that.
    pub(crate) unwinds: bool,
    job: Option<Box<dyn FnOnce()>>,
    drive: Option<Drive>,
    ended: Option<Result<Report, Failure>>,
    /// Tasks are being dropped: nothing is put aside.
    pub(crate) cancels: u32,
    pub(crate) addresses: Addresses,
    pool: Pool,
    holds: Holds,
}

/// What the loop was asked for.
#[derive(Clone, Copy)]
pub(crate) struct Drive {
    pub(crate) until: SimTime,
    pub(crate) main: Option<TaskNumber>,
    /// Another thread than the home one has the loop.
    pub(crate) apart: bool,
    /// It is over when no thread visits the run.
    pub(crate) for_visitors: bool,
}

impl Threads {
    /// Whether the loop has to ask [`after_poll`] about the poll that has just ended.
    #[inline]
    pub(crate) fn is_unusual(&self) -> bool {
        self.unusual
    }

    pub(crate) fn begin(&mut self, drive: Drive) {
        (self.drive, self.ended) = (Some(drive), None);
    }

    /// How the drive ended on another thread.
    pub(crate) fn ended(&mut self) -> Result<Report, Failure> {
        self.ended
            .take()
            .expect("invariant: whoever passes the baton home says how the drive ended")
    }

    /// The run is over. The idle threads stay.
    pub(crate) fn end(&mut self) {
        debug_assert!(self.resumers.is_empty(), "a run ends on the thread of its loop");
        self.hosts.clear();
        self.woken.clear();
        (self.on_home, self.first) = (None, None);
        self.for_home.clear();
        self.visitors.clear();
        (self.outcome, self.drive, self.ended, self.cancels) = (None, None, None, 0);
        self.addresses.clear();
        self.left_over.append(&mut self.resting);
        (self.pool, self.holds) = (Pool::default(), Holds::default());
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads")
            .field("idle", &self.idle.len())
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// What a thread unwinds with when its task is dropped in the middle of a poll.
pub(crate) struct Unwound;

impl Unwound {
    pub(crate) fn is(payload: &(dyn Any + Send)) -> bool {
        payload.is::<Self>()
    }
}

/// The seat of this thread, which drives a simulation on `lane`.
fn seat(lane: &'static Lane) -> &'static Seat {
    match here::seat() {
        Some((of, seat)) if of == lane.index() => seat,
        _ => &lane.home,
    }
}

fn lane() -> &'static Lane {
    here::place().lane.expect("invariant: whoever passes the baton holds it")
}

fn enter() -> kernel::Guard {
    kernel::enter().expect("invariant: whoever holds the baton is inside its simulation")
}

#[cfg(test)]
mod tests;
