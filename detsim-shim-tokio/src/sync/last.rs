//! Who used something last, from where.

use detsim_executor::{Kernel, Party, Role, TaskTag};
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

    /// Whether it was the task that runs, at this place.
    #[inline]
    pub(crate) fn is_by(&self, kernel: Option<&Kernel>, site: &'static Location<'static>) -> bool {
        let is_here = self.site.is_some_and(|last| std::ptr::eq(last, site));
        let is_me = |kernel: &Kernel| kernel.is_current(self.task);
        is_here && kernel.map_or(self.task.is_nobody(), is_me)
    }

    /// Notes the task that runs.
    #[inline]
    pub(crate) fn note(&mut self, kernel: Option<&Kernel>, site: &'static Location<'static>) {
        if !self.is_by(kernel, site) {
            *self = Self::new(kernel.map_or(TaskTag::NOBODY, Kernel::current_tag), site);
        }
    }

    /// Whoever it was, for the wait graph.
    pub(crate) fn party(self, role: Role) -> Option<Party> {
        self.site.map(|site| Party { task: self.task, role, site, count: 1 })
    }
}
