//! Threads that belong to no run and do something in one.
//!
//! Owns: [`visit`]: such a thread is part of the run for as long as a closure runs on it; and what becomes of a
//! run whose own thread has ended while others may still come ([`abandon`]). Does not own: tasks that are
//! sent (`arrival.rs`). When a visitor comes is up to the system's threads: no such run is replayed, and it
//! says so.
//!
//! A run is driven by the thread that opened it, whenever that blocks on anything. A visitor waits until
//! then; from there on it is a thread of the run like any other, with a turn, and may block. When the
//! opener has ended, a thread that is made for it drives the run, while there are visitors.
//!
//! Invariants: a visitor is counted at the gate from before its task is sent until it has left; it takes
//! the baton only where its task has a turn; each comes out again: its task's end, or loss, gives it an
//! order. An abandoned run lies at the gate of its lane, or is with the one thread that drives it.
#![expect(unsafe_code, reason = "a run whose thread has ended goes to another")]

use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread;

use super::crew::{NOWHERE, give, take};
use super::host::{Outcome, dismiss, give_back, order, resume};
use super::{Drive, Order, Seat, Unwound, enter};
use crate::SimTime;
use crate::arrival::Arrival;
use crate::context;
use crate::here::{self, Place, Standing};
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::run;
use crate::sim::Sim;

/// Why a visit has not come to its end.
#[derive(Clone, Debug)]
pub enum Barred {
    /// The run is over.
    Over,
    /// It has failed: what it says.
    Failed(String),
}

/// A run that nobody of its own is left to drive.
pub(crate) struct Abandoned(Sim);

// SAFETY: the thread that had the handles of the simulation has ended (`abandon`), and whoever takes this one
// from the gate is alone with it until it lies there again. What the kernel holds is touched by the baton holder
// alone, on whichever thread; futures that are not `Send` are in groups that only their thread drives.
unsafe impl Send for Abandoned {}

impl Abandoned {
    fn take(self) -> Sim {
        self.0
    }
}

/// Seats that nobody has.
static SEATS: Mutex<Vec<&'static Seat>> = Mutex::new(Vec::new());

fn seats() -> MutexGuard<'static, Vec<&'static Seat>> {
    let _ours = here::outside();
    SEATS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `f` on this thread as part of a run that it does not belong to, and that may be another thread's. It
/// waits until somebody drives that.
///
/// # Errors
/// Where the run ends or fails before `f` has ended.
///
/// # Panics
/// As `f` does.
#[track_caller]
pub fn visit<R>(run: u64, f: impl FnOnce() -> R) -> Result<R, Barred> {
    let site = Location::caller();
    let Some(lane) = Lane::of_id(run) else { return Err(Barred::Over) };
    let seat = seats().pop().unwrap_or_else(|| Box::leak(Box::new(Seat::apart())));
    let visitor = Visitor { run, seat, slot: None, lives: true };
    match Lane::admit(run, Arrival::of_visitor(run, visitor, site)) {
        Ok(Some(abandoned)) => drive_abandoned(abandoned),
        Ok(None) => {}
        Err(arrival) => arrival.lose(),
    }
    let visited = {
        let _back = Elsewhere::begin(lane, seat);
        match await_turn(lane, seat) {
            Order::Leave => Err(lane.barred(run)),
            Order::Go => {
                let ended = catch_unwind(AssertUnwindSafe(f));
                let is_dropped = enter().threads.unwinds;
                let why = leave(lane);
                match ended {
                    Err(payload) if is_dropped || Unwound::is(&*payload) => Err(why),
                    ended => Ok(ended),
                }
            }
            _ => Err(leave(lane)),
        }
    };
    seats().push(seat);
    visited.map(|ended| ended.unwrap_or_else(|payload| resume_unwind(payload)))
}

fn await_turn(lane: &'static Lane, seat: &'static Seat) -> Order {
    let _ours = here::outside();
    take(lane, seat)
}

/// This thread stands where another run than its own is; it stands where it did when this is dropped.
struct Elsewhere(Place, Option<Standing>);

impl Elsewhere {
    fn begin(lane: &'static Lane, seat: &'static Seat) -> Self {
        let standing = here::stand(Standing::visitor(lane.index(), seat));
        Self(here::replace(NOWHERE), Some(standing))
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        here::replace(self.0);
        if let Some(standing) = self.1.take() {
            here::stand(standing);
        }
    }
}

/// The visitor goes. Why, where it has to.
fn leave(lane: &'static Lane) -> Barred {
    let failure = {
        let mut kernel = enter();
        let word = kernel.word();
        kernel.threads.visitors.retain(|visitor| *visitor != word);
        kernel.failure.as_ref().map(ToString::to_string)
    };
    lane.dismiss_visitor();
    let resumer = give_back(Outcome::Left(true));
    give(lane, resumer, Order::Back);
    failure.map_or(Barred::Over, Barred::Failed)
}

/// The body of a visitor's task.
pub(crate) struct Visitor {
    run: u64,
    seat: &'static Seat,
    slot: Option<u32>,
    lives: bool,
}

impl Future for Visitor {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let slot = {
            let mut kernel = enter();
            let slot = kernel.current_index();
            kernel.threads.forget(slot);
            kernel.threads.hosts.push(slot);
            slot
        };
        self.slot = Some(slot);
        if resume(self.seat, order()) == Outcome::Suspended {
            return Poll::Pending;
        }
        self.lives = false;
        enter().threads.forget(slot);
        Poll::Ready(())
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        if !mem::take(&mut self.lives) {
            return;
        }
        if here::place().sim == self.run {
            dismiss(self.seat);
            let slot = self.slot;
            context::with(|kernel| slot.into_iter().for_each(|slot| kernel.threads.forget(slot)));
        } else {
            // It never arrived.
            self.seat.bar();
        }
    }
}

