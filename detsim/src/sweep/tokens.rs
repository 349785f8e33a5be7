//! The tokens of `DETSIM_JOBS`: how many workers run at the same time, over all tests of a process.
//!
//! A token is held for one chunk of seeds, not for a whole sweep, and they are handed out in the
//! order of asking: tests that run in parallel share the processors evenly, and a sweep that is
//! alone gets them all. Invariant: at most as many tokens are out as there are.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// All tokens of the process.
#[derive(Debug)]
pub(crate) struct Tokens {
    count: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    free: Vec<usize>,
    /// Those who wait, first come first.
    queue: VecDeque<u64>,
    tickets: u64,
}

/// The right to run one worker.
#[derive(Debug)]
pub(crate) struct Token<'a> {
    tokens: &'a Tokens,
    number: usize,
}

impl Tokens {
    /// The tokens of this process. The first caller's count holds for all: it comes from the
    /// environment, which is the same for all tests.
    pub(crate) fn shared(jobs: Option<NonZeroUsize>) -> &'static Self {
        static SHARED: OnceLock<Tokens> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(jobs.map_or_else(processors, NonZeroUsize::get)))
    }

    fn new(count: usize) -> Self {
        // Taken from the end: number 0 is the first to go out.
        let free = (0..count).rev().collect();
        let state = State { free, queue: VecDeque::new(), tickets: 0 };
        Self { count, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Waits for a token, behind those who asked before.
    pub(crate) fn take(&self) -> Token<'_> {
        let mut state = self.lock();
        let ticket = state.tickets;
        state.tickets += 1;
        state.queue.push_back(ticket);
        loop {
            let is_next = state.queue.front() == Some(&ticket);
            if is_next && let Some(number) = state.free.pop() {
                state.queue.pop_front();
                self.changed.notify_all();
                return Token { tokens: self, number };
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Token<'_> {
    /// Which of the tokens it is: the place of its worker among the processors.
    pub(crate) fn number(&self) -> usize {
        self.number
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        self.tokens.lock().free.push(self.number);
        self.tokens.changed.notify_all();
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn no_more_are_out_than_there_are() {
        let tokens = Tokens::new(3);
        let (out, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let token = tokens.take();
                        assert!(token.number() < 3);
                        most.fetch_max(out.fetch_add(1, SeqCst) + 1, SeqCst);
                        out.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert!((1..=3).contains(&most.load(SeqCst)));
        assert_eq!(tokens.lock().free.len(), 3);
    }

    #[test]
    fn who_asks_first_is_served_first() {
        let tokens = Tokens::new(1);
        let held = tokens.take();
        let served = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for place in 0..4 {
                let (tokens, served) = (&tokens, &served);
                scope.spawn(move || {
                    let token = tokens.take();
                    served.lock().unwrap().push(place);
                    drop(token);
                });
                while tokens.lock().queue.len() <= place {
                    std::thread::yield_now();
                }
            }
            drop(held);
        });
        assert_eq!(served.into_inner().unwrap(), [0, 1, 2, 3]);
    }
}
