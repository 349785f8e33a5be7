//! Segments on their way, in order.
//!
//! Owns: [`Convoy`]. Does not own: what a segment is (`lane.rs`). Invariant: where there is any, the first one
//! stands in `first`, in place: most often there is no other, and what was just written there part by
//! part is read part by part.

use std::collections::VecDeque;

use super::lane::Segment;

/// See the module's documentation.
#[derive(Debug, Default)]
pub(crate) struct Convoy {
    first: Option<Segment>,
    rest: VecDeque<Segment>,
}

impl Convoy {
    /// The next one to arrive.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Segment> {
        self.first.as_ref()
    }

    /// The next one to arrive.
    #[inline]
    pub(crate) fn first_mut(&mut self) -> Option<&mut Segment> {
        self.first.as_mut()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// One more, behind all others.
    #[inline(always)]
    pub(crate) fn push(&mut self, segment: Segment) {
        match self.first {
            None => self.first = Some(segment),
            Some(_) => self.rest.push_back(segment),
        }
    }

    /// The first one is there: how many bytes it has.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<usize> {
        let bytes = self.first.as_ref()?.bytes;
        match self.rest.is_empty() {
            true => self.first = None,
            false => self.first = self.rest.pop_front(),
        }
        Some(bytes)
    }

    /// None is left.
    pub(crate) fn clear(&mut self) {
        self.first = None;
        self.rest.clear();
    }
}
