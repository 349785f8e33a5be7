//! Polls that were put aside, and how they go on.
//!
//! Owns: [`suspend`] and [`resume`], the body that stands for a poll that was put aside
//! ([`Hosted`]), unwinding, and the help of a thread that cannot be put aside. Does not own: the
//! passing itself (`baton.rs`). Invariants: a thread is resumed only while it is put aside, by the
//! thread that polls its task; whoever resumed it gets the baton back, whatever the thread did.

use std::future::Future;
use std::io::Write;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};

use super::crew::pass;
use super::{Order, Seat, Unwound, enter, lane, runner, seat};
use crate::block::OpKind;
use crate::failure::Failure;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::lost::Lost;
use crate::slot;
use crate::stack::Stack;
use crate::turn::Done;
use crate::{context, here};

/// How a stretch of a resumed thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was put aside again.
    Suspended,
    /// It left the poll. True: the task has ended.
    Left(bool),
    /// It was told to unwind too often.
    Stuck,
}

/// Throws of [`Unwound`] that a thread may swallow before it is given up.
const THROWS_MAX: u32 = 100;

/// Lets others run until the current task is woken: where it is polled, by putting the poll aside;
/// elsewhere by letting those go on that were. Comes back after any wake, so it is called in a loop.
///
/// # Panics
/// With [`Unwound`], where the task is being dropped; and where nobody is left that could wake it.
pub(crate) fn suspend(site: &'static Location<'static>) {
    suspend_until(Until::Woken, site);
}

/// As [`suspend`], but the task is ready at once: it only lets others go first.
pub(crate) fn suspend_ready(site: &'static Location<'static>) {
    suspend_until(Until::ItsTurn, site);
}

/// What a poll that is put aside waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    Woken,
    ItsTurn,
}

fn suspend_until(until: Until, site: &'static Location<'static>) {
    let lane = lane();
    if seat(lane).throws.load(Relaxed) > 0 && !std::thread::panicking() {
        unwind(lane);
    }
    if !enter().can_suspend() {
        help(site);
    } else if !put_aside(lane, until, site) {
        unwind(lane);
    }
}

impl Kernel {
    /// Whether what runs is the poll of a task and nothing else.
    pub(crate) fn can_suspend(&self) -> bool {
        let (_, word, _) = self.current();
        self.threads.cancels == 0
            && !self.is_probing()
            && self.tasks.live(word).is_some_and(|slot| slot.body.is_none())
    }
}

/// As [`suspend_ready`], in a destructor or before a call that cannot be unwound: where the task is being
/// dropped, it comes back with false, and the thread is unwound at its next stop.
pub(super) fn suspend_in_drop(site: &'static Location<'static>) -> bool {
    suspend_unless_dropped(Until::ItsTurn, site)
}

/// As [`suspend`], in a call that cannot be unwound: as [`suspend_in_drop`].
pub(super) fn suspend_in_call(site: &'static Location<'static>) -> bool {
    if !enter().can_suspend() {
        help(site);
        return true;
    }
    suspend_unless_dropped(Until::Woken, site)
}

fn suspend_unless_dropped(until: Until, site: &'static Location<'static>) -> bool {
    let lane = lane();
    let goes_on = put_aside(lane, until, site);
    if !goes_on {
        seat(lane).throws.fetch_add(1, Relaxed);
        let mut kernel = enter();
        kernel.threads.unwinds = true;
        if let Some(task) = kernel.current_slot() {
            task.stop_at = 0;
        }
    }
    goes_on
}

/// Counts a stop of a thread that is to unwind, at a place where it cannot: the last one it is allowed
/// unwinds it all the same.
pub(super) fn throw_late(site: &'static Location<'static>) {
    let lane = lane();
    let throws = seat(lane).throws.load(Relaxed);
    if throws > 0 && !std::thread::panicking() {
        seat(lane).throws.store(throws + 1, Relaxed);
        if throws + 1 >= THROWS_MAX / 2 {
            suspend(site);
        }
    }
}

/// True once it is the task's turn again, false where the task is being dropped.
fn put_aside(lane: &'static Lane, until: Until, site: &'static Location<'static>) -> bool {
    let mine = seat(lane);
    let resumer = {
        let mut kernel = enter();
        kernel.threads.outcome = Some(Outcome::Suspended);
        kernel.threads.resumers.pop()
    };
    if resumer.is_none() {
        detach(mine, site);
    }
    {
        let mut kernel = enter();
        kernel.keep_wake();
        if until == Until::ItsTurn {
            let slot = kernel.current_index();
            kernel.wake_slot(slot);
        }
    }
    let (mut to, mut order) = match resumer {
        Some(resumer) => (resumer, Order::Back),
        None => (runner::idle(lane), Order::Loop),
    };
    loop {
        match pass(lane, mine, to, order) {
            Order::Go => return true,
            Order::Unwind => return false,
            Order::Probe => {
                let stack = Stack::capture();
                enter().threads.probed = Some(stack);
                (to, order) = (give_back(Outcome::Suspended), Order::Back);
            }
            other => unreachable!("detsim bug: {other:?} to a thread that was put aside"),
        }
    }
}

