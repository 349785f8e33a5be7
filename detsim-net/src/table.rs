//! Numbered places for things, each with a generation.
//!
//! Owns: [`Table`] and [`Key`]. Invariants: a key finds the thing it was given for, or nothing; it
//! never finds another that took its place; nothing grows with the number of things taken out.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;

/// Things by their keys.
#[derive(Debug)]
pub(crate) struct Table<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    thing: Option<T>,
}

/// Names a thing of a [`Table`]: generation and place in one word, so that it is stored and read as one.
pub(crate) struct Key<T> {
    word: u64,
    of: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    #[inline(always)]
    fn new(index: u32, generation: u32) -> Self {
        Self { word: u64::from(generation) << 32 | u64::from(index), of: PhantomData }
    }

    #[inline(always)]
    fn index(self) -> usize {
        self.word as u32 as usize
    }

    #[inline(always)]
    fn generation(self) -> u32 {
        (self.word >> 32) as u32
    }
}

impl<T> Table<T> {
    /// Puts a thing in.
    pub(crate) fn insert(&mut self, thing: T) -> Key<T> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, thing: None });
            self.places.len() as u32 - 1
        });
        let place = &mut self.places[index as usize];
        place.thing = Some(thing);
        Key::new(index, place.generation)
    }

    /// Takes a thing out.
    pub(crate) fn remove(&mut self, key: Key<T>) -> Option<T> {
        let place = self.places.get_mut(key.index())?;
        let thing = place.thing.take_if(|_| place.generation == key.generation())?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(key.index() as u32);
        Some(thing)
    }

    /// The thing of a key.
    #[inline]
    pub(crate) fn get(&self, key: Key<T>) -> Option<&T> {
        let place = self.places.get(key.index())?;
        place.thing.as_ref().filter(|_| place.generation == key.generation())
    }

    /// The thing of a key.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: Key<T>) -> Option<&mut T> {
        let place = self.places.get_mut(key.index())?;
        let fits = place.generation == key.generation();
        place.thing.as_mut().filter(|_| fits)
    }

    /// All things, by their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key<T>, &T)> {
        self.places.iter().zip(0..).filter_map(|(place, index)| {
            let key = Key::new(index, place.generation);
            place.thing.as_ref().map(|thing| (key, thing))
        })
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> PartialEq for Key<T> {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl<T> Eq for Key<T> {}

/// As a table goes through its things: by place, then by generation.
impl<T> Ord for Key<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.word.rotate_left(32).cmp(&other.word.rotate_left(32))
    }
}

impl<T> PartialOrd for Key<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index(), self.generation())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_the_past_finds_nothing() {
        let mut table = Table::default();
        let old = table.insert('a');
        assert_eq!(table.get(old), Some(&'a'));
        assert_eq!((table.remove(old), table.remove(old)), (Some('a'), None));
        let new = table.insert('b');
        assert_eq!(table.get_mut(new), Some(&mut 'b'));
        assert_eq!(table.get(old), None);
        assert_eq!((old == new, table.iter().count()), (false, 1));
    }
}
