//! Threads that go on with the loop while the thread that had it is in the middle of a poll.
//!
//! Owns: pooled threads, what they do with the baton, and the end of a drive on a thread that is not
//! its home. Does not own: the loop. Invariants: a thread rests with nothing of a run on its stack; it
//! gives the baton away last.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};

use super::crew::{pass, take};
use super::host::{Outcome, give_back};
use super::{Order, Seat, enter, seat};
use crate::SimTime;
use crate::failure::Failure;
use crate::here;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::run;
use crate::sim::Report;

/// The seat of a thread that goes on with the loop: an idle one, made where there is none.
pub(super) fn idle(lane: &'static Lane) -> &'static Seat {
    let idle = enter().threads.idle.pop();
    idle.unwrap_or_else(|| fresh(lane))
}

/// The seat of a thread that has just been made.
fn fresh(lane: &'static Lane) -> &'static Seat {
    let seat = vacant().unwrap_or_else(|| Box::leak(Box::new(Seat::pooled())));
    seat.keep(start(lane, seat));
    seat
}

/// Has the threads end that have gone on with loops, and their thread-locals with them: the workers of a
/// runtime that is shut down. For the thread that drives the run, where no task runs.
pub fn end_workers() {
    let lane = super::lane();
    if seat(lane).is(&lane.home) {
        let idle = mem::take(&mut enter().threads.idle);
        idle.iter().for_each(|seat| seat.send_off());
        enter().threads.vacant.extend(idle);
    }
}

/// The seat of a thread that runs a closure: one that has done so in this run, made where none is idle.
pub(super) fn for_closure(lane: &'static Lane) -> &'static Seat {
    let (resting, left_over) = {
        let threads = &mut enter().threads;
        (threads.resting.pop(), mem::take(&mut threads.left_over))
    };
    left_over.iter().for_each(|seat| seat.send_off());
    enter().threads.vacant.extend(left_over);
    resting.unwrap_or_else(|| fresh(lane))
}

/// The seat of a thread that has ended.
fn vacant() -> Option<&'static Seat> {
    let vacant = &mut enter().threads.vacant;
    let index = vacant.iter().position(|seat| seat.is_wanted())?;
    let seat = vacant.swap_remove(index);
    seat.renew();
    Some(seat)
}

/// Makes a thread, which waits for the baton.
#[cold]
fn start(lane: &'static Lane, seat: &'static Seat) -> JoinHandle<()> {
    let _ours = here::outside();
    let made = thread::Builder::new().name(NAME.to_owned()).spawn(move || {
        if catch_unwind(AssertUnwindSafe(|| serve(lane, seat))).is_err() {
            // The baton is lost with this thread: nobody could go on.
            std::process::abort();
        }
    });
    made.unwrap_or_else(|error| {
        panic!("detsim: no thread for a poll or a closure that blocks; {error}; raise the limit")
    })
}

/// What every such thread is called.
const NAME: &str = "detsim-worker";

/// The life of a pooled thread.
fn serve(lane: &'static Lane, mine: &'static Seat) {
    here::set_seat(lane.index(), mine);
    let mut order = take(lane, mine);
    loop {
        forget_token();
        order = match order {
            Order::Loop => run_loop(lane, mine),
            Order::Job => run_job(lane, mine),
            Order::Leave => return,
            other => unreachable!("detsim bug: {other:?} to an idle thread"),
        };
    }
}

/// Whoever parks on this thread next finds no token of those who ran on it before. One that was unwound
/// out of `park` has left its own word behind, with which the next one would wait for good.
pub(crate) fn forget_token() {
    let _ours = here::outside();
    thread::current().unpark();
    thread::park();
}

/// Goes on with the loop of the drive, until the drive is over or a poll of it came back here late.
fn run_loop(lane: &'static Lane, mine: &'static Seat) -> Order {
    let (shared, drive) = {
        let mut kernel = enter();
        let shared = kernel.shared().expect("invariant: a drive keeps its simulation alive");
        (shared, kernel.threads.drive.expect("invariant: the loop runs in a drive"))
    };
    match run::cycle(lane, &shared, drive) {
        None => {
            drop(shared);
            rest(lane)
        }
        Some(ended) => {
            let home = end_drive(lane, ended);
            drop(shared);
            enter().threads.idle.push(mine);
            pass(lane, mine, home, Order::Ended)
        }
    }
}

fn run_job(lane: &'static Lane, mine: &'static Seat) -> Order {
    let job = enter().threads.job.take().expect("invariant: a job comes with its order");
    let may_block = here::set_may_block(true);
    job();
    here::set_may_block(may_block);
    let to = give_back(Outcome::Left(true));
    enter().threads.resting.push(mine);
    pass(lane, mine, to, Order::Back)
}

/// This thread was resumed, and has left its poll: it gives the baton back, and is idle.
pub(crate) fn rest(lane: &'static Lane) -> Order {
    let mine = seat(lane);
    let to = {
        let mut kernel = enter();
        kernel.threads.idle.push(mine);
        kernel.threads.resumers.pop().expect("invariant: whoever left a poll late was resumed")
    };
    pass(lane, mine, to, Order::Back)
}

/// A drive has ended on a pooled thread: its home is got out of whatever poll it is in. The home's
/// seat.
fn end_drive(lane: &'static Lane, ended: Result<Report, Failure>) -> &'static Seat {
    let mut ended = ended;
    loop {
        let kernel = enter();
        let Some(slot) = kernel.threads.on_home else { break };
        let (is_ready, short) = (kernel.is_ready(slot), kernel.is_stopped_short());
        drop(kernel);
        match &ended {
            Ok(_) if is_ready => run::turn_of(slot),
            Ok(_) if short => ended = Err(fail_short(slot)),
            _ => run::drop_task(slot),
        }
    }
    let mut kernel = enter();
    kernel.clear_current();
    kernel.threads.idle.retain(|seat| !seat.is(&lane.home));
    kernel.threads.ended = Some(ended);
    &lane.home
}

impl Kernel {
    fn is_ready(&self, slot: u32) -> bool {
        self.tasks.get(slot).is_some_and(|slot| slot.queued && self.runs(slot))
    }

    /// Whether the drive stops at a moment, with everything to go on from there.
    fn is_stopped_short(&self) -> bool {
        self.threads.drive.is_some_and(|drive| drive.until != SimTime::MAX)
    }
}

/// The drive stops while a task blocks the thread that it would have to return on.
fn fail_short(slot: u32) -> Failure {
    let mut kernel = enter();
    let tag = kernel.tag_of(slot);
    let message = format!(
        "detsim: the run stops here, but {} blocks the thread that drives it; it waits in \
         the middle of a poll; run to the end, or wait in `spawn_blocking`",
        kernel.shown_task(tag)
    );
    let failure = Failure::panicked(&kernel, tag, message);
    kernel.fail(failure.clone());
    failure
}
