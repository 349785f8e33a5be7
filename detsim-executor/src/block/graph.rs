//! The wait graph: who waits for what, and who has it.
//!
//! Owns: a record for every queued wait, a record for every object that has one. Does not own: when a wait
//! begins and ends ([`super::Block`]), or what is said about it ([`crate::deadlock`]).
//! Invariants: a record is taken until its wait is left; the record of an object stands while one of its
//! waits does, which the object counts; vacant records form a list, the last one left first, so that nothing
//! grows with the number of waits that have ended. Who waits is known by the word alone: the rest is looked
//! up where it is told.

use super::{Object, OpKind, Party, ResourceKind};
use crate::stack::Stack;
use std::panic::Location;

/// The end of a list of vacant records.
const NONE: u32 = u32::MAX;

/// One wait.
#[derive(Debug)]
pub(crate) struct Wait {
    /// The word of the task.
    pub(crate) task: u64,
    pub(crate) site: &'static Location<'static>,
    /// The step.
    pub(crate) since: u64,
    /// In a run that keeps stacks; of a vacant one, what the wait before has left.
    pub(crate) stack: Option<Stack>,
    /// The record of what is waited for; of a vacant one, the next vacant one.
    pub(crate) object: u32,
    pub(crate) op: OpKind,
    pub(crate) stage: Stage,
    /// Another thread has woken the task: it may have ended this wait without a way to say so
    /// here. Cleared when the wait is polled again.
    pub(crate) suspect: bool,
}

/// How far a wait has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    /// There is none.
    Vacant,
    Waits,
    /// The task was given what it waits for, and has not been polled since.
    Granted,
    /// It is over, and its place is kept for the next one: see [`super::Block::rest`].
    Rests,
}

/// One object that is waited for.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) kind: ResourceKind,
    pub(crate) site: &'static Location<'static>,
    pub(crate) parties: Vec<Party>,
    /// Of a vacant one, the next vacant one.
    next: u32,
}

impl Resource {
    /// The only one, if anybody, who has it now.
    #[inline(always)]
    pub(super) fn set_party(&mut self, party: Option<Party>) {
        match (self.parties.as_mut_slice(), party) {
            ([known], Some(party)) => *known = party,
            (_, party) => self.replace_parties(party.as_slice()),
        }
    }

    /// Whoever has it now. One in place of one, as most are, moves no memory of the vector.
    #[inline]
    pub(super) fn set_parties(&mut self, parties: &[Party]) {
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
        self.waits.iter().filter(|wait| matches!(wait.stage, Stage::Waits | Stage::Granted))
    }

    /// The wait of a record.
    #[inline]
    pub(crate) fn wait_mut(&mut self, record: u32) -> Option<&mut Wait> {
        self.waits.get_mut(record as usize).filter(|wait| wait.stage != Stage::Vacant)
    }

    /// A task was woken by another thread.
    pub(crate) fn suspect(&mut self, word: u64) {
        self.waits.iter_mut().filter(|wait| wait.task == word).for_each(|wait| wait.suspect = true);
    }

    /// The task begins to wait for the object: the record. `tell` says who has that.
    #[inline(always)]
    pub(super) fn enter(
        &mut self,
        object: &mut Object,
        tell: impl FnOnce(&mut Resource),
        (task, op, site, since): (u64, OpKind, &'static Location<'static>, u64),
    ) -> u32 {
        object.waiters += 1;
        if object.waiters == 1 {
            self.enter_object(object);
        }
        if let Some(resource) = self.resources.get_mut(object.node as usize) {
            tell(resource);
        }
        let record = self.vacant;
        let (object, stage, suspect) = (object.node, Stage::Waits, false);
        let Some(wait) = self.waits.get_mut(record as usize) else {
            return self.new_record(Wait {
                task,
                site,
                since,
                stack: None,
                object,
                op,
                stage,
                suspect,
            });
        };
        self.vacant = wait.object;
        (wait.task, wait.site, wait.since) = (task, site, since);
        (wait.object, wait.op, wait.stage, wait.suspect) = (object, op, stage, suspect);
        record
    }

    #[cold]
    #[inline(never)]
    fn new_record(&mut self, wait: Wait) -> u32 {
        self.waits.push(wait);
        self.waits.len() as u32 - 1
    }

    /// Somebody waits for the object, the first.
    #[inline(never)]
    fn enter_object(&mut self, object: &mut Object) {
        let Object { kind, site, .. } = *object;
        object.node = self.vacant_resource;
        let Some(old) = self.resources.get_mut(object.node as usize) else {
            object.node = self.resources.len() as u32;
            return self.resources.push(Resource { kind, site, parties: Vec::new(), next: NONE });
        };
        self.vacant_resource = old.next;
        (old.kind, old.site) = (kind, site);
    }

    /// A wait for the object is over. Calls nothing: whoever calls this keeps all in its registers.
    #[inline(always)]
    pub(super) fn leave(&mut self, object: &mut Object, record: u32) {
        let vacant = self.vacant;
        let Some(wait) = self.wait_mut(record) else { return };
        (wait.stage, wait.object) = (Stage::Vacant, vacant);
        self.vacant = record;
        object.waiters = object.waiters.saturating_sub(1);
        if object.waiters == 0
            && let Some(resource) = self.resources.get_mut(object.node as usize)
        {
            resource.next = self.vacant_resource;
            self.vacant_resource = object.node;
        }
    }

    /// Whoever has the object has changed.
    #[inline]
    pub(super) fn set_parties(&mut self, object: &Object, parties: &[Party]) {
        if let Some(resource) = self.resources.get_mut(object.node as usize) {
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
        let wait = (0, OpKind::Lock, Location::caller(), 3);
        let enter = |graph: &mut WaitGraph, object: &mut Object| graph.enter(object, |_| (), wait);
        let (first, second) = (enter(&mut graph, &mut object), enter(&mut graph, &mut object));
        assert_eq!((first, second, graph.waits().count()), (0, 1, 2));
        graph.leave(&mut object, first);
        graph.leave(&mut object, first); // it is gone: nothing happens
        assert_eq!((graph.waits().count(), object.waiters), (1, 1));
        graph.leave(&mut object, second);
        assert_eq!((graph.waits().count(), object.waiters), (0, 0));
        assert_eq!((enter(&mut graph, &mut object), enter(&mut graph, &mut object)), (1, 0));
        assert_eq!((graph.resources.len(), object.waiters), (1, 2));
        assert!(graph.wait_mut(2).is_none());
    }
}
