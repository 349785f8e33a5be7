//! Pages that a file has room for, and no bytes in.
//!
//! Owns: [`Reserved`], a set of pages as stretches. Does not own: whose room it is, or what the pages read
//! as. Invariant: stretches are not empty, do not overlap and do not touch.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reserved(BTreeMap<u64, u64>);

impl Reserved {
    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// How many of a stretch there are.
    pub(crate) fn count_within(&self, pages: &Range<u64>) -> u64 {
        let touched = self.0.range(..pages.end).rev().take_while(|(_, end)| **end > pages.start);
        touched.map(|(start, end)| end.min(&pages.end) - start.max(&pages.start)).sum()
    }

    pub(crate) fn contains(&self, page: u64) -> bool {
        self.0.range(..=page).next_back().is_some_and(|(_, end)| *end > page)
    }

    pub(crate) fn stretches(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|(start, end)| *start..*end)
    }

    pub(crate) fn insert(&mut self, pages: Range<u64>) {
        if pages.is_empty() {
            return;
        }
        let Range { mut start, mut end } = pages;
        while let Some((first, last)) = self.0.range(..=end).next_back().map(|(f, l)| (*f, *l))
            && last >= start
        {
            (start, end) = (start.min(first), end.max(last));
            self.0.remove(&first);
        }
        self.0.insert(start, end);
    }

    pub(crate) fn remove(&mut self, pages: Range<u64>) {
        if pages.is_empty() {
            return;
        }
        while let Some((first, last)) = self.0.range(..pages.end).next_back().map(|(f, l)| (*f, *l))
            && last > pages.start
        {
            self.0.remove(&first);
            if last > pages.end {
                self.0.insert(pages.end, last);
            }
            if first < pages.start {
                self.0.insert(first, pages.start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set_of_pages_whatever_is_added_and_taken_away() {
        let mut stream = detsim_executor::Stream::named(7, "reserved");
        let (mut pages, mut plain) = (Reserved::default(), BTreeSet::new());
        for _ in 0..20_000 {
            let start = stream.below(24);
            let stretch = start..start + stream.below(8);
            if stream.below(2) == 0 {
                plain.extend(stretch.clone());
                pages.insert(stretch);
            } else {
                plain.retain(|page| !stretch.contains(page));
                pages.remove(stretch);
            }
            let within = 5..19;
            assert_eq!(pages.count(), plain.len() as u64);
            assert_eq!(pages.count_within(&within), plain.range(within).count() as u64);
            assert!((0..40).all(|page| pages.contains(page) == plain.contains(&page)));
            let stretches = Vec::from_iter(pages.stretches());
            assert!(stretches.windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
