//! Who has how many permits, since where.
//!
//! Owns: [`Holders`], exact at every moment. Does not own: the permits. Invariants: a [`Key`] finds its
//! party until it is given back; a party of no permits is a vacant place. The first place is inline,
//! since a mutex never has more than one holder.

use detsim_executor::{Party, Role, TaskTag};
use std::panic::Location;

/// The holders of one primitive.
#[derive(Debug)]
pub(crate) struct Holders {
    first: Party,
    others: Vec<Party>,
    vacant: Vec<u32>,
    /// All parties side by side, as the wait graph takes them: made when it asks.
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
        Self { first, others: Vec::new(), vacant: Vec::new(), listed: Vec::new() }
    }

    /// One more holder.
    #[inline]
    pub(crate) fn add(&mut self, party: Party) -> Key {
        if self.first.count != 0 || party.count == 0 {
            return self.add_other(party);
        }
        self.first = party;
        Key(Key::FIRST)
    }

    #[inline(never)]
    fn add_other(&mut self, party: Party) -> Key {
        if party.count == 0 {
            return Key::NOBODY;
        }
        match self.vacant.pop() {
            Some(place) => {
                self.others[place as usize] = party;
                Key(place + 1)
            }
            None => {
                self.others.push(party);
                Key(self.others.len() as u32)
            }
        }
    }

    /// One holder less.
    #[inline]
    pub(crate) fn remove(&mut self, key: Key) {
        if key.0 == Key::FIRST {
            self.first.count = 0;
        } else if let Some(party) = self.others.get_mut(key.0 as usize - 1) {
            party.count = 0;
            self.vacant.push(key.0 - 1);
        }
    }

    /// What a holder has.
    pub(crate) fn party_mut(&mut self, key: &Key) -> Option<&mut Party> {
        match key.0 {
            Key::FIRST => Some(&mut self.first),
            place => self.others.get_mut(place as usize - 1),
        }
    }

    /// All of them.
    pub(crate) fn parties(&mut self) -> &[Party] {
        if self.others.len() == self.vacant.len() {
            let first = std::slice::from_ref(&self.first);
            return &first[..usize::from(self.first.count > 0)];
        }
        let all = std::iter::once(&self.first).chain(&self.others);
        self.listed.clear();
        self.listed.extend(all.filter(|party| party.count > 0));
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
