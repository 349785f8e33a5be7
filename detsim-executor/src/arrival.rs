//! Tasks that threads which are not part of a run spawn in it.
//!
//! Owns: [`spawn_from_elsewhere`], and what becomes of such a task when the run looks at its gate. Does not
//! own: the gate (`lane.rs`). When it arrives is up to the system's threads: no such run is replayed, and
//! it says so as of any other use from elsewhere.

use crate::baton::visit::Visitor;
use crate::bound::kernel;
use crate::event::NodeId;
use crate::group::GroupId;
use crate::join::{Belongs, JoinHandle};
use crate::lane::Lane;
use crate::run;
use crate::slot::{self, Sent};
use std::any::type_name;
use std::future::Future;
use std::panic::Location;

/// A task at the gate of its run.
#[derive(Debug)]
pub(crate) struct Arrival {
    task: Sent,
    type_name: &'static str,
    site: &'static Location<'static>,
    group: GroupId,
    free: bool,
    /// It is a thread that visits the run.
    visits: bool,
}

/// Whether the run of this id, of whatever thread, has not ended.
pub fn lives_elsewhere(run: u64) -> bool {
    Lane::lives(run)
}

/// Spawns a task in a run that this thread is not part of, into a group of it; `free` as a closure with a
/// thread of its own is. It arrives when the run looks for it, and is cancelled where that has ended. The
/// number of the handle is one that no task of the run has.
#[track_caller]
pub fn spawn_from_elsewhere<F>(
    run: u64,
    group: GroupId,
    free: bool,
    future: F,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let site = Location::caller();
    let (task, handle) = slot::sent(run, future, site);
    let type_name = type_name::<F>();
    let arrival = Arrival { task, type_name, site, group, free, visits: false };
    let number = Lane::send(run, arrival).unwrap_or_else(|arrival| {
        arrival.lose();
        0
    });
    JoinHandle::of(handle, u32::MAX - number)
}

impl Arrival {
    /// The task of a thread that visits a run.
    pub(crate) fn of_visitor(run: u64, visitor: Visitor, site: &'static Location<'static>) -> Self {
        let (task, handle) = slot::sent(run, visitor, site);
        drop(JoinHandle::of(handle, u32::MAX));
        let type_name = type_name::<Visitor>();
        Self { task, type_name, site, group: GroupId::ROOT, free: false, visits: true }
    }

    /// It becomes a task. For the run loop, between two polls.
    pub(crate) fn arrive(self) {
        let Self { task, type_name, site, group, free, visits } = self;
        let (node, group) = (Some(NodeId::NONE), Some(group));
        let name = if visits { "a visiting thread" } else { "" };
        let belongs = Belongs { name, node, group, free, ..Belongs::default() };
        let mut kernel = kernel::enter().expect("invariant: the run loop is inside its simulation");
        kernel.clear_current();
        let (slot, lives) = kernel.enroll(type_name, &belongs, site);
        let word = kernel.tasks.word(slot);
        if visits {
            kernel.threads.visitors.push(word);
        }
        let (body, aborted) = task.arrive(word);
        kernel.tasks.embody(slot, body);
        if aborted {
            kernel.abort(word);
        }
        drop(kernel);
        if !lives {
            run::drop_task(slot);
        }
    }

    /// The run has ended before it came.
    pub(crate) fn lose(self) {
        self.task.lose();
    }
}
