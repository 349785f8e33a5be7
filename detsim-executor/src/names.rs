//! The names of tasks.
//!
//! Owns: one copy of each distinct name of a run. Invariant: a number stays valid to the end of
//! its run, so that a report can name a task that has ended.

use std::collections::BTreeMap;

/// Names that are looked for one by one: most runs have no more.
const FEW: usize = 8;

/// Distinct names by number; 0 is "no name".
#[derive(Debug, Default)]
pub(crate) struct Names {
    texts: Vec<Box<str>>,
    /// Of all but the first few.
    numbers: BTreeMap<Box<str>, u32>,
}

impl Names {
    pub(crate) fn reset(&mut self) {
        self.texts.clear();
        self.numbers.clear();
    }

    /// The number of a name.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let few = self.texts.iter().take(FEW).rposition(|text| **text == *name);
        let known = few.map(|index| index as u32 + 1);
        known.or_else(|| self.numbers.get(name).copied()).unwrap_or_else(|| self.add(name))
    }

    fn add(&mut self, name: &str) -> u32 {
        self.texts.push(name.into());
        let number = self.texts.len() as u32;
        if self.texts.len() > FEW {
            self.numbers.insert(name.into(), number);
        }
        number
    }

    /// The name of a number.
    pub(crate) fn text(&self, number: u32) -> Option<&str> {
        self.texts.get((number as usize).checked_sub(1)?).map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let mut names = Names::default();
        let first = names.number("worker");
        assert_eq!(names.number("worker"), first);
        assert_eq!(names.text(first), Some("worker"));
        assert_eq!((names.number(""), names.text(0)), (0, None));
        let all: Vec<String> = (0..3 * FEW).map(|n| n.to_string()).collect();
        let numbers: Vec<u32> = all.iter().map(|name| names.number(name)).collect();
        for (name, number) in all.iter().zip(&numbers) {
            assert_eq!((names.number(name), names.text(*number)), (*number, Some(name.as_str())));
        }
        assert_eq!(names.number("worker"), first);
    }
}
