//! Who has how many permits, since where.
//!
//! Owns: [`Holders`], exact at every moment. Does not own: the permits. Invariants: a [`Key`] finds its
//! party until it is given back; parties stand side by side, as the wait graph takes them, but for the
//! first place, which is inline, since a mutex never has more than one holder. Once there were two at a
//! time, the first place is used no more.

use detsim_executor::{Party, Role, TaskTag};
use std::panic::Location;

/// The holders of one primitive.
#[derive(Debug)]
pub(crate) struct Holders {
    /// Nobody, where it has no permits.
    first: Party,
    others: Vec<Party>,
    /// Which key each of the others has.
    keys: Vec<u32>,
    /// Where the party of each key stands among the others; of a vacant key, the next vacant one.
    places: Vec<u32>,
    vacant: u32,
    /// All parties, while there is one in the first place and others as well.
    listed: Vec<Party>,
}

/// Names a party. Belongs to whoever holds the permits.
#[derive(Debug)]
pub(crate) struct Key(u32);

impl Key {
    /// Of nobody: of zero permits, which nobody waits for.
    pub(crate) const NOBODY: Self = Self(u32::MAX);
    const FIRST: u32 = 0;
}

impl Holders {
    pub(crate) const fn new(site: &'static Location<'static>) -> Self {
        let first = Party { task: TaskTag::NOBODY, role: Role::Holds, site, count: 0 };
        Self {
            first,
            others: Vec::new(),
            keys: Vec::new(),
            places: Vec::new(),
            vacant: Key::NOBODY.0,
            listed: Vec::new(),
        }
    }

    /// One more holder.
    #[inline]
    pub(crate) fn add(&mut self, party: Party) -> Key {
        if self.first.count != 0 || party.count == 0 || !self.places.is_empty() {
            return self.add_other(party);
        }
        self.first = party;
        Key(Key::FIRST)
    }

    #[inline]
    fn add_other(&mut self, party: Party) -> Key {
        if party.count == 0 {
            return Key::NOBODY;
        }
        let place = self.others.len() as u32;
        self.others.push(party);
        let mut key = self.vacant;
        match self.places.get_mut(key as usize) {
            Some(known) => self.vacant = std::mem::replace(known, place),
            None => key = self.new_key(place),
        }
        self.keys.push(key);
        Key(key + 1)
    }

    #[cold]
    #[inline(never)]
    fn new_key(&mut self, place: u32) -> u32 {
        self.places.push(place);
        self.places.len() as u32 - 1
    }

    /// One holder less.
    #[inline]
    pub(crate) fn remove(&mut self, key: Key) {
        match key.0 {
            Key::FIRST => self.first.count = 0,
            key => self.remove_other(key - 1),
        }
    }

    #[inline]
    fn remove_other(&mut self, key: u32) {
        let Some(known) = self.places.get_mut(key as usize) else { return };
        let place = std::mem::replace(known, self.vacant) as usize;
        self.vacant = key;
        self.others.swap_remove(place);
        self.keys.swap_remove(place);
        if let Some(moved) = self.keys.get(place) {
            self.places[*moved as usize] = place as u32;
        }
    }

    /// What a holder has.
    pub(crate) fn party_mut(&mut self, key: &Key) -> Option<&mut Party> {
        match key.0 {
            Key::FIRST => Some(&mut self.first),
            key => self.others.get_mut(*self.places.get(key as usize - 1)? as usize),
        }
    }

    /// All of them.
    #[inline]
    pub(crate) fn parties(&mut self) -> &[Party] {
        match (self.first.count, self.others.is_empty()) {
            (0, _) => &self.others,
            (_, true) => std::slice::from_ref(&self.first),
            (_, false) => self.all(),
        }
    }

    #[cold]
    fn all(&mut self) -> &[Party] {
        self.listed.clear();
        self.listed.push(self.first);
        self.listed.extend_from_slice(&self.others);
        &self.listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::Stream;

    fn party(count: u32) -> Party {
        Party { task: TaskTag::NOBODY, role: Role::Holds, site: Location::caller(), count }
    }

    #[test]
    fn a_key_finds_its_party_wherever_it_is() {
        let (mut holders, mut keys) = (Holders::new(Location::caller()), Vec::new());
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
        let mut holders = Holders::new(Location::caller());
        let key = holders.add(party(0));
        assert!(holders.parties().is_empty() && holders.party_mut(&key).is_none());
        holders.remove(key);
    }
}
