//! The run loop.
//!
//! Owns: what happens next, again and again: a poll, or the earliest timer, callback or delivery;
//! and the end of a run. Does not own: any decision (those are the scheduler's and the choices'), nor
//! what is found out about a stuck run (`run/diagnosis.rs`). Invariants: all user code of a run is
//! called from here, with the kernel not borrowed; a panic in it never leaves the loop; equal instants
//! happen in the order of their sequence.

mod diagnosis;
mod ending;
mod happen;
mod poll;

pub(crate) use ending::{drop_task, drop_task_of, drop_tasks, tear_down};
pub(crate) use happen::guarded;

use crate::SimTime;
use crate::arrival::Arrival;
use crate::baton::{self, Drive, Order};
use crate::bound::kernel::{self, Guard};
use crate::event::TaskNumber;
use crate::failure::Failure;
use crate::here;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::queue::{Due, Usual};
use crate::run::happen::{Plugged, happen, refresh};
use crate::run::poll::{Fallen, take_turn};
use crate::sim::{Report, Shared};
use crate::slot::{BodyPtr, Polled};
use crate::turn::Done;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;
use std::time::Duration;

/// How long a run that has nothing to do waits for a thread that has used its objects.
const OUTSIDE_WAIT: Duration = Duration::from_secs(10);

/// How long it waits where a task waits for a lock of std's kind, which such a thread may have.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// The same where it is the thread itself that waits, between two runs: it may share locks with all others
/// of the process, who print stacks under some of them. And in a run whose runtimes any thread may have been
/// given.
const ATTENDED_WAIT: Duration = Duration::from_secs(2);

fn enter() -> Guard {
    kernel::enter().expect("invariant: the run loop is inside its simulation")
}

/// Runs until the moment that `drive` names, the end of its main task, or until nothing is left.
pub(crate) fn drive(shared: &Shared, drive: Drive) -> Result<Report, Failure> {
    let lane = here::place().lane.expect("invariant: the run loop is inside its simulation");
    enter().threads.begin(drive);
    if drive.apart {
        return baton::stand_by(lane);
    }
    loop {
        match cycle(lane, shared, drive) {
            Some(ended) => return ended,
            None if baton::rest(lane) == Order::Ended => return enter().threads.ended(),
            None => {}
        }
    }
}

/// Runs the loop on this thread: how the drive ended, or `None` where a poll that was put aside here has
/// ended and another thread has the loop.
pub(crate) fn cycle(
    lane: &'static Lane,
    shared: &Shared,
    drive: Drive,
) -> Option<Result<Report, Failure>> {
    let Drive { until, main, .. } = drive;
    let mut place = 0;
    loop {
        let mut kernel = run_ready(lane, shared, drive, &mut place)?;
        kernel.clear_current();
        if kernel.failure.is_some() {
            drop(kernel);
            return Some(Err(shared.failed()));
        }
        if main.is_some_and(|main| !kernel.is_alive(main, &mut place)) {
            return Some(Ok(kernel.report()));
        }
        if drive.for_visitors {
            // Not in a section: who has the gate may wait for that to end.
            drop(kernel);
            let is_left = !lane.has_visitors();
            kernel = enter();
            if is_left {
                return Some(Ok(kernel.report()));
            }
        }
        kernel.rests += 1;
        if kernel.watchers > 0 {
            drop(kernel);
            if shared.rests() {
                continue;
            }
            kernel = enter();
        }
        match kernel.advance(until) {
            Advance::Due(due) => {
                if due == Due::Timer && kernel.fire_wake() {
                    kernel.steps.uncount(); // as a timer does that fires there
                    drop(kernel);
                } else {
                    drop(kernel);
                    happen(shared, due);
                }
                shared.wakes();
            }
            Advance::Horizon => return Some(Ok(kernel.report())),
            Advance::Nothing if until == SimTime::MAX => {
                let waiting = kernel.tasks.alive() > 0;
                let report = kernel.report();
                drop(kernel);
                if !waiting {
                    return Some(Ok(report));
                }
                if !shared.hopes(lane) && !wait_outside(lane) {
                    let failure = diagnosis::diagnose(shared);
                    enter().fail(failure);
                }
            }
            Advance::Nothing => {
                kernel.move_clock(until);
                return Some(Ok(kernel.report()));
            }
        }
    }
}