/// Says how this stretch of a resumed thread ended; who gets the baton.
pub(super) fn give_back(outcome: Outcome) -> &'static Seat {
    let mut kernel = enter();
    kernel.threads.outcome = Some(outcome);
    kernel.threads.resumers.pop().expect("invariant: whoever gives back was resumed")
}

/// The poll of the current task stays on this thread, and the loop goes to another: the body in the
/// task's slot is from now on the one that resumes this thread.
fn detach(mine: &'static Seat, site: &'static Location<'static>) {
    let mut kernel = enter();
    let (slot, word, _) = kernel.current();
    let hosted = Hosted { seat: mine, slot, stands: true };
    let (body, handle) = slot::boxed(&mut kernel, word, hosted, site);
    drop(kernel);
    drop(handle);
    let mut kernel = enter();
    kernel.threads.hosts.push(slot);
    if mine.is(&lane().home) {
        kernel.threads.on_home = Some(slot);
    }
    kernel.tasks.cold_mut(slot).aborts = Aborts::Later { asked: false };
    if let Some(task) = kernel.current_slot() {
        task.body = Some(body);
    }
}

/// What an abort does to a task whose poll is on a thread of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Aborts {
    /// As to any task.
    #[default]
    Now,
    /// When the poll has ended.
    Later { asked: bool },
    /// Nothing.
    Never,
}

/// Passes the baton to a thread that was put aside, until it gives it back.
pub(super) fn resume(to: &'static Seat, order: Order) -> Outcome {
    let lane = lane();
    let mine = seat(lane);
    {
        let mut kernel = enter();
        kernel.threads.resumers.push(mine);
        kernel.set_unusual(true);
    }
    let back = pass(lane, mine, to, order);
    assert_eq!(back, Order::Back, "detsim bug: whoever resumes gets the baton back");
    let mut kernel = enter();
    if let Some(stack) = kernel.threads.probed.take() {
        crate::stack::put(stack);
    }
    kernel.threads.outcome.take().expect("invariant: whoever gives back says how it went")
}

/// The order to resume with: a stuck run asks where its threads are.
pub(super) fn order() -> Order {
    if enter().is_probing() { Order::Probe } else { Order::Go }
}

/// What is to be done after a poll that may have been put aside: on the thread that left it, late, to
/// hand it over (`None`: this thread has no loop any more); on the one that has the loop, to take the
/// task's own body for the one that stood for it.
#[cold]
pub(crate) fn after_poll(slot: u32, done: Done) -> Option<Done> {
    let mut kernel = enter();
    if kernel.threads.resumers.is_empty() {
        kernel.set_unusual(false);
        drop(kernel);
        return Some(returned(done));
    }
    kernel.threads.outcome = Some(Outcome::Left(matches!(done, Done::Ended(_))));
    match done {
        Done::Ended(body) => {
            drop(kernel);
            drop(body);
        }
        Done::Waits(body) => {
            kernel.threads.returned = Some(body);
            if here::end_poll() {
                kernel.yield_slot(slot);
            }
        }
    }
    None
}

/// The same with the body that goes back to the table after the poll of this one.
pub(crate) fn returned(done: Done) -> Done {
    // The kernel is left before the body that stood for it is dropped, which would be lost otherwise.
    let original = enter().threads.returned.take();
    match (original, done) {
        (None, done) => done,
        (Some(original), Done::Waits(_)) => Done::Waits(original),
        (Some(original), Done::Ended(_)) => Done::Ended(Some(original)),
    }
}

impl Kernel {
    /// Whether the poll that ends next is perhaps no plain one.
    fn set_unusual(&mut self, unusual: bool) {
        self.threads.unusual = unusual;
        self.settle();
    }

    /// The poll of the current task is about to be put aside, for the first time or again. The turn that
    /// it gets next is no answer to what woke the task before this.
    fn keep_wake(&mut self) {
        let slot = self.current_index();
        if self.current_slot().is_some_and(|task| task.queued) {
            self.threads.note_wake(slot);
        }
    }

    fn yield_slot(&mut self, slot: u32) {
        if let Some(task) = self.tasks.get_mut(slot) {
            task.op = OpKind::Yield;
        }
        self.wake_slot(slot);
    }
}

/// A poll that was put aside, as the body of its task. The task's own body is on the stack of the
/// thread that is in it.
struct Hosted {
    seat: &'static Seat,
    slot: u32,
    /// The thread is still in the poll.
    stands: bool,
}

