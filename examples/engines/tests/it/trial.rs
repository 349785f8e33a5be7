//! One store, run until the power has gone often, and held to what it acknowledged.
//!
//! Owns: the workload, the losses of power, and the judgement. Does not own: the engines. The workload
//! is a row of transactions, each of which writes its own number under `last` and under one of eight
//! names in turn, with a value that is made of the number. What a store holds is right where it is the
//! outcome of the first `n` transactions, `n` being all that were acknowledged, or one more.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use detsim_executor::{NodeId, Sim, blocking, context, threads};
use detsim_fs::{CrashProfile, DiskConfig, DiskLatency, Disks, PowerLoss};

/// A value of a transaction: wide enough to be torn.
pub(crate) fn value(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(20 + (number % 7) as usize * 40)
}

/// The name that a transaction writes besides `last`.
pub(crate) fn name(number: u64) -> String {
    format!("name-{}", number % 8)
}

/// A store that is open.
pub(crate) trait Store: Sized {
    /// Opens the store of this node, or makes it.
    fn open() -> Result<Self, String>;
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, String>;
    /// Writes both, and makes them durable.
    fn put(&self, number: u64) -> Result<(), String>;
}

/// What became of a store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) acked: u64,
    pub(crate) boots: u64,
    /// What is wrong, where something is.
    pub(crate) broken: Option<String>,
}

/// How many transactions the store holds; what is wrong where it is no such number.
pub(crate) fn judge<S: Store>(store: &S, acked: u64) -> Result<u64, String> {
    let Some(last) = store.get("last")? else {
        return if acked == 0 { Ok(0) } else { Err(format!("all {acked} are lost")) };
    };
    let number = last.get(..8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let number = number.filter(|number| value(*number) == last).ok_or("`last` is no value")?;
    if number < acked || number > acked + 1 {
        return Err(format!("{number} transactions, of {acked} acknowledged"));
    }
    for written in number.saturating_sub(7).max(1)..=number {
        if store.get(&name(written))?.as_ref() != Some(&value(written)) {
            return Err(format!("{} is not of transaction {written} of {number}", name(written)));
        }
    }
    Ok(number)
}

/// When the power begins to go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    /// Before the store is there.
    AtOnce,
    /// After the first transaction.
    Later,
}

/// How often it goes, at calls that change a file or what is durable.
const POWER_RATE: f64 = 0.01;

fn config(profile: CrashProfile, rate: f64) -> DiskConfig {
    let micros = Duration::from_micros;
    DiskConfig {
        latency: DiskLatency { read: micros(5), write: micros(10), sync: micros(1000) },
        power: PowerLoss { rate, back_after: Duration::from_millis(20) },
        ..DiskConfig::of_profile(profile)
    }
}

type Shared = Arc<Mutex<Verdict>>;

fn told(verdict: &Shared) -> MutexGuard<'_, Verdict> {
    verdict.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens the store, judges it, and writes on until the power goes.
fn serve<S: Store>(verdict: &Shared, node: NodeId, profile: CrashProfile) -> Result<(), String> {
    told(verdict).boots += 1;
    let store = S::open()?;
    let acked = told(verdict).acked;
    let number = judge(&store, acked)?;
    told(verdict).acked = number;
    for number in number + 1.. {
        store.put(number)?;
        told(verdict).acked = number;
        if number == 1 {
            let disks = Disks::current().ok_or("no run")?;
            disks.set_config(node, config(profile, POWER_RATE));
        }
    }
    Ok(())
}

/// Runs a store for two seconds of virtual time.
pub(crate) fn run<S: Store + 'static>(sim: &Sim, profile: CrashProfile, begins: Begins) -> Verdict {
    let (disks, node) = (Disks::of(sim), sim.node("db"));
    let rate = if begins == Begins::AtOnce { POWER_RATE } else { 0.0 };
    disks.set_config(node.id(), config(profile, rate));
    let (verdict, id) = (Shared::default(), node.id());
    let of_node = Arc::clone(&verdict);
    node.on_start(move || {
        let verdict = Arc::clone(&of_node);
        if told(&verdict).broken.is_some() {
            return;
        }
        let serves = blocking(move || {
            // What an engine says when its thread is told to go is no finding.
            let ended = catch_unwind(AssertUnwindSafe(|| serve::<S>(&verdict, id, profile)));
            if threads::is_gone() {
                return;
            }
            let broken = match ended {
                Ok(ended) => ended.err(),
                Err(panic) => Some(format!("a panic: {}", detsim_executor::message_of(&*panic))),
            };
            told(&verdict).broken = broken;
        });
        drop(context::spawn("db", serves));
    });
    let ended = sim.run_for(Duration::from_secs(2));
    let mut verdict = told(&verdict).clone();
    if let Err(failure) = ended {
        verdict.broken.get_or_insert(failure.to_string());
    }
    verdict
}

/// Runs a store that has to keep everything.
pub(crate) fn keeps<S: Store + 'static>(sim: &Sim, profile: CrashProfile, begins: Begins) {
    let verdict = run::<S>(sim, profile, begins);
    assert!(verdict.broken.is_none(), "{verdict:?}");
    assert!(verdict.boots > 1, "the power never went: {verdict:?}");
}

/// What is wrong with a store in these seeds, where something is.
pub(crate) fn losses<S: Store + 'static>(
    profile: CrashProfile,
    begins: Begins,
    seeds: u64,
) -> Vec<String> {
    // From here on files of std are the run's: the attribute does that by itself.
    drop(detsim::__private::disks());
    (0..seeds).filter_map(|seed| run::<S>(&Sim::new(seed), profile, begins).broken).collect()
}
