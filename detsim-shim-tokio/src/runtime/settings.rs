//! What a runtime was built with.
//!
//! Owns: the plain data that a builder collects and a runtime keeps. Does not own: what is done with it.

use super::hooks::Hooks;
use detsim::__private::Spec;
use std::fmt;

/// How a runtime runs its tasks, as tokio names it.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// While somebody blocks on it, letting others run where a task waits.
    CurrentThread,
    /// All the time, letting others run before every operation.
    MultiThread,
}

/// The kinds of runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    CurrentThread,
    /// As `CurrentThread`, for tasks that stay on one thread too.
    Local,
    MultiThread,
}

impl Kind {
    pub(crate) fn flavor(self) -> RuntimeFlavor {
        match self {
            Self::CurrentThread | Self::Local => RuntimeFlavor::CurrentThread,
            Self::MultiThread => RuntimeFlavor::MultiThread,
        }
    }
}

/// Workers of a `multi_thread` runtime that names no number. Not the processors of the machine: a run
/// is to be the same on another one.
const WORKERS: usize = 4;

/// All that a runtime was built with.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) kind: Kind,
    pub(crate) name: Option<String>,
    pub(crate) workers: Option<usize>,
    /// The closures that may block at a time, where the program says how many.
    pub(crate) blocking_max: Option<usize>,
    pub(crate) hooks: Hooks,
    pub(crate) io: bool,
    pub(crate) time: bool,
    pub(crate) start_paused: bool,
    /// Whether its clock can be paused.
    pub(crate) pausable: bool,
}

impl Settings {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            name: None,
            workers: None,
            blocking_max: None,
            hooks: Hooks::default(),
            io: false,
            time: false,
            start_paused: false,
            pausable: kind != Kind::MultiThread,
        }
    }

    /// What the attribute of a test or a program says; `usual` is the kind of one that names none.
    pub(crate) fn of(spec: &Spec, usual: Kind) -> Self {
        let kind = match spec.runtime_flavor() {
            Some("multi_thread") => Kind::MultiThread,
            Some("local") => Kind::Local,
            Some(_) => Kind::CurrentThread,
            None => usual,
        };
        Self {
            name: spec.named_runtime().map(str::to_owned),
            workers: spec.runtime_threads(),
            start_paused: spec.starts_paused(),
            ..Self::everything(kind)
        }
    }

    /// With io and time.
    pub(crate) fn everything(kind: Kind) -> Self {
        Self { io: true, time: true, ..Self::new(kind) }
    }

    /// The workers that the runtime says it has.
    pub(crate) fn workers(&self) -> usize {
        match self.kind {
            Kind::MultiThread => self.workers.unwrap_or(WORKERS),
            Kind::CurrentThread | Kind::Local => 1,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("kind", &self.kind)
            .field("name", &self.name)
            .field("workers", &self.workers())
            .finish_non_exhaustive()
    }
}
