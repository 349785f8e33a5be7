//! Those who wait at one thing, in calls of libc's.
//!
//! Owns: [`Line`], the waits at a thing that several wait for, and the wait itself. Does not own: what they
//! wait for, or when they are woken. Whoever is woken looks again.
//!
//! Invariants: a place in a line stands from when it is taken until it is woken or left, and is left when
//! its wait ends, however that is; nothing is borrowed while a thread waits.

use std::cell::Cell;
use std::panic::Location;
use std::rc::Rc;
use std::task::Waker;

use detsim_executor::block::{Block, Party, Waiter};
use detsim_executor::{Kernel, Object, OpKind, ResourceKind, threads};

use crate::errno::{Errno, Outcome};

/// Those who wait at one thing, longest wait first.
#[derive(Debug)]
pub struct Line {
    /// What they wait at, as the wait graph knows it.
    pub object: Object,
    waiters: Vec<(Place, Waiter)>,
}

/// A place in a line; the line and whoever waits have it.
#[derive(Clone, Debug)]
pub struct Place(Rc<Cell<bool>>);

impl Place {
    fn stands(&self) -> bool {
        self.0.get()
    }
}

impl Line {
    /// Nobody waits yet.
    pub const fn new(kind: ResourceKind, site: &'static Location<'static>) -> Self {
        Self { object: Object::new(kind, site), waiters: Vec::new() }
    }

    /// Does nobody wait?
    pub fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    /// Queues the current task, which is to [wait](wait_in_line) next, at `site`: for those who have the
    /// thing.
    pub fn join(
        &mut self,
        kernel: &mut Kernel,
        to: OpKind,
        site: &'static Location<'static>,
        holders: &[Party],
    ) -> Place {
        let waker = kernel.own_waker();
        let waiter = Block::wait(Some(kernel), &mut self.object, to, site, holders, waker);
        let place = Place(Rc::new(Cell::new(true)));
        self.waiters.push((place.clone(), waiter));
        place
    }

    /// Ends all waits. The wakers are to be woken where nothing is borrowed.
    #[must_use = "who waits is woken by these"]
    pub fn wake(&mut self, kernel: &mut Kernel) -> Vec<Waker> {
        let Self { object, waiters } = self;
        let woken = waiters.drain(..).map(|(place, waiter)| {
            place.0.set(false);
            Block::wake(Some(kernel), object, waiter)
        });
        woken.collect()
    }

    /// Ends one wait, where it stands.
    pub fn leave(&mut self, kernel: &mut Kernel, place: &Place) {
        if let Some(at) = self.waiters.iter().position(|(other, _)| Rc::ptr_eq(&other.0, &place.0))
        {
            let (place, waiter) = self.waiters.remove(at);
            place.0.set(false);
            drop(Block::cancel(Some(kernel), &mut self.object, waiter));
        }
    }
}

/// Lets others run for as long as a place stands; `leave` ends it where the wait is over before.
///
/// # Errors
/// `EIO` where the task was dropped meanwhile, `EDEADLK` where no task can wait.
#[track_caller]
pub fn wait_in_line(place: Place, leave: impl Fn(&Place)) -> Outcome<()> {
    struct Leaves<F: Fn(&Place)>(Place, F);
    impl<F: Fn(&Place)> Drop for Leaves<F> {
        fn drop(&mut self) {
            if self.0.stands() {
                self.1(&self.0);
            }
        }
    }
    let waits = Leaves(place, leave);
    while waits.0.stands() {
        match threads::wait_for_wake() {
            Some(true) => {}
            Some(false) => return Err(Errno::EIO),
            None => return Err(Errno::EDEADLK),
        }
    }
    Ok(())
}
