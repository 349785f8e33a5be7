//! The name of a task.

use detsim_executor::{TaskNumber, group};
use std::fmt;

/// Names a task of a simulation, as its reports do.
#[derive(Clone, Copy, Debug, Hash, Eq, PartialEq, Ord, PartialOrd)]
pub struct Id(u32);

impl Id {
    pub(crate) fn new(number: TaskNumber) -> Self {
        Self(number.0)
    }
}

/// The task that runs.
///
/// # Panics
/// Outside of a task, in what somebody blocks on for one, in tokio's words.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{runtime::Runtime, task};
/// let runtime = Runtime::new().unwrap();
/// runtime.block_on(async {
///     let task = task::spawn(async { task::id() });
///     let id = task.id();
///     assert_eq!(task.await.unwrap(), id);
///     assert_eq!(task::try_id(), None);
/// });
/// ```
#[track_caller]
pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

/// The task that runs, where one does.
pub fn try_id() -> Option<Id> {
    group::current_task().map(Id::new)
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
