//! Futures that stay on the thread that drives their run.
//!
//! Owns: [`AtHome`], a future whose polls, and whose destructor, are on the home thread whoever has the loop;
//! and what the home thread does while another has it for the whole of a drive ([`stand_by`]). Does not
//! own: which drive is of that kind, nor what stays (a runtime's, and sets of local tasks).
//!
//! A runtime of several threads runs its tasks on others than the one that blocks on it, and what blocks
//! there, and local tasks, nowhere but on that one. Programs see that by thread-locals and by the ids of
//! threads. So in such a drive a pooled thread has the loop from the beginning, and the home thread stands by:
//! it is handed single polls, each with the baton.
//!
//! Invariants: while the home thread stands by it is in no list of idle threads, so that it gets no
//! loop; it is handed a poll only where it is in none; a poll that is put aside there keeps it, and who
//! comes for it meanwhile waits ([`Station::Taken`]), as for a thread that is blocked. In any other drive
//! futures are polled where the loop is.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::thread::Result;

use super::crew::pass;
use super::host::{Aborts, Outcome, dismiss, give_back, order, resume};
use super::{Order, Seat, enter, lane, runner, seat};
use crate::failure::Failure;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::sim::Report;
use crate::stack::{self, Stack};
use crate::waker::{probing_waker, waker};
use crate::{context, here};

/// What the home thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Station {
    /// It drives, or is in a poll like any other thread.
    #[default]
    None,
    /// It stands by.
    Free,
    /// It is in a poll that it was handed.
    Taken,
}

/// A future whose polls are on the thread that drives the run. Made by [`at_home`].
#[must_use = "a future does nothing unless it is polled"]
pub struct AtHome<F: Future + 'static>(State<F>);

enum State<F: Future + 'static> {
    Idle(Pin<Box<F>>),
    /// A poll of it was put aside on the home thread. The slot of its task, and what it comes to.
    Stands(u32, Rc<Outlet<F>>),
    Over,
}

/// What a poll on the home thread has come to.
struct Polled<F: Future> {
    /// The output, or the future, which is to be polled again.
    ended: Result<std::result::Result<F::Output, Pin<Box<F>>>>,
    yields: bool,
    noted: Option<Stack>,
}

type Outlet<F> = Cell<Option<Polled<F>>>;

/// Has `future` polled on the thread that blocks on the run, where one does that stands by; elsewhere it is
/// polled as any other.
pub fn at_home<F: Future + 'static>(future: F) -> AtHome<F> {
    AtHome(State::Idle(Box::pin(future)))
}

/// Whether what stays on this thread is to be [`at_home`]: the thread is one that drives runs, and does
/// not drive one just now, or stands by.
pub fn is_home() -> bool {
    let stands_by = |kernel: &mut Kernel| kernel.threads.station != Station::None;
    here::seat().is_none() && context::with(stands_by) != Some(false)
}

impl<F: Future + 'static> Unpin for AtHome<F> {}

impl<F: Future + 'static> Future for AtHome<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match std::mem::replace(&mut self.0, State::Over) {
            State::Idle(mut future) => match away() {
                Some(home) if enter().takes_home() => self.begin(home, future),
                away => {
                    let polled = match away {
                        None => future.as_mut().poll(cx),
                        Some(_) => Poll::Pending,
                    };
                    self.0 = State::Idle(future);
                    polled
                }
            },
            State::Stands(slot, outlet) => {
                let outcome = resume(&lane().home, order());
                self.end(outcome, slot, outlet)
            }
            State::Over => panic!("detsim: a future was polled after it had ended"),
        }
    }
}

impl<F: Future + 'static> AtHome<F> {
    fn begin(&mut self, home: &'static Seat, future: Pin<Box<F>>) -> Poll<F::Output> {
        let outlet = Rc::new(Cell::new(None));
        let (slot, job) = {
            let mut kernel = enter();
            let (slot, word, _) = kernel.current();
            let is_probing = kernel.is_probing();
            kernel.threads.hosts.push(slot);
            kernel.threads.on_home = Some(slot);
            kernel.tasks.cold_mut(slot).aborts = Aborts::Later { asked: false };
            let outlet = Rc::clone(&outlet);
            (slot, move || outlet.set(Some(poll_at_home(future, word, is_probing))))
        };
        enter().threads.job = Some(Box::new(job));
        let outcome = resume(home, Order::Job);
        self.end(outcome, slot, outlet)
    }

    /// A stretch of the poll is over.
    fn end(&mut self, outcome: Outcome, slot: u32, outlet: Rc<Outlet<F>>) -> Poll<F::Output> {
        if outcome == Outcome::Suspended {
            self.0 = State::Stands(slot, outlet);
            return Poll::Pending;
        }
        leave_home(slot);
        let polled = outlet.take().expect("invariant: whoever leaves the poll says how it ended");
        polled.noted.into_iter().for_each(stack::put);
        if polled.yields {
            let word = enter().word();
            here::yield_poll(word);
        }
        match polled.ended {
            Ok(Ok(output)) => Poll::Ready(output),
            Ok(Err(future)) => {
                self.0 = State::Idle(future);
                Poll::Pending
            }
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// The poll, on the home thread. A future goes there when it is ready, or while its panic unwinds.
fn poll_at_home<F: Future>(future: Pin<Box<F>>, word: u64, is_probing: bool) -> Polled<F> {
    let waker = if is_probing { probing_waker(word) } else { waker(word) };
    here::begin_poll(word);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut goes = Goes(Some(future));
        let polled = goes.future().poll(&mut Context::from_waker(&waker));
        match (polled, goes.0.take()) {
            (Poll::Pending, Some(future)) => Err(future),
            (Poll::Ready(output), future) => {
                drop(future);
                Ok(output)
            }
            (Poll::Pending, None) => unreachable!("invariant: it is taken once"),
        }
    }));
    Polled { ended, yields: here::end_poll(), noted: stack::take_noted() }
}

