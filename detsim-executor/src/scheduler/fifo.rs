//! First come, first served.

use super::{Pick, Ready, Scheduler};
use std::collections::VecDeque;

/// Runs the ready tasks in the order they became ready, each until it waits. A task that a replay
/// stops before an operation goes behind those that were ready then.
#[derive(Debug, Default)]
pub struct Fifo {
    queue: VecDeque<u32>,
}

impl Scheduler for Fifo {
    #[inline]
    fn ready(&mut self, task: Ready) {
        self.queue.push_back(task.slot);
    }

    #[inline]
    fn pick(&mut self, _at: Pick) -> Option<u32> {
        self.queue.pop_front()
    }

    #[inline]
    fn preempt_after(&mut self) -> Option<u32> {
        None
    }

    fn remove(&mut self, slot: u32) {
        self.queue.retain(|queued| *queued != slot);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn default_pick(&self, _at: Pick) -> Option<u32> {
        self.queue.front().copied()
    }
}
