//! The wait graph: who waits for what, and who has it.
//!
//! Owns: a record for every queued wait, a record for every object that has one. Does not own: when a wait
//! begins and ends ([`super::Block`]), or what is said about it ([`crate::deadlock`]).
//! Invariants: a record is taken until its wait is left; the record of an object stands while one of its
//! waits does; vacant records form a list, the last one left first, so that nothing grows with the number
//! of waits that have ended.

use super::{Object, OpKind, Party, ResourceKind, TaskTag};
use crate::stack::Stack;
use std::panic::Location;

/// The end of a list of vacant records.
const NONE: u32 = u32::MAX;

/// One wait.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) task: TaskTag,
    pub(crate) site: &'static Location<'static>,
    pub(crate) since: u64,
    pub(crate) stack: Option<Stack>,
    /// The record of what is waited for; of a vacant one, the next vacant one.
    pub(crate) object: u32,
    pub(crate) op: OpKind,
    pub(crate) granted: bool,
    /// Another thread has woken the task: it may have ended this wait without a way to say so
    /// here. Cleared when the wait is polled again.
    pub(crate) suspect: bool,
    /// It is over, and its place is kept for the next one: see [`super::Block::rest`].
    pub(crate) rests: bool,
    taken: bool,
}

/// One object that is waited for.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) kind: ResourceKind,
    pub(crate) site: &'static Location<'static>,
    pub(crate) parties: Vec<Party>,
    /// How many wait, and how many places are kept; of a vacant one, the next vacant one.
    waiters: u32,
}

impl Resource {
    /// Whoever has it now. One in place of one, as most are, moves no memory of the vector.
    #[inline]
    fn set_parties(&mut self, parties: &[Party]) {
        match (self.parties.as_mut_slice(), parties) {
            ([known], [party]) => *known = *party,
            _ => self.replace_parties(parties),
        }
    }

    #[inline(never)]
    fn replace_parties(&mut self, parties: &[Party]) {
        self.parties.clear();
        self.parties.extend_from_slice(parties);
    }
}

/// All queued waits of a run.
#[derive(Debug)]
pub(crate) struct WaitGraph {
    waits: Vec<Wait>,
    vacant: u32,
    pub(crate) resources: Vec<Resource>,
    vacant_resource: u32,
}

impl Default for WaitGraph {
    fn default() -> Self {
        Self { waits: Vec::new(), vacant: NONE, resources: Vec::new(), vacant_resource: NONE }
    }
}

impl WaitGraph {
    pub(crate) fn clear(&mut self) {
        self.waits.clear();
        self.resources.clear();
        (self.vacant, self.vacant_resource) = (NONE, NONE);
    }

    /// All waits that are not over, by their places.
    pub(crate) fn waits(&self) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(|wait| wait.taken && !wait.rests)
    }

    /// The wait of a record.
    #[inline]
    pub(crate) fn wait_mut(&mut self, record: u32) -> Option<&mut Wait> {
        self.waits.get_mut(record as usize).filter(|wait| wait.taken)
    }

    /// A task was woken by another thread.
    pub(crate) fn suspect(&mut self, word: u64) {
        let waits = self.waits.iter_mut().filter(|wait| wait.taken && wait.task.word == word);
        waits.for_each(|wait| wait.suspect = true);
    }

    /// The task begins to wait for the object, which `parties` have, or those who had it before: the record.
    #[inline]
    pub(super) fn enter(
        &mut self,
        object: &mut Object,
        parties: Option<&[Party]>,
        (task, op, site, since): (TaskTag, OpKind, &'static Location<'static>, u64),
    ) -> u32 {
        if object.node == 0 {
            object.node = self.resource(object) + 1;
        }
        let node = object.node - 1;
        let resource = &mut self.resources[node as usize];
        resource.waiters += 1;
        if let Some(parties) = parties {
            resource.set_parties(parties);
        }
        let record = self.vacant;
        let Some(wait) = self.waits.get_mut(record as usize) else {
            let (stack, granted, suspect, rests, taken) = (None, false, false, false, true);
            return self.new_record(Wait {
                task,
                site,
                since,
                stack,
                object: node,
                op,
                granted,
                suspect,
                rests,
                taken,
            });
        };
        self.vacant = wait.object;
        (wait.task, wait.site, wait.since) = (task, site, since);
        (wait.object, wait.op) = (node, op);
        (wait.granted, wait.suspect, wait.rests, wait.taken) = (false, false, false, true);
        record
    }

    #[cold]
    #[inline(never)]
    fn new_record(&mut self, wait: Wait) -> u32 {
        self.waits.push(wait);
        self.waits.len() as u32 - 1
    }

    #[inline]
    fn resource(&mut self, object: &Object) -> u32 {
        let Object { kind, site, .. } = *object;
        let index = self.vacant_resource;
        let Some(old) = self.resources.get_mut(index as usize) else {
            self.resources.push(Resource { kind, site, parties: Vec::new(), waiters: 0 });
            return self.resources.len() as u32 - 1;
        };
        self.vacant_resource = old.waiters;
        (old.kind, old.site, old.waiters) = (kind, site, 0);
        index
    }

    /// A wait for the object is over.
    #[inline]
    pub(super) fn leave(&mut self, object: &mut Object, record: u32) {
        let Some(wait) = self.waits.get_mut(record as usize).filter(|wait| wait.taken) else {
            return;
        };
        wait.taken = false;
        wait.object = self.vacant;
        if wait.stack.is_some() {
            wait.stack = None;
        }
        self.vacant = record;
        let Some(resource) = self.resources.get_mut((object.node as usize).wrapping_sub(1)) else {
            return;
        };
        resource.waiters -= 1;
        if resource.waiters == 0 {
            resource.waiters = self.vacant_resource;
            self.vacant_resource = object.node - 1;
            object.node = 0;
        }
    }

    /// Whoever has the object has changed.
    #[inline]
    pub(super) fn set_parties(&mut self, object: &Object, parties: &[Party]) {
        if let Some(resource) = self.resources.get_mut((object.node as usize).wrapping_sub(1)) {
            resource.set_parties(parties);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_used_again_once_it_is_left() {
        let mut graph = WaitGraph::default();
        let mut object = Object::new(ResourceKind::Mutex, Location::caller());
        let wait = (TaskTag::NOBODY, OpKind::Lock, Location::caller(), 3);
        let enter =
            |graph: &mut WaitGraph, object: &mut Object| graph.enter(object, Some(&[]), wait);
        let (first, second) = (enter(&mut graph, &mut object), enter(&mut graph, &mut object));
        assert_eq!((first, second, graph.waits().count()), (0, 1, 2));
        graph.leave(&mut object, first);
        graph.leave(&mut object, first); // it is gone: nothing happens
        assert_eq!((graph.waits().count(), object.node), (1, 1));
        graph.leave(&mut object, second);
        assert_eq!((graph.waits().count(), object.node), (0, 0));
        assert_eq!((enter(&mut graph, &mut object), enter(&mut graph, &mut object)), (1, 0));
        assert_eq!((graph.resources.len(), object.node), (1, 1));
        assert!(graph.wait_mut(2).is_none());
    }
}