/// The run has failed: who visits it comes out, and nobody else comes in.
pub(crate) fn bar_visitors() {
    let lane = super::lane();
    let failure = enter().failure.as_ref().map(ToString::to_string).unwrap_or_default();
    lane.bar(failure);
    let visitors = mem::take(&mut enter().threads.visitors);
    for word in visitors {
        let (_, slot) = crate::waker::unpack(word);
        let is_there = enter().tasks.live(word).is_some();
        if is_there {
            run::drop_task(slot);
        }
    }
}

/// The thread of a run that nobody opened ends, and the run with it, unless others may `still_come`, or
/// somebody visits it. To be called with its only handle.
pub fn abandon(sim: Sim, still_come: bool) {
    let look = |kernel: &mut Kernel| (kernel.failure.is_some(), kernel.alive() > 0, kernel.id());
    let (failed, alive, id) = sim.with(look);
    let Some(lane) = Lane::of_id(id) else { return };
    if !failed && (still_come || lane.has_visitors()) {
        lane.bias.move_home(0);
        settle(lane, Abandoned(sim));
    } else if alive {
        mem::forget(sim);
    }
}

/// The run lies at its gate, or is driven again, where somebody has come meanwhile.
fn settle(lane: &'static Lane, abandoned: Abandoned) {
    if let Some(abandoned) = lane.abandon(abandoned) {
        drive_abandoned(abandoned);
    }
}

/// Has a thread drive the run while there are visitors.
fn drive_abandoned(abandoned: Abandoned) {
    let _ours = here::outside();
    let made = thread::Builder::new().name("detsim-driver".to_owned()).spawn(move || {
        let sim = abandoned.take();
        let lane = sim.with(|kernel| Lane::of_id(kernel.id()));
        let lane = lane.expect("invariant: lanes are never freed");
        lane.bias.move_home(here::token());
        let drive = Drive { until: SimTime::MAX, main: None, apart: false, for_visitors: true };
        // A failure is told to the visitors.
        let failed = sim.drive_as(drive).is_err();
        if failed {
            return mem::forget(sim);
        }
        lane.bias.move_home(0);
        settle(lane, Abandoned(sim));
    });
    drop(made.unwrap_or_else(|error| {
        panic!("detsim: no thread to drive a run; {error}; raise the limit")
    }));
}

impl std::fmt::Debug for Abandoned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Abandoned")
    }
}
