//! The clock of a run.
//!
//! Owns: reading it, pausing it, and what the system's clock shows meanwhile. Does not own: what it moves
//! on to (`run.rs`), nor what a poll costs (`turn.rs`). Invariant: neither clock ever goes back.
//!
//! A paused clock is the program's, as tokio's is: it jumps to the next timer when nothing can run. The
//! system's goes on at its own pace, which a thread that sleeps can feel; so time that passes by a jump
//! is none of the system's, and time that a thread sleeps is none of the program's.

use std::time::Duration;

use crate::SimTime;
use crate::kernel::{Kernel, NO_TASK};

/// What one poll costs.
pub(crate) const POLL_NS: u64 = 50;
/// What one reading of the clock costs: a loop that waits for time to pass in one poll ends.
const READ_NS: u64 = 10;

/// What the two clocks have gone apart while the program's was paused.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Apart {
    /// Time of the program's clock alone.
    jumped_ns: u64,
    /// Time of the system's clock alone.
    slept_ns: u64,
}

impl Kernel {
    /// Virtual time, without the cost of a reading.
    #[inline]
    pub fn now(&self) -> SimTime {
        SimTime::from_nanos(self.now_ns)
    }

    /// Virtual time as the program under test reads it: a reading takes a few nanoseconds, unless
    /// the clock is paused.
    #[inline]
    pub fn read_clock(&mut self) -> SimTime {
        if !self.is_clock_paused() && self.current_index() != NO_TASK {
            self.now_ns += READ_NS;
        }
        self.now()
    }

    /// The same as the clock of whoever runs shows it, which may drift.
    #[inline]
    pub fn read_node_clock(&mut self) -> SimTime {
        self.read_clock();
        self.node_now()
    }

    /// The same of the system's clock, which is not paused with the program's.
    pub fn read_system_clock(&mut self) -> SimTime {
        let now = self.read_node_clock().as_nanos();
        let Apart { jumped_ns, slept_ns } = self.apart;
        SimTime::from_nanos(now.saturating_sub(jumped_ns).saturating_add(slept_ns))
    }

    /// Whether the clock is paused: polls and readings take no time, and it moves on to the next
    /// timer or delivery only when nothing can run.
    #[inline]
    pub fn is_clock_paused(&self) -> bool {
        self.poll_ns == 0
    }

    /// Pauses the clock.
    pub fn pause_clock(&mut self) {
        self.poll_ns = 0;
    }

    /// Ends a pause of the clock.
    pub fn resume_clock(&mut self) {
        self.poll_ns = POLL_NS;
    }

    /// Moves the clock of whoever runs forward at once, and with it all others. What falls due happens after
    /// the poll that is under way.
    pub fn advance_clock(&mut self, by: Duration) {
        self.move_clock(self.when(self.node_now() + by));
    }

    /// The clock moves on to a moment, unless it is past it.
    pub(crate) fn move_clock(&mut self, to: SimTime) {
        let passed_ns = to.as_nanos().saturating_sub(self.now_ns);
        self.now_ns += passed_ns;
        if self.is_clock_paused() {
            self.apart.jumped_ns += passed_ns;
        }
    }

    /// When a thread that sleeps for so long is to go on: at once, where that is none of the program's
    /// time.
    pub(crate) fn end_of_sleep(&mut self, time: Duration) -> SimTime {
        if !self.is_clock_paused() {
            return self.when(self.node_now() + time);
        }
        self.sleep_beside(time);
        self.now()
    }

    /// So much of the system's time is over, however far the program's clock got.
    pub(crate) fn sleep_beside(&mut self, time: Duration) {
        if self.is_clock_paused() {
            let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.apart.slept_ns = self.apart.slept_ns.saturating_add(ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sim, context, sleep_until};

    #[test]
    fn the_systems_clock_stands_while_a_paused_one_jumps() {
        let sim = Sim::new(1);
        let both = || context::with(|kernel| (kernel.now(), kernel.read_system_clock()));
        let seen = sim.block_on(async move {
            context::with(Kernel::pause_clock);
            let (before, system) = both().unwrap();
            sleep_until(before + Duration::from_secs(5)).await;
            context::with(|kernel| kernel.advance_clock(Duration::from_secs(1)));
            let (after, same) = both().unwrap();
            assert_eq!((after - before, same), (Duration::from_secs(6), system));
            let slept = context::with(|kernel| kernel.end_of_sleep(Duration::from_secs(2)));
            assert_eq!(slept, Some(after));
            both().unwrap().1 - system
        });
        assert_eq!(seen, Ok(Duration::from_secs(2)));
    }
}
