//! Who has how many permits, since where.
//!
//! Owns: [`Holders`], exact at every moment. Does not own: the permits. Invariants: the parties lie
//! side by side, as the wait graph takes them; a [`Key`] finds its party wherever it has moved to.

use detsim_executor::Party;

/// The holders of one primitive.
#[derive(Debug)]
pub(crate) struct Holders {
    parties: Vec<Party>,
    /// The key of each party.
    keys: Vec<u32>,
    /// The place of each key's party; of an unused key, the next unused one.
    places: Vec<u32>,
    unused: u32,
}

/// Names a party. Belongs to whoever holds the permits.
#[derive(Debug)]
pub(crate) struct Key(u32);

const NONE: u32 = u32::MAX;

impl Key {
    /// Of nobody: of zero permits, which nobody waits for.
    pub(crate) const NOBODY: Self = Self(NONE);
}

impl Holders {
    pub(crate) const fn new() -> Self {
        Self { parties: Vec::new(), keys: Vec::new(), places: Vec::new(), unused: NONE }
    }

    /// One more holder.
    #[inline]
    pub(crate) fn add(&mut self, party: Party) -> Key {
        if party.count == 0 {
            return Key::NOBODY;
        }
        let place = self.parties.len() as u32;
        let key = match self.unused {
            NONE => {
                self.places.push(place);
                self.places.len() as u32 - 1
            }
            key => {
                self.unused = std::mem::replace(&mut self.places[key as usize], place);
                key
            }
        };
        self.parties.push(party);
        self.keys.push(key);
        Key(key)
    }

    /// One holder less.
    #[inline]
    pub(crate) fn remove(&mut self, key: Key) {
        let Some(place) = self.places.get(key.0 as usize).copied() else { return };
        self.parties.swap_remove(place as usize);
        self.keys.swap_remove(place as usize);
        if let Some(moved) = self.keys.get(place as usize) {
            self.places[*moved as usize] = place;
        }
        self.places[key.0 as usize] = self.unused;
        self.unused = key.0;
    }

    /// What a holder has.
    pub(crate) fn party_mut(&mut self, key: &Key) -> Option<&mut Party> {
        let place = *self.places.get(key.0 as usize)?;
        self.parties.get_mut(place as usize)
    }

    /// All of them.
    #[inline]
    pub(crate) fn parties(&self) -> &[Party] {
        &self.parties
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::{Role, Stream, TaskTag};
    use std::panic::Location;

    fn party(count: u32) -> Party {
        Party { task: TaskTag::NOBODY, role: Role::Holds, site: Location::caller(), count }
    }

    #[test]
    fn a_key_finds_its_party_wherever_it_is() {
        let (mut holders, mut keys) = (Holders::new(), Vec::new());
        let mut stream = Stream::new(3);
        for count in 1..5_000 {
            if stream.below(2) == 0 || keys.is_empty() {
                keys.push((count, holders.add(party(count))));
            } else {
                let at = stream.below(keys.len() as u64) as usize;
                holders.remove(keys.swap_remove(at).1);
            }
            let found = keys.iter().map(|(_, key)| holders.party_mut(key).map(|p| p.count));
            let found: Vec<Option<u32>> = found.collect();
            let wanted: Vec<Option<u32>> = keys.iter().map(|(count, _)| Some(*count)).collect();
            assert_eq!(found, wanted);
            assert_eq!(holders.parties().len(), keys.len());
        }
    }

    #[test]
    fn nobody_holds_nothing() {
        let mut holders = Holders::new();
        let key = holders.add(party(0));
        assert!(holders.parties().is_empty() && holders.party_mut(&key).is_none());
        holders.remove(key);
    }
}
