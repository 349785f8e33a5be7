//! Who used something last, from where.

use detsim_executor::{Party, Role, TaskTag};
use std::panic::Location;

/// The last use of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    task: TaskTag,
    /// `None` while there was none.
    site: Option<&'static Location<'static>>,
}

impl Last {
    pub(crate) const NOBODY: Self = Self { task: TaskTag::NOBODY, site: None };

    #[inline]
    pub(crate) fn new(task: TaskTag, site: &'static Location<'static>) -> Self {
        Self { task, site: Some(site) }
    }

    /// Whoever it was, for the wait graph.
    pub(crate) fn party(self, role: Role) -> Option<Party> {
        self.site.map(|site| Party { task: self.task, role, site, count: 1 })
    }
}
