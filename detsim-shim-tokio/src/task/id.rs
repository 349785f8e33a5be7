//! The name of a task.

use detsim_executor::TaskNumber;
use std::fmt;

/// Names a task of a simulation, as its reports do.
#[derive(Clone, Copy, Debug, Hash, Eq, PartialEq, Ord, PartialOrd)]
pub struct Id(u32);

impl Id {
    pub(crate) fn new(number: TaskNumber) -> Self {
        Self(number.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
