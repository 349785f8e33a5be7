//! What the shim promises under `--cfg detsim`, from the outside. Without the cfg there is nothing to
//! test here: the shim is tokio.
#![cfg(detsim)]

mod abuse;
mod apart;
mod barrier;
mod blocking;
mod broadcast;
mod coop;
mod deadlock;
mod determinism;
mod drift;
mod entry;
mod fairness;
#[cfg(target_os = "linux")]
mod fs;
mod gone;
mod hold;
mod io;
mod macros;
mod mpsc;
mod mutex;
mod notify;
mod oneshot;
mod outside;
#[cfg(feature = "io-util")]
mod parity;
mod runtime;
mod rwlock;
mod semaphore;
mod signal;
mod task;
mod threads;
mod time;
#[cfg(target_os = "linux")]
mod unix;
mod watch;

use detsim_executor::{Sim, SimConfig, Strategy};
use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

/// Runs a program under many schedules.
#[track_caller]
fn sweep<F: Future<Output = ()> + 'static>(seeds: u64, program: impl Fn() -> F) {
    for seed in 0..seeds {
        let sim = Sim::new(seed);
        if let Err(failure) = sim.block_on(program()) {
            panic!("seed {seed}:\n{failure}");
        }
        sim.finish().unwrap();
    }
}

/// Runs a program in the order of a queue, without preemption.
#[track_caller]
fn in_order<T: 'static>(program: impl Future<Output = T> + 'static) -> T {
    fifo().block_on(program).unwrap()
}

/// A simulation that runs tasks in the order of a queue.
fn fifo() -> Sim {
    let mut config = SimConfig::default();
    config.strategy = Strategy::Fifo;
    Sim::with_config(1, config)
}

/// What happened, in order. Not `Send`: for the futures of one task.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn add(&self, what: impl Display) {
        self.0.borrow_mut().push(what.to_string());
    }

    fn text(&self) -> String {
        self.0.borrow().join(" ")
    }
}
