//! Keeps events, when it is on.
//!
//! Owns: the trace while it grows, and the maps that give each thing its number in the tables.
//! Does not own: when something happens. Invariants: numbers go up in the order of first use, so
//! that equal runs fill equal tables; an address is only ever the key of a cache; a run without end
//! does not fill the memory: what would outgrow [`MOMENTS_MAX`] is dropped as a whole, since half a
//! trace would be taken for a run.

use super::{Chosen, DOMAIN_PICK, DOMAIN_STOP, ObjectInfo, TaskInfo, Trace};
use crate::SimTime;
use crate::block::Object;
use crate::choice::{self, Choice, Choices};
use crate::event::{ChoiceId, Event, Moment, NodeId, ObjectId, SetId, TextId};
use crate::site;
use std::collections::BTreeMap;
use std::panic::Location;

/// Events that are kept at most: 256 MiB of them, and more than any record of a failure has room for.
const MOMENTS_MAX: usize = if cfg!(test) { 1 << 16 } else { 8 << 20 };

#[derive(Debug, Default)]
pub(crate) struct Recorder {
    on: bool,
    trace: Trace,
    texts: BTreeMap<Box<str>, TextId>,
    /// By the address of a place.
    sites: BTreeMap<usize, TextId>,
    /// By their signatures.
    objects: BTreeMap<u64, ObjectId>,
    sets: BTreeMap<Box<[NodeId]>, SetId>,
    /// By the hashes of their names.
    domains: BTreeMap<u64, TextId>,
}

impl Recorder {
    pub(crate) fn reset(&mut self, on: bool) {
        // A sweep records nothing, and pays nothing here.
        if self.on {
            *self = Self::default();
        }
        self.on = on;
        if on {
            self.text("");
        }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    pub(crate) fn push(&mut self, at: SimTime, step: u64, event: Event) {
        if self.trace.moments.len() == MOMENTS_MAX {
            *self = Self::default();
        }
        if !self.on {
            return;
        }
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        self.trace.moments.push(Moment { at, step, event });
    }

    /// The number of a text.
    pub(crate) fn text(&mut self, text: &str) -> TextId {
        if let Some(id) = self.texts.get(text) {
            return *id;
        }
        let texts = &mut self.trace.tables.texts;
        let id = TextId(texts.len() as u32);
        texts.push(text.to_owned());
        self.texts.insert(text.into(), id);
        id
    }

    /// The number of a place, as the text `file:line`.
    pub(crate) fn site(&mut self, site: &'static Location<'static>) -> TextId {
        let address = std::ptr::from_ref(site) as usize;
        if let Some(id) = self.sites.get(&address) {
            return *id;
        }
        let id = self.text(&site::shown(site));
        self.sites.insert(address, id);
        id
    }

    /// The number of an object, which is bound to this run.
    pub(crate) fn object(&mut self, object: &Object) -> ObjectId {
        let sig = object.sig();
        if let Some(id) = self.objects.get(&sig) {
            return *id;
        }
        let site = self.site(object.site());
        let objects = &mut self.trace.tables.objects;
        let id = ObjectId(objects.len() as u32);
        objects.push(ObjectInfo { kind: object.kind(), site, sig });
        self.objects.insert(sig, id);
        id
    }

    /// The number of a set of nodes.
    pub(crate) fn set(&mut self, nodes: &[NodeId]) -> SetId {
        if let Some(id) = self.sets.get(nodes) {
            return *id;
        }
        let sets = &mut self.trace.tables.sets;
        let id = SetId(sets.len() as u32);
        sets.push(nodes.to_vec());
        self.sets.insert(nodes.into(), id);
        id
    }

    /// The next task; every spawn of a recorded run comes here, in the order of their numbers.
    pub(crate) fn task(
        &mut self,
        name: &str,
        site: &'static Location<'static>,
        node: NodeId,
        sig: u64,
    ) {
        let (name, site) = (self.text(name), self.site(site));
        self.trace.tables.tasks.push(TaskInfo { name, site, node, sig });
    }

    /// How many choices it has kept.
    #[inline]
    pub(crate) fn choices(&self) -> usize {
        self.trace.tables.choices.len()
    }

    /// Keeps a choice.
    pub(crate) fn choose(&mut self, choice: Choice, choices: &Choices) -> ChoiceId {
        let domain = self.domain(choice.domain, choices);
        let choices = &mut self.trace.tables.choices;
        choices.push(Chosen { choice, domain });
        ChoiceId(choices.len() as u32 - 1)
    }

    fn domain(&mut self, hash: u64, choices: &Choices) -> TextId {
        if let Some(id) = self.domains.get(&hash) {
            return *id;
        }
        let id = match hash {
            choice::SCHED => self.text(DOMAIN_PICK),
            choice::STOPS => self.text(DOMAIN_STOP),
            _ => {
                let named = choices.domain_names().find(|(known, _)| *known == hash);
                self.text(named.map_or("?", |(_, name)| name))
            }
        };
        self.domains.insert(hash, id);
        id
    }

    /// The trace so far; its table of nodes is the caller's to fill.
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Fills the table of nodes.
    pub(crate) fn set_nodes<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let nodes = names.map(|name| self.text(name)).collect();
        self.trace.tables.nodes = nodes;
    }
}
