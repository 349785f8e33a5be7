//! What follows one another on a lane, in order.
//!
//! Owns: [`Convoy`]. Does not own: what is in it: segments on their way, acknowledgements on theirs (`lane.rs`).
//! Invariant: where there is anything, the first stands in `first`, in place: most often there is no
//! other, and what was just written there part by part is read part by part.

use std::collections::VecDeque;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Convoy<T> {
    first: Option<T>,
    rest: VecDeque<T>,
}

impl<T> Convoy<T> {
    /// The next one to arrive.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.first.as_ref()
    }

    /// The next one to arrive.
    #[inline]
    pub(crate) fn first_mut(&mut self) -> Option<&mut T> {
        self.first.as_mut()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    /// All of them, in order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(&mut self.rest)
    }

    /// The only one.
    #[inline(always)]
    pub(crate) fn begin(&mut self, one: T) {
        debug_assert!(self.is_empty(), "invariant: nothing is before it");
        self.first = Some(one);
    }

    /// One more, behind all others.
    #[inline(always)]
    pub(crate) fn push(&mut self, one: T) {
        match self.first {
            None => self.first = Some(one),
            Some(_) => self.push_behind(one),
        }
    }

    #[inline(never)]
    fn push_behind(&mut self, one: T) {
        self.rest.push_back(one);
    }

    /// The first one is there.
    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        match self.rest.is_empty() {
            true => self.first = None,
            false => self.first = self.rest.pop_front(),
        }
    }

    /// None is left.
    pub(crate) fn clear(&mut self) {
        self.first = None;
        self.rest.clear();
    }
}

impl<T> Default for Convoy<T> {
    fn default() -> Self {
        Self { first: None, rest: VecDeque::new() }
    }
}
