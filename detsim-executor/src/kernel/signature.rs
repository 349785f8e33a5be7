//! What tasks, objects and places are called by for good.
//!
//! Owns: signatures: who made a thing, at which place of the source, and the how manieth it was there. Does
//! not own: the ordinals (`task.rs`), or the hashes of places ([`crate::site`]). Invariant: equal runs give
//! equal signatures, whatever the order of their steps was, in every build and process.

use super::Kernel;
use crate::block::ResourceKind;
use crate::rng::{fold, hash_bytes};
use crate::task::Spawn;
use std::panic::Location;

impl Kernel {
    /// The signature of a task to be spawned by whoever runs now.
    #[inline(always)]
    pub(crate) fn task_signature(&mut self, spawn: &Spawn) -> u64 {
        let mut place = self.sites.spawn(spawn.site, spawn.type_name);
        // Blocks of one function share their type's name; a name of its own tells a task apart.
        if spawn.name != 0 {
            let name = self.names.text(spawn.name).unwrap_or_default();
            place = fold(place, hash_bytes(name.as_bytes()));
        }
        self.child_signature(place)
    }

    /// The signature of an object created by whoever runs now.
    pub(crate) fn object_signature(
        &mut self,
        site: &'static Location<'static>,
        kind: ResourceKind,
    ) -> u64 {
        let place = fold(self.sites.file(site), kind as u64 + 0x0B1E);
        self.child_signature(place)
    }

    #[inline(always)]
    fn child_signature(&mut self, place: u64) -> u64 {
        match self.tasks.get(self.current).map(|slot| slot.sig) {
            Some(parent) => {
                let ordinal = self.tasks.ordinal(self.current, place);
                fold(fold(parent, place), u64::from(ordinal))
            }
            None => fold(place, u64::from(self.root_ordinals.next(place))),
        }
    }

    pub(crate) fn site_hash(&mut self, site: &'static Location<'static>) -> u64 {
        self.sites.site(site)
    }
}
