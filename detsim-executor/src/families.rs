//! Families of faults, as a seed draws them.
//!
//! Owns: whether a family is in at all, and how strong it is. Does not own: which families there are, which
//! whoever brings the faults about says. Invariant: each family draws at an anchor of its own, so that one
//! more shifts no other.

use std::ops::Range;
use std::time::Duration;

use crate::choice::{Anchor, Choices, Domain};
use crate::rng::{Ratio, hash_bytes};

/// How often a family of faults is in.
const IN: Ratio = Ratio::new(1, 2);

/// Draws the faults of a run, each family of them in for half of the seeds: faults of one kind hide those
/// of another.
///
/// # Examples
/// ```
/// use detsim_executor::{Families, Sim};
/// let rate = |seed| {
///     let sim = Sim::new(seed);
///     sim.with(|kernel| Families::of(kernel.choices(), "env/example").rate("loss", &[0.01, 0.1]))
/// };
/// assert!((0..20).any(|seed| rate(seed) == 0.0) && (0..20).any(|seed| rate(seed) == 0.1));
/// ```
#[derive(Debug)]
pub struct Families<'a> {
    choices: &'a mut Choices,
    domain: Domain,
}

impl<'a> Families<'a> {
    /// Draws from the stream of this name.
    pub fn of(choices: &'a mut Choices, stream: &str) -> Self {
        Self { domain: choices.domain(stream), choices }
    }

    /// Is the family in?
    pub fn is_in(&mut self, family: &str) -> bool {
        let anchor = self.anchor(family);
        self.choices.happens(self.domain, anchor, IN)
    }

    /// A number below `bound`; 0 is nothing special.
    pub fn below(&mut self, family: &str, bound: u64) -> u64 {
        let anchor = self.anchor(family);
        self.choices.draw(self.domain, anchor, bound, 0)
    }

    /// One of these rates where the family is in, else 0.
    pub fn rate(&mut self, family: &str, rates: &[f64]) -> f64 {
        let is_in = self.is_in(family);
        let at = self.below(family, rates.len() as u64);
        if is_in { rates[at as usize] } else { 0.0 }
    }

    /// A power of two in this range of exponents, and up to as much again, in nanoseconds; `None` where
    /// the family is not in.
    pub fn duration(&mut self, family: &str, exponents: Range<u32>) -> Option<Duration> {
        let is_in = self.is_in(family);
        let exponent = self.below(family, u64::from(exponents.end - exponents.start));
        let base = 1 << (u64::from(exponents.start) + exponent);
        let ns = base + self.below(family, base);
        is_in.then(|| Duration::from_nanos(ns))
    }

    fn anchor(&mut self, family: &str) -> Anchor {
        let actor = hash_bytes(family.as_bytes());
        self.choices.name_actor(actor, family);
        Anchor { actor, ordinal: 0 }
    }
}
