//! A stand-in for what the expansions call, shared by every test of the attributes.
//!
//! It keeps the `Spec` it is given, so that a test can ask what it was told, and polls a future once,
//! so that nothing here may wait.

use std::cell::RefCell;
use std::fmt::{Debug, Display};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

thread_local! {
    static SPEC: RefCell<Option<Spec>> = const { RefCell::new(None) };
}

/// The spec of the run that is on.
pub(crate) fn spec() -> Spec {
    SPEC.with_borrow(Clone::clone).expect("a spec: the runtime was not called")
}

/// Which test this is, and the calls that were made on it.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) calls: Vec<String>,
}

impl Spec {
    pub(crate) fn new(name: &'static str, file: &'static str, line: u32) -> Self {
        Self { name, file, line, calls: Vec::new() }
    }

    pub(crate) fn seeds(self, seeds: u64) -> Self {
        self.called("seeds", seeds)
    }

    pub(crate) fn seed(self, seed: u64) -> Self {
        self.called("seed", seed)
    }

    pub(crate) fn strategy(self, strategy: &'static str) -> Self {
        self.called("strategy", strategy)
    }

    pub(crate) fn max_steps(self, steps: u64) -> Self {
        self.called("max_steps", steps)
    }

    pub(crate) fn leaks(self, leaks: &'static str) -> Self {
        self.called("leaks", leaks)
    }

    pub(crate) fn preempt(self, preempt: &'static str) -> Self {
        self.called("preempt", preempt)
    }

    pub(crate) fn flavor(self, flavor: &'static str) -> Self {
        self.called("flavor", flavor)
    }

    pub(crate) fn worker_threads(self, threads: usize) -> Self {
        self.called("worker_threads", threads)
    }

    pub(crate) fn start_paused(self, paused: bool) -> Self {
        self.called("start_paused", paused)
    }

    pub(crate) fn unhandled_panic(self, behavior: &'static str) -> Self {
        self.called("unhandled_panic", behavior)
    }

    pub(crate) fn runtime_name(self, name: &'static str) -> Self {
        self.called("runtime_name", name)
    }

    pub(crate) fn crash(self, crash: &'static str) -> Self {
        self.called("crash", crash)
    }

    pub(crate) fn tokio_test(self) -> Self {
        self.called("tokio_test", "")
    }

    fn called(mut self, method: &str, value: impl Display) -> Self {
        self.calls.push(format!("{method}({value})"));
        self
    }
}

/// What a test may return.
pub(crate) trait TestOutput {
    fn check(self);
}

impl TestOutput for () {
    fn check(self) {}
}

impl<E: Debug> TestOutput for Result<(), E> {
    fn check(self) {
        self.expect("the test returned an error");
    }
}

/// What the shim exports for the expansions.
pub(crate) mod __detsim {
    pub(crate) use super::Spec;
    use super::{Future, TestOutput, begin, poll_once};

    pub(crate) fn test<T: TestOutput, F: Future<Output = T>>(spec: Spec, run: impl Fn() -> F) {
        begin(spec);
        poll_once(run()).check();
    }

    pub(crate) fn main<F: Future>(spec: Spec, run: impl FnOnce() -> F) -> F::Output {
        begin(spec);
        poll_once(run())
    }
}

/// What the facade exports for the expansions.
pub(crate) mod __private {
    pub(crate) use super::Spec;
    use super::{Sim, TestOutput, begin};

    pub(crate) fn scenario<T: TestOutput>(spec: Spec, run: impl Fn(&mut Sim) -> T) {
        begin(spec);
        run(&mut Sim::default()).check();
    }

    pub(crate) fn main<T: TestOutput>(spec: Spec, run: impl FnOnce(&mut Sim) -> T) -> T {
        begin(spec);
        run(&mut Sim::default())
    }
}

/// The simulation of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Sim {
    pub(crate) steps: u64,
}

fn begin(spec: Spec) {
    SPEC.set(Some(spec));
}

fn poll_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the stand-in runtime does not wait"),
    }
}