impl super::Threads {
    /// Whether any poll is put aside.
    #[inline]
    pub(crate) fn has_hosts(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// The task in a slot is woken. Where its poll was put aside, what woke it may stand in the part of
    /// the poll that is over: the task is polled again when all of it is.
    #[cold]
    pub(crate) fn note_wake(&mut self, slot: u32) {
        if self.hosts.contains(&slot) && !self.woken.contains(&slot) {
            self.woken.push(slot);
        }
    }

    pub(super) fn forget(&mut self, slot: u32) {
        self.hosts.retain(|host| *host != slot);
        self.woken.retain(|woken| *woken != slot);
        self.on_home.take_if(|on_home| *on_home == slot);
    }
}

impl Kernel {
    /// The poll on a thread of its own has ended.
    pub(super) fn settle_aborts(&mut self, slot: u32) {
        let aborts = std::mem::take(&mut self.tasks.cold_mut(slot).aborts);
        if aborts == (Aborts::Later { asked: true }) {
            let word = self.tag_of(slot).word;
            self.abort(word);
        }
    }
}

impl Future for Hosted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let Outcome::Left(ended) = resume(self.seat, order()) else { return Poll::Pending };
        self.stands = false;
        let slot = self.slot;
        let mut kernel = enter();
        if kernel.threads.woken.contains(&slot) && !ended {
            kernel.wake_slot(slot);
        }
        kernel.threads.forget(slot);
        kernel.settle_aborts(slot);
        if ended { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Hosted {
    /// The task is dropped: the thread leaves the poll first. Where it does not, its stack stands for
    /// good, and so does the body on it.
    fn drop(&mut self) {
        if self.stands {
            dismiss(self.seat);
            context::with(|kernel| kernel.threads.forget(self.slot));
        }
    }
}

/// Has a thread that was put aside unwind out of its poll. False where it does not.
pub(super) fn dismiss(seat: &'static Seat) -> bool {
    seat.throws.store(0, Relaxed);
    enter().threads.cancels += 1;
    let outcome = resume(seat, Order::Unwind);
    let left = {
        let mut kernel = enter();
        kernel.threads.cancels -= 1;
        kernel.threads.unwinds = false;
        kernel.threads.returned.take()
    };
    // It has caught the panic, or ended its poll before its next stop.
    if let Some(mut body) = left {
        let dropped = catch_unwind(AssertUnwindSafe(|| body.cancel()));
        let tag = enter().current_tag();
        body.lose(dropped.err().map_or(Lost::Aborted, |payload| Lost::panicked(tag, payload)));
    }
    seat.throws.store(0, Relaxed);
    matches!(outcome, Outcome::Left(_))
}

/// Unwinds this thread out of the poll that it is in. One that keeps on catching that is given up: it
/// stands where it is for good.
fn unwind(lane: &'static Lane) -> ! {
    let mine = seat(lane);
    if mine.throws.fetch_add(1, Relaxed) < THROWS_MAX {
        resume_unwind(Box::new(Unwound));
    }
    let mut kernel = enter();
    let tag = kernel.current_tag();
    let message = format!(
        "detsim: {} does not end; it was dropped, but catches the panic that unwinds it and waits \
         again; let a panic that is not its own pass",
        kernel.shown_task(tag)
    );
    if mine.is(&lane.home) {
        // The drive could never return: the process is of no more use.
        drop(kernel);
        retire(&message);
    }
    let failure = Failure::panicked(&kernel, tag, message);
    kernel.fail(failure);
    drop(kernel);
    let resumer = give_back(Outcome::Stuck);
    pass(lane, mine, resumer, Order::Back);
    unreachable!("detsim bug: a thread that was given up got the baton");
}

/// Ends the process, with a word about why.
fn retire(why: &str) -> ! {
    // Nobody is left to tell where it cannot be written.
    let _unwritten = writeln!(std::io::stderr(), "{why}");
    std::process::abort()
}

/// Drops a task whose poll was put aside. False where there is none.
fn end_another() -> bool {
    let find = |kernel: &mut Kernel| {
        // One whose body is away is being dropped: it may be this one.
        let stands = |slot: &&u32| kernel.tasks.get(**slot).is_some_and(|s| s.body.is_some());
        kernel.threads.hosts.iter().rev().find(stands).copied()
    };
    let slot = context::with(find).flatten();
    slot.into_iter().for_each(crate::run::drop_task);
    slot.is_some()
}

/// Lets one thread that was put aside go on, on behalf of one that cannot be.
fn help(site: &'static Location<'static>) {
    let find = |kernel: &mut Kernel| {
        let ready = |slot: &u32| {
            kernel.tasks.get(*slot).is_some_and(|slot| slot.queued && kernel.runs(slot))
        };
        let host = kernel.threads.hosts.iter().copied().find(ready)?;
        Some((host, kernel.current(), std::mem::take(&mut kernel.threads.cancels)))
    };
    let Some((host, (slot, word, node), cancels)) = context::with(find).flatten() else {
        // The world ends: the others are to go as well, and one of them may be what it waits for.
        if std::thread::panicking() && end_another() {
            return;
        }
        panic!(
            "detsim: the wait at {site} never ends; it stands where no other task can run (a callback, \
             or the destructor of a dropped task), and no thread that could end it is ready; do not \
             wait there"
        )
    };
    crate::run::turn_of(host);
    let mut kernel = enter();
    kernel.threads.cancels = cancels;
    kernel.set_current(slot, word, node);
}
