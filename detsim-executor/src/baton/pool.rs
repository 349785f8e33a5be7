//! How many closures may block threads at a time.
//!
//! Owns: [`Pool`]: the bound, and who waits below it, first come, first served. Does not own: threads.
//! Invariant: a place that is given up goes to whoever waits longest, at once.

use std::collections::VecDeque;
use std::panic::Location;

use crate::block::{Block, Object, OpKind, ResourceKind, Waiter};
use crate::kernel::Kernel;
use crate::waker::waker;

/// Closures that may block at a time, where nobody says otherwise: as many as in tokio.
const CLOSURES_MAX: usize = 512;

/// The bound and its queue.
#[derive(Debug)]
pub(crate) struct Pool {
    object: Option<Object>,
    running: usize,
    running_max: usize,
    waiting: VecDeque<(u64, Waiter)>,
}

impl Default for Pool {
    fn default() -> Self {
        Self { object: None, running: 0, running_max: CLOSURES_MAX, waiting: VecDeque::new() }
    }
}

impl Kernel {
    /// How many closures may block threads at a time; others wait until one has ended.
    ///
    /// # Panics
    /// Where it is none.
    #[track_caller]
    pub fn set_blocking_max(&mut self, closures: usize) {
        assert!(
            closures > 0,
            "detsim: a blocking pool of no threads; none of its closures would end"
        );
        self.threads.pool.running_max = closures;
    }

    /// Takes a place for the current task. False: it waits for one, at `site`, and is woken when it
    /// has got it.
    pub(super) fn take_place(&mut self, site: &'static Location<'static>) -> bool {
        let pool = &mut self.threads.pool;
        if pool.running < pool.running_max {
            pool.running += 1;
            return true;
        }
        let mut object =
            pool.object.take().unwrap_or_else(|| Object::new(ResourceKind::BlockingPool, site));
        let word = self.current_tag().word;
        let waiter = Block::wait(Some(self), &mut object, OpKind::Start, site, &[], waker(word));
        self.threads.pool.object = Some(object);
        self.threads.pool.waiting.push_back((word, waiter));
        false
    }

    /// Whether the task of this word still waits for a place.
    pub(super) fn waits_for_place(&self, word: u64) -> bool {
        self.threads.pool.waiting.iter().any(|(waiting, _)| *waiting == word)
    }

    /// A closure has ended: its place goes to the next.
    pub(super) fn give_place(&mut self) {
        match self.threads.pool.waiting.pop_front() {
            Some((word, waiter)) => {
                self.end_wait_for_place(waiter);
                self.wake(word);
            }
            None => self.threads.pool.running -= 1,
        }
    }

    /// The task of this word waits no more.
    pub(super) fn leave_queue(&mut self, word: u64) {
        let waiting = &mut self.threads.pool.waiting;
        if let Some(at) = waiting.iter().position(|(waiting, _)| *waiting == word)
            && let Some((_, waiter)) = waiting.remove(at)
        {
            self.end_wait_for_place(waiter);
        }
    }

    fn end_wait_for_place(&mut self, waiter: Waiter) {
        if let Some(mut object) = self.threads.pool.object.take() {
            // A word: nothing to wake or drop outside of the kernel.
            drop(Block::wake(Some(self), &mut object, waiter));
            self.threads.pool.object = Some(object);
        }
    }
}
