//! Numbered places for things, reused.
//!
//! Owns: [`Slots`]. Invariant: a place is free, or holds one thing until it is taken; nothing grows
//! with the number of things that were taken.

/// Things by the number of their place.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Puts a thing in; the number of its place.
    #[inline]
    pub(crate) fn insert(&mut self, thing: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.places[index as usize] = Some(thing);
                index
            }
            None => {
                self.places.push(Some(thing));
                self.places.len() as u32 - 1
            }
        }
    }

    /// Takes a thing out; its place is free again.
    #[inline]
    pub(crate) fn take(&mut self, index: u32) -> Option<T> {
        let thing = self.places.get_mut(index as usize)?.take();
        if thing.is_some() {
            self.free.push(index);
        }
        thing
    }

    /// No place was ever used since the last clearing?
    pub(crate) fn is_unused(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_reused_once_it_is_free() {
        let mut slots = Slots::default();
        assert_eq!((slots.insert('a'), slots.insert('b')), (0, 1));
        assert_eq!((slots.take(0), slots.take(0), slots.take(9)), (Some('a'), None, None));
        assert_eq!((slots.insert('c'), slots.insert('d')), (0, 2));
        assert_eq!(
            (slots.take(1), slots.take(0), slots.take(2)),
            (Some('b'), Some('c'), Some('d'))
        );
        assert!(!slots.is_unused() && Slots::<char>::default().is_unused());
    }
}
