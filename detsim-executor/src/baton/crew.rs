//! How the baton passes from one thread to another.
//!
//! Owns: [`Seat`], the place of one thread; [`pass`]; and [`Crew`], those threads of a lane that take
//! turns on one thread of the system (`baton/fiber.rs`). Does not own: whom the baton is passed to.
//!
//! The thread that drives the run, and pooled ones where that is possible, are of the crew; a thread that
//! the program started, and a pooled one elsewhere, has a thread of the system for itself. Within the
//! crew the baton passes by a jump. Otherwise the thread that gets it is woken, and the one that gives it
//! sleeps: for the crew its one thread of the system does, on the stack of whoever of it gave the baton
//! away, and where that is not who gets it back, it jumps there.
//!
//! Invariants: whoever gives the baton away takes the simulation out of its `HERE` first, and touches
//! nothing of the run afterwards; what it has written is seen by whoever gets it.

use std::ops::DerefMut;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::*};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::Order;
use super::fiber::Fiber;
use super::signal::Signal;
use crate::here::{self, Place};
use crate::lane::Lane;

/// The place of one thread in the simulations of one lane.
#[derive(Debug)]
pub(crate) struct Seat {
    /// Of the crew: what the thread is while it does not run.
    fiber: Option<Fiber>,
    /// Not of it: what the thread sleeps on.
    signal: Signal,
    /// An [`Order`], written before the baton is passed and read after it.
    order: AtomicU8,
    /// How often the thread was told to unwind and did not. For the baton holder.
    pub(super) throws: AtomicU32,
    /// The thread is the program's own, and has ended.
    pub(super) ended: AtomicBool,
    /// Of a thread that will be sent off.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Seat {
    /// Of whoever drives the simulations of a lane.
    pub(crate) const fn home() -> Self {
        Self::new(Some(Fiber::driving()))
    }

    /// Of a pooled thread that is about to start.
    pub(super) fn pooled() -> Self {
        Self::new(super::fiber::are_wanted().then(Fiber::starting))
    }

    /// Of a thread that the program starts.
    pub(super) const fn apart() -> Self {
        Self::new(None)
    }

    const fn new(fiber: Option<Fiber>) -> Self {
        Self {
            fiber,
            signal: Signal::new(),
            order: AtomicU8::new(0),
            throws: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            thread: Mutex::new(None),
        }
    }

    /// The thread will be sent off.
    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        *lock(&self.thread) = Some(thread);
    }

    /// Has a pooled thread end that waits with nothing of a run on its stack, and waits until its
    /// thread-locals are dropped: outside of any run, and not by whoever goes on with its stack.
    pub(super) fn send_off(&self) {
        let Some(thread) = lock(&self.thread).take() else { return };
        let _ours = here::outside();
        self.order.store(Order::Leave as u8, Release);
        match &self.fiber {
            Some(fiber) => fiber.send_back(),
            None => self.signal.raise(),
        }
        // What a destructor of a thread-local panics with ends the process before this.
        let _never_panicked = thread.join();
    }

    /// Tells a thread that waits for its first turn that there is none.
    pub(super) fn bar(&self) {
        self.order.store(Order::Leave as u8, Release);
        self.signal.raise();
    }

    /// Whether a thread that is made now is to have a seat of this kind.
    pub(super) fn is_wanted(&self) -> bool {
        self.fiber.is_some() == super::fiber::are_wanted()
    }

    /// The thread was sent off: the seat is that of another from now on.
    pub(super) fn renew(&self) {
        self.fiber.iter().for_each(Fiber::renew);
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

/// The threads of a lane that take turns on one thread of the system.
#[derive(Debug, Default)]
pub(crate) struct Crew {
    /// What that thread sleeps on while one that is not of the crew has the baton.
    signal: Signal,
    /// Who of the crew is to go on then.
    called: Mutex<Option<&'static Seat>>,
}

/// Where a thread stands that does not hold the baton.
pub(super) const NOWHERE: Place = Place { sim: here::NOWHERE, lane: None, polled: 0 };

/// Passes the baton from this thread to the seat `to`, and waits until it comes to `mine`.
pub(super) fn pass(
    lane: &'static Lane,
    mine: &'static Seat,
    to: &'static Seat,
    order: Order,
) -> Order {
    let place = lay_down(lane, to, order);
    match (&mine.fiber, &to.fiber) {
        (Some(mine), Some(to)) => mine.switch_to(to),
        _ => {
            wake(lane, to);
            sleep(lane, mine);
        }
    }
    pick_up(lane, mine, place)
}

/// Gives the baton away for good.
pub(super) fn give(lane: &'static Lane, to: &'static Seat, order: Order) {
    lay_down(lane, to, order);
    wake(lane, to);
}

/// Waits for the baton for the first time, on a thread that the lane's threads have started, or the
/// program.
pub(super) fn take(lane: &'static Lane, mine: &'static Seat) -> Order {
    match &mine.fiber {
        Some(fiber) => fiber.give_up(),
        None => mine.signal.wait(),
    }
    pick_up(lane, mine, NOWHERE)
}

/// Where this thread stood.
fn lay_down(lane: &'static Lane, to: &'static Seat, order: Order) -> Place {
    let place = here::replace(NOWHERE);
    assert!(!lane.bias.is_busy(), "detsim bug: the baton was passed inside a section");
    to.order.store(order as u8, Release);
    place
}

/// Stands in `place` again. What the baton was passed for.
fn pick_up(lane: &'static Lane, mine: &'static Seat, place: Place) -> Order {
    let order = Order::ALL[usize::from(mine.order.load(Acquire))];
    if order != Order::Leave {
        here::replace(Place { sim: lane.bias.live(), lane: Some(lane), ..place });
        lane.bias.move_home(here::token());
    }
    order
}

fn wake(lane: &'static Lane, to: &'static Seat) {
    match to.fiber {
        Some(_) => lane.crew.call(to),
        None => to.signal.raise(),
    }
}

fn sleep(lane: &'static Lane, mine: &'static Seat) {
    match &mine.fiber {
        Some(fiber) => {
            if let Some(other) = lane.crew.await_call(mine) {
                fiber.switch_to(other);
            }
        }
        None => mine.signal.wait(),
    }
}

impl Crew {
    /// For a thread that is not of the crew: one of it is to go on.
    fn call(&self, to: &'static Seat) {
        *self.called() = Some(to);
        self.signal.raise();
    }

    /// Sleeps, on the stack of `mine`, until one of the crew is to go on: where that is another, what it
    /// is jumped to by.
    fn await_call(&self, mine: &Seat) -> Option<&'static Fiber> {
        self.signal.wait();
        let called = self.called().take().expect("invariant: whoever calls says whom");
        called.fiber.as_ref().filter(|_| !called.is(mine))
    }

    fn called(&self) -> impl DerefMut<Target = Option<&'static Seat>> {
        lock(&self.called)
    }
}

/// No other thread of the program holds one of these.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    let _ours = here::outside();
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