/// Polls ready tasks until none is left; what falls due meanwhile happens in between. `None` where a poll
/// ended that was put aside meanwhile: another thread has the loop.
// Out of line, and so is whatever it can do without: the registers are for the turns.
#[inline(never)]
fn run_ready(lane: &'static Lane, shared: &Shared, drive: Drive, place: &mut u32) -> Option<Guard> {
    let fallen = Fallen::default();
    loop {
        let turns = AssertUnwindSafe(|| take_turns(lane, shared, drive, place, &fallen));
        let body = match catch_unwind(turns) {
            Ok(left) => return left,
            Err(payload) => fallen.lost_by(payload),
        };
        if let Break(left) = end_turn(enter(), Done::Ended(Some(body)), drive.main) {
            return left;
        }
    }
}

/// See [`run_ready`], who catches what a poll panics with: so that a poll has nothing to prepare for it.
/// One section of the kernel a poll: it ends the last turn and begins the next.
#[inline(always)]
fn take_turns(
    lane: &'static Lane,
    shared: &Shared,
    drive: Drive,
    place: &mut u32,
    fallen: &Fallen,
) -> Option<Guard> {
    let Drive { until, main, .. } = drive;
    let (mut kernel, mut known) = (enter(), Plugged::default());
    loop {
        if lane.is_injected() || kernel.queue.is_disturbed(kernel.now_ns) {
            if !lane.is_injected() && kernel.fire_wake() {
                continue;
            }
            drop(kernel);
            let fails = !calm(lane, shared);
            kernel = enter();
            if fails {
                return Some(kernel);
            }
            continue;
        }
        let Some(mut turn) = kernel.next_turn() else {
            let lives = main.is_none_or(|main| kernel.is_alive(main, place));
            match if lives { kernel.leap(until) } else { None } {
                None => return Some(kernel),
                Some(Due::Timer) => {}
                Some(Due::Device(index)) => {
                    drop(kernel);
                    if !known.is(index) {
                        known = Plugged::of(shared, index);
                    }
                    known.happen();
                    kernel = enter();
                }
            }
            continue;
        };
        loop {
            drop(kernel);
            let (body, polled) = take_turn(turn, fallen);
            // Each arm makes the value anew: one for both would be kept in memory.
            let ended = if polled == Polled::Pending {
                kernel = kernel::return_to_lane(lane);
                if kernel.is_usual {
                    match kernel.pass_turn(body, lane.is_injected()) {
                        Some(next) => turn = next,
                        None => break,
                    }
                    continue;
                }
                end_turn(kernel, Done::Waits(body), main)
            } else {
                let body = body.end_after(polled);
                kernel = enter();
                if body.is_none() && kernel.finish_plainly() {
                    break;
                }
                end_turn(kernel, Done::Ended(body), main)
            };
            match ended {
                Continue(next) => kernel = next,
                Break(left) => return left,
            }
            break;
        }
    }
}

/// The current task, whose poll is over, is done, or waits, or has yielded. Breaks where the loop does.
#[inline(never)]
fn end_turn(
    mut kernel: Guard,
    mut done: Done,
    main: Option<TaskNumber>,
) -> ControlFlow<Option<Guard>, Guard> {
    if kernel.threads.is_unusual() {
        match after_unusual_poll(kernel, done) {
            Some(plain) => (kernel, done) = plain,
            None => return Break(None),
        }
    }
    match done {
        Done::Waits(body) => {
            kernel.end_turn(body);
            Continue(kernel)
        }
        Done::Ended(body) => match finish(kernel, body, main) {
            true => Break(Some(enter())),
            false => Continue(enter()),
        },
    }
}

/// See [`baton::after_poll`].
#[cold]
#[inline(never)]
fn after_unusual_poll(kernel: Guard, done: Done) -> Option<(Guard, Done)> {
    let slot = kernel.current_index();
    drop(kernel);
    let done = baton::after_poll(slot, done)?;
    Some((enter(), done))
}

/// Does what has to be done before the next poll: takes in wakes from other threads, lets happen
/// what is due, asks touched devices for their next deadline.
#[cold]
fn calm(lane: &'static Lane, shared: &Shared) -> bool {
    if lane.is_injected() {
        take_injected(lane);
    }
    refresh(shared);
    let mut kernel = enter();
    kernel.clear_current();
    let (due, failed) = (kernel.overdue(), kernel.failure.is_some());
    drop(kernel);
    if let Some(due) = due {
        happen(shared, due);
    }
    !failed
}

/// What came from other threads.
#[cold]
fn take_injected(lane: &'static Lane) {
    let (mut wakes, mut aborts) = (Vec::new(), Vec::new());
    lane.take_wakes(&mut wakes, &mut aborts);
    let mut kernel = enter();
    for word in wakes {
        kernel.graph.suspect(word);
        kernel.wake(word);
    }
    aborts.into_iter().for_each(|word| kernel.abort(word));
    drop(kernel);
    lane.take_arrivals().into_iter().for_each(Arrival::arrive);
}