/// A future that goes where its poll panics. It panics alone: the poll's is the panic to be told.
struct Goes<F>(Option<Pin<Box<F>>>);

impl<F> Goes<F> {
    fn future(&mut self) -> Pin<&mut F> {
        self.0.as_mut().expect("invariant: it is taken when the poll is over").as_mut()
    }
}

impl<F> Drop for Goes<F> {
    fn drop(&mut self) {
        if let Some(future) = self.0.take() {
            drop(catch_unwind(AssertUnwindSafe(|| drop(future))));
        }
    }
}

impl<F: Future + 'static> Drop for AtHome<F> {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.0, State::Over) {
            State::Idle(future) => drop_at_home(future),
            State::Stands(slot, _) => {
                dismiss(&lane().home);
                context::with(|kernel| kernel.threads.forget(slot));
                leave_home(slot);
            }
            State::Over => {}
        }
    }
}

/// The home thread, where it stands by, in a poll or not, and is not the one that runs.
fn away() -> Option<&'static Seat> {
    let lane = here::place().lane?;
    let is_away = !seat(lane).is(&lane.home) && enter().threads.station != Station::None;
    is_away.then_some(&lane.home)
}

impl Kernel {
    /// Takes the home thread for a poll of the current task, which is woken again where it has to wait
    /// for it.
    fn takes_home(&mut self) -> bool {
        let threads = &mut self.threads;
        let is_free = threads.station == Station::Free;
        if is_free {
            threads.station = Station::Taken;
        } else {
            let word = self.word();
            self.threads.for_home.push(word);
        }
        is_free
    }
}

/// The home thread is in no poll any more: who has waited for it may come.
fn leave_home(slot: u32) {
    let mut kernel = enter();
    if kernel.threads.station == Station::Taken {
        kernel.threads.station = Station::Free;
    }
    kernel.threads.forget(slot);
    kernel.settle_aborts(slot);
    for word in std::mem::take(&mut kernel.threads.for_home) {
        kernel.wake(word);
    }
}

/// Drops a future that is in no poll, on the home thread where that is to be had.
fn drop_at_home<F: 'static>(future: Pin<Box<F>>) {
    let home = away().filter(|_| enter().threads.station == Station::Free);
    let Some(home) = home else { return drop(future) };
    let dropped = Rc::new(Cell::new(Ok(())));
    let outlet = Rc::clone(&dropped);
    let job = move || outlet.set(catch_unwind(AssertUnwindSafe(|| drop(future))));
    enter().threads.job = Some(Box::new(job));
    resume(home, Order::Job);
    if let Err(payload) = dropped.replace(Ok(())) {
        resume_unwind(payload);
    }
}

/// Has a pooled thread run the loop of the drive that has just begun, and is there for polls until it is over.
pub(crate) fn stand_by(lane: &'static Lane) -> std::result::Result<Report, Failure> {
    let (mut to, mut order) = (runner::idle(lane), Order::Loop);
    enter().threads.station = Station::Free;
    loop {
        match pass(lane, &lane.home, to, order) {
            Order::Ended => {
                let mut kernel = enter();
                kernel.threads.station = Station::None;
                return kernel.threads.ended();
            }
            Order::Job => {
                let job =
                    enter().threads.job.take().expect("invariant: a job comes with its order");
                job();
                (to, order) = (give_back(Outcome::Left(true)), Order::Back);
            }
            other => unreachable!("detsim bug: {other:?} to a thread that stands by"),
        }
    }
}

impl<F: Future + 'static> std::fmt::Debug for AtHome<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AtHome").finish_non_exhaustive()
    }
}
