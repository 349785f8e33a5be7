//! Runs full of threads repeat, and are the same whether pooled threads share a thread of the system or
//! each has its own. One test: which it is can be changed once in a process.
#![cfg(target_os = "linux")]

use std::cell::RefCell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use detsim_executor::threads::{keep_threads_apart, yield_thread};
use detsim_executor::{
    JoinHandle, RunHash, Sim, block_in_place, block_on, blocking, context, sleep_until, yield_now,
};

/// What happened, and in which order.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn note(&self, task: u64, what: &str) {
        self.0.borrow_mut().push(format!("{task} {what}"));
    }
}

/// Notes that it is dropped, and lets others run first.
struct Tells(Log, u64);

impl Drop for Tells {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            yield_thread();
        }
        self.0.note(self.1, "dropped");
    }
}

fn wait_ms(ms: u64) {
    let until = context::now() + Duration::from_millis(ms);
    block_on(sleep_until(until));
}

/// Is stopped in the middle of its polls, in one of several situations.
async fn work(task: u64, log: Log) {
    let _tells = Tells(log.clone(), task);
    for round in 0..4 {
        yield_thread();
        log.note(task, "goes on");
        match (task + round) % 6 {
            0 => yield_now().await,
            1 => block_in_place(|| wait_ms(task)),
            2 => {
                let number = blocking(move || {
                    yield_thread();
                    wait_ms(1);
                    round
                });
                assert_eq!(number.await, round);
            }
            3 => drop(catch_unwind(|| {
                yield_thread();
                resume_unwind(Box::new(task));
            })),
            4 => nested(task),
            _ if task.is_multiple_of(2) => {
                yield_thread();
                resume_unwind(Box::new("a panic of its own"));
            }
            _ => sleep_until(context::now() + Duration::from_millis(round)).await,
        }
    }
}

/// Drives a simulation from within the poll of a task of another.
fn nested(seed: u64) {
    let sim = Sim::new(seed);
    for _ in 0..2 {
        drop(sim.spawn("inner", async {
            yield_thread();
            yield_now().await;
            yield_thread();
        }));
    }
    drop(sim.spawn("unwound", async {
        yield_thread();
        std::future::pending::<()>().await;
    }));
    let ended = sim.block_on(async { block_in_place(|| wait_ms(1)) });
    assert!(ended.is_ok());
}

/// What a run of this seed does.
fn run(seed: u64) -> (RunHash, Vec<String>) {
    let log = Log::default();
    let sim = Sim::new(seed);
    let tasks: Vec<JoinHandle<()>> =
        (0..8).map(|task| sim.spawn("worker", work(task, log.clone()))).collect();
    let ended = sim.block_on(async move {
        for (n, task) in tasks.into_iter().enumerate() {
            match (seed + n as u64) % 5 {
                0 => task.abort(),
                1 => yield_thread(),
                _ => {}
            }
            if n % 3 != 0 {
                drop(task.await);
            }
        }
    });
    assert!(ended.is_ok(), "seed {seed}: {ended:?}");
    // Whoever still stands in the middle of a poll is unwound.
    let hash = sim.hash();
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(sim)));
    assert!(dropped.is_ok(), "seed {seed}");
    (hash, log.0.take())
}

/// The threads of the system that a closure and its run are on.
fn systems_threads() -> (PathBuf, PathBuf) {
    let own = || fs::read_link("/proc/thread-self").expect("Linux says which thread reads it");
    let sim = Sim::new(1);
    let closure = sim.block_on(async move { blocking(own).await });
    (own(), closure.expect("the run ends"))
}

/// Whether this process may write the base of its thread-locals: on x86-64 the system has to have told it.
fn can_share() -> bool {
    if cfg!(target_arch = "aarch64") {
        return true;
    }
    const HWCAP2: u64 = 26;
    const FSGSBASE: u64 = 1 << 1;
    let words = fs::read("/proc/self/auxv").expect("Linux says what it has told");
    let words: Vec<u64> = words
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("chunks of eight")))
        .collect();
    let said = words.chunks_exact(2).find(|pair| pair[0] == HWCAP2);
    cfg!(target_arch = "x86_64") && said.is_some_and(|pair| pair[1] & FSGSBASE != 0)
}

#[test]
fn runs_are_the_same_on_threads_that_share_one_of_the_system_and_apart() {
    let shared: Vec<_> = (0..1_000).map(run).collect();
    for (seed, before) in (0..).zip(&shared) {
        assert_eq!(run(seed), *before, "seed {seed} repeats");
    }
    let (home, closure) = systems_threads();
    assert_eq!(home == closure, can_share());
    keep_threads_apart();
    // The threads that there are stay what they are, and with this lane.
    let _with_its_threads = Sim::new(0);
    for (seed, before) in (0..100).zip(&shared) {
        assert_eq!(run(seed), *before, "seed {seed} does not depend on it");
    }
    let (home, closure) = systems_threads();
    assert_ne!(home, closure);
}