/// Where other threads or simulations have used this one's objects, they may do so again.
#[cold]
fn wait_outside(lane: &'static Lane) -> bool {
    if baton::address::wake_late(lane.index()) {
        return true;
    }
    let limit = if lane.has_escapes() || lane.is_injected() {
        OUTSIDE_WAIT
    } else if enter().expects_others {
        ATTENDED_WAIT
    } else if !enter().threads.addresses.is_empty() {
        if enter().threads.attended { ATTENDED_WAIT } else { LOCK_WAIT }
    } else {
        return false;
    };
    lane.wait(limit) || baton::address::wake_late(lane.index())
}

/// The current task has ended: what is left of it goes outside of the kernel. True: it was `main`.
#[inline]
fn finish(mut kernel: Guard, body: Option<BodyPtr>, main: Option<TaskNumber>) -> bool {
    let is_main = main == Some(kernel.current_number());
    let waiter = kernel.finish_turn();
    drop(kernel);
    body.into_iter().for_each(BodyPtr::end);
    settle(waiter);
    is_main
}

/// Gives a task that is ready, and whose poll was put aside, its turn now, whoever else is.
pub(crate) fn turn_of(slot: u32) {
    let before = here::place().polled;
    let mut kernel = enter();
    kernel.unready(slot);
    let turn = kernel.begin_turn(slot);
    drop(kernel);
    let done = baton::returned(poll::take_turn_alone(turn));
    let mut kernel = enter();
    match done {
        Done::Ended(body) => drop(finish(kernel, body, None)),
        Done::Waits(body) => {
            kernel.end_turn(body);
            drop(kernel);
        }
    }
    here::begin_poll(before);
}

enum Advance {
    Due(Due),
    Horizon,
    Nothing,
}

impl Kernel {
    /// Lets the timer that is due first wake its task, without leaving the kernel. False where something
    /// else has to happen first: [`happen()`] and what calls it know what.
    #[inline]
    fn fire_wake(&mut self) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let now = self.now();
        self.queue.pop_wake(now).inspect(|(_, word)| self.wake(*word)).is_some()
    }

    /// Nobody is ready: moves the clock to what is due next. A timer has woken its task then; the event of
    /// a device is for the caller to let happen. `None` where something else has to be done:
    /// [`Self::advance`] and what calls it know what.
    fn leap(&mut self, until: SimTime) -> Option<Due> {
        // The last step of all is to find the timer pending: what waits for one is no livelock.
        if !self.is_usual || self.watchers > 0 || self.steps.is_last_next() {
            return None;
        }
        let (at, due) = self.queue.take_usual(until.min(self.limits.time))?;
        self.rests += 1;
        self.clear_current();
        self.move_clock(at);
        match due {
            Usual::Wake(word) => {
                self.wake(word);
                Some(Due::Timer)
            }
            Usual::Device(index) => {
                self.count_step();
                Some(Due::Device(index))
            }
        }
    }

    /// What should have happened by now.
    fn overdue(&mut self) -> Option<Due> {
        let (deadline, due) = self.queue.next()?;
        (deadline.at.as_nanos() <= self.now_ns && self.failure.is_none()).then(|| {
            self.count_step();
            due
        })
    }

    /// Moves the clock to what is due next, unless that lies behind `until`.
    fn advance(&mut self, until: SimTime) -> Advance {
        let next = self.queue.next().or_else(|| match until {
            SimTime::MAX => None,
            until => self.queue.on_the_way(until),
        });
        let Some((deadline, due)) = next else { return Advance::Nothing };
        if deadline.at > until {
            self.move_clock(until);
            return Advance::Horizon;
        }
        if deadline.at > self.limits.time {
            let failure = Failure::limit(self, format!("virtual time of {}", self.limits.time));
            self.fail(failure);
        }
        self.count_step();
        self.move_clock(deadline.at);
        Advance::Due(due)
    }

    fn report(&self) -> Report {
        let Self { steps, completed, hash, .. } = *self;
        Report { steps: steps.taken(), completed, now: self.now(), hash }
    }

    /// `place` is where the task was found the last time: looking at all of them costs more the more
    /// there are.
    fn is_alive(&self, task: TaskNumber, place: &mut u32) -> bool {
        if self.tasks.get(*place).is_some_and(|slot| slot.number == task.0) {
            return true;
        }
        let found = self.tasks.living().find(|(_, slot)| slot.number == task.0);
        found.inspect(|(index, _)| *place = *index).is_some()
    }
}

/// Wakes who waited for the last task of a group.
#[inline]
fn settle(ended: Option<Waker>) {
    if let Some(waiter) = ended {
        guarded(|| waiter.wake());
    }
}
