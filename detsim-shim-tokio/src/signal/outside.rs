//! Signals that the process sends itself outside of any run.
//!
//! Owns: who hears of them: listeners in runs that nobody opened, whose program is the whole process. Does
//! not own: listeners, and the signals that a run sends itself. Invariant: a run in which somebody listens
//! so waits for a signal, in real time, where nothing else is left to happen.

use super::listener::Signalled;
use crate::runtime::world;
use detsim_executor::{Deadline, Device, Sim, threads};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

struct Listening {
    run: u64,
    signal: i32,
    signalled: Weak<Signalled>,
}

static LISTENING: Mutex<Vec<Listening>> = Mutex::new(Vec::new());

fn listening() -> MutexGuard<'static, Vec<Listening>> {
    let _ours = threads::outside();
    LISTENING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on the signals of this kind that the process sends itself are heard of, where the run is one
/// that nobody opened.
pub(super) fn listen(sim: &Sim, signal: i32, signalled: &Arc<Signalled>) {
    let run = sim.with(|kernel| kernel.id());
    if !world::is_opened(run) {
        return;
    }
    let _ours = threads::outside();
    detsim::__private::taken_outside_by(take);
    let mut listening = listening();
    listening.retain(|other| other.signalled.strong_count() > 0);
    listening.push(Listening { run, signal, signalled: Arc::downgrade(signalled) });
    drop(listening);
    if sim.device::<Plug>().is_none() {
        sim.add_device(Rc::new(Plug { run }));
    }
}

fn take(signal: i32) -> bool {
    let of_signal =
        |other: &Listening| (other.signal == signal).then(|| other.signalled.upgrade()).flatten();
    let taking: Vec<_> = listening().iter().filter_map(of_signal).collect();
    taking.iter().for_each(|signalled| signalled.come());
    !taking.is_empty()
}

/// What the run loop asks.
struct Plug {
    run: u64,
}

impl Device for Plug {
    fn next_deadline(&self) -> Option<Deadline> {
        None
    }

    fn handle(&self) {}

    fn hopes(&self) -> bool {
        let hears = |other: &Listening| {
            let state = other.signalled.upgrade().filter(|_| other.run == self.run);
            state.is_some_and(|signalled| signalled.is_heard())
        };
        listening().iter().any(hears)
    }

    fn wait_outside(&self, limit: Duration) {
        let _ours = threads::outside();
        std::thread::sleep(limit);
    }
}
