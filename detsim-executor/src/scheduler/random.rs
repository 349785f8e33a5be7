//! A random walk.

use super::{Pick, Ready, Scheduler};
use crate::rng::{Stream, scale};
use std::mem;

/// A uniform pick among the ready tasks.
///
/// How often a task is stopped before an operation differs from run to run: the mean number of
/// operations between two stops is drawn once, log-uniformly from 1 to 64, so that a sweep has
/// runs that interleave at every operation and runs in which a task gets far ahead. A bug needs few
/// stops, and a long run has many places for them: after every 64 the mean doubles, up to 64, so
/// that a run of millions of operations is not spent on switching.
#[derive(Debug)]
#[repr(C)]
pub struct Random {
    ready: Vec<Entry>,
    stream: Stream,
    arrivals: u32,
    mean: u64,
    /// Draws until the mean doubles.
    dense: u32,
}

/// How many stops are drawn at one density.
const STOPS_AT_ONE_DENSITY: u32 = 64;
/// The sparsest density.
const MEAN_MAX_LOG2: u64 = 6;

/// A slot, below its order of arrival, which only [`Scheduler::default_pick`] needs. One word, since an
/// entry is often moved just after it was written: two halves would make the move wait for both stores.
#[derive(Clone, Copy, Debug)]
struct Entry(u64);

impl Entry {
    #[inline]
    fn new(slot: u32, arrival: u32) -> Self {
        Self(u64::from(arrival) << 32 | u64::from(slot))
    }

    #[inline]
    fn slot(self) -> u32 {
        self.0 as u32
    }

    fn arrival(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl Random {
    /// A walk over the words of `stream`.
    pub fn new(stream: Stream) -> Self {
        let mut walk = Self { ready: Vec::new(), arrivals: 0, stream, mean: 1, dense: 0 };
        walk.draw_mean();
        walk
    }

    /// The same with memory of an earlier run.
    pub(crate) fn reset(&mut self, stream: Stream) {
        self.ready.clear();
        self.arrivals = 0;
        self.stream = stream;
        self.draw_mean();
    }

    /// A task became ready.
    #[inline]
    pub(crate) fn push(&mut self, slot: u32) {
        self.arrivals = self.arrivals.wrapping_add(1);
        let entry = Entry::new(slot, self.arrivals);
        if self.ready.len() == self.ready.capacity() {
            return self.push_and_grow(entry);
        }
        self.ready.push(entry);
    }

    #[cold]
    #[inline(never)]
    fn push_and_grow(&mut self, entry: Entry) {
        self.ready.push(entry);
    }

    /// Takes a task; a single one is no choice, and costs no draw.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        let index = match self.ready.len() {
            0 => return None,
            1 => 0,
            n => scale(self.stream.word(), n as u64) as usize,
        };
        Some(self.ready.swap_remove(index).slot())
    }

    /// A task becomes ready and another is taken, or the same: as [`Self::push`] and [`Self::take`], which
    /// would move the one that comes last to the place of the one that goes. For a run that asks for no
    /// default: when the task came is not kept.
    #[inline]
    pub(crate) fn exchange(&mut self, slot: u32) -> u32 {
        let index = match self.ready.len() {
            0 => 0,
            n => scale(self.stream.word(), n as u64 + 1) as usize,
        };
        let entry = Entry::new(slot, 0);
        self.ready.get_mut(index).map_or(slot, |place| mem::replace(place, entry).slot())
    }

    fn draw_mean(&mut self) {
        self.mean = 1 << self.stream.below(MEAN_MAX_LOG2 + 1);
        self.dense = STOPS_AT_ONE_DENSITY;
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new(Stream::new(0))
    }
}

impl Scheduler for Random {
    fn ready(&mut self, task: Ready) {
        self.push(task.slot);
    }

    fn pick(&mut self, _at: Pick) -> Option<u32> {
        self.take()
    }

    #[inline]
    fn preempt_after(&mut self) -> Option<u32> {
        if self.dense == 0 && self.mean < 1 << MEAN_MAX_LOG2 {
            (self.mean, self.dense) = (2 * self.mean, STOPS_AT_ONE_DENSITY);
        }
        self.dense = self.dense.saturating_sub(1);
        Some(1 + self.stream.below(2 * self.mean) as u32)
    }

    fn remove(&mut self, slot: u32) {
        self.ready.retain(|entry| entry.slot() != slot);
    }

    fn len(&self) -> usize {
        self.ready.len()
    }

    fn default_pick(&self, _at: Pick) -> Option<u32> {
        self.ready.iter().min_by_key(|entry| entry.arrival()).map(|entry| entry.slot())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_exchange_is_to_push_and_to_take() {
        for seed in 0..100 {
            let (mut one, mut other) = (Random::default(), Random::default());
            one.reset(Stream::new(seed));
            other.reset(Stream::new(seed));
            for slot in 0..seed as u32 % 7 {
                one.push(slot);
                other.push(slot);
            }
            for slot in 100..200 {
                other.push(slot);
                assert_eq!(Some(one.exchange(slot)), other.take());
            }
        }
    }
}
