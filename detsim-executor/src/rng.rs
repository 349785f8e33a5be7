//! Streams of random words.
//!
//! Owns: xoshiro256++ streams split from a seed by name, ranges over their words, and [`Ratio`],
//! the integer form of a public rate. Does not own: what is drawn and why (that is
//! [`crate::choice`]). Invariants: no float takes part in a draw, and a stream's words depend on
//! the seed and its own name only, so a draw added in one stream shifts no other.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Mixes two words into one (a folded 64 by 64 bit product).
#[inline]
pub const fn fold(a: u64, b: u64) -> u64 {
    let product = (a ^ 0x9E37_79B9_7F4A_7C15) as u128 * (b ^ 0xD6E8_FEB8_6659_FD93) as u128;
    product as u64 ^ (product >> 64) as u64
}

/// The same by one short multiplication, for what every operation does: two pairs that differ in one word
/// alone are never mixed into the same.
#[inline]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    (a ^ b.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A hash of bytes that is the same in every build and process.
pub const fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = fold(hash, bytes[i] as u64 + 1);
        i += 1;
    }
    hash
}

/// One stream of random words.
///
/// # Examples
/// ```
/// use detsim_executor::Stream;
/// let mut a = Stream::named(7, "net/n1/n2");
/// let mut b = Stream::named(7, "net/n1/n2");
/// assert_eq!(a.below(100), b.below(100));
/// ```
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The stream split from `seed` by `name`, such as `net/n1/n2`.
    pub fn named(seed: u64, name: &str) -> Self {
        Self::keyed(seed, hash_bytes(name.as_bytes()))
    }

    /// The stream split from `seed` by an already hashed name.
    pub fn keyed(seed: u64, key: u64) -> Self {
        Self::new(fold(seed, key))
    }

    /// The next word.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..bound`; 0 where `bound` is 0. The bias is below `bound / 2^64`.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        scale(self.word(), bound)
    }

    /// A number in `min..=max`.
    ///
    /// # Panics
    /// Where `min > max`.
    #[inline]
    #[track_caller]
    pub fn range(&mut self, min: u64, max: u64) -> u64 {
        assert!(min <= max, "detsim: empty range {min}..={max}");
        match (max - min).checked_add(1) {
            Some(width) => min + self.below(width),
            None => self.word(),
        }
    }

    /// True with the probability of `ratio`. Draws one word, whatever the ratio.
    #[inline]
    pub fn chance(&mut self, ratio: Ratio) -> bool {
        ratio.admits(self.word())
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.word().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Maps a whole word to `0..bound`.
#[inline]
pub const fn scale(word: u64, bound: u64) -> u64 {
    ((word as u128 * bound as u128) >> 64) as u64
}

/// A probability in 2^-63 steps, made once from a public rate.
///
/// # Examples
/// ```
/// use detsim_executor::Ratio;
/// assert_eq!(Ratio::from_rate("drop_rate", 0.0), Ratio::NEVER);
/// assert_eq!(Ratio::from_rate("drop_rate", 1.0), Ratio::ALWAYS);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(u64);

impl Ratio {
    /// Probability 0.
    pub const NEVER: Self = Self(0);
    /// Probability 1.
    pub const ALWAYS: Self = Self(1 << 63);

    /// From a rate in `0.0..=1.0`; `name` is the setting that a bad value is reported under.
    ///
    /// # Panics
    /// Where `rate` is not a number or lies outside.
    #[track_caller]
    #[expect(clippy::float_arithmetic, reason = "the one place where a rate becomes an integer")]
    pub fn from_rate(name: &str, rate: f64) -> Self {
        assert!(
            (0.0..=1.0).contains(&rate),
            "detsim: {name} is {rate}, but a rate lies between 0 and 1"
        );
        Self((rate * (1u64 << 63) as f64) as u64)
    }

    /// `part` out of `whole`.
    ///
    /// # Panics
    /// Where `whole` is 0 or smaller than `part`.
    #[track_caller]
    pub const fn new(part: u32, whole: u32) -> Self {
        assert!(whole != 0 && part <= whole, "detsim: a ratio lies between 0 and 1");
        Self((((part as u128) << 63) / whole as u128) as u64)
    }

    /// So many times as likely, but never more than certain.
    #[must_use]
    pub const fn times(self, factor: u32) -> Self {
        let product = self.0 as u128 * factor as u128;
        let certain = Self::ALWAYS.0 as u128;
        Self(if product < certain { product } else { certain } as u64)
    }

    /// Whether a uniformly drawn word falls under this probability.
    #[inline]
    pub const fn admits(self, word: u64) -> bool {
        word >> 1 < self.0
    }

    /// Probability 0?
    #[inline]
    pub const fn is_never(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_split_by_name() {
        let words = |name| {
            let mut stream = Stream::named(1, name);
            [stream.word(), stream.word()]
        };
        assert_eq!(words("a"), words("a"));
        assert_ne!(words("a"), words("b"));
    }

    #[test]
    fn first_words_are_pinned() {
        // A change here changes every seed's run: it is a CHANGELOG entry.
        assert_eq!(Stream::new(0).word(), 5987356902031041503);
        assert_eq!(hash_bytes(b"detsim"), hash_bytes("detsim".as_bytes()));
    }

    #[test]
    fn ranges_hold_their_bounds() {
        let mut stream = Stream::new(3);
        let seen: Vec<u64> = (0..1000).map(|_| stream.range(5, 8)).collect();
        assert_eq!(seen.iter().min(), Some(&5));
        assert_eq!(seen.iter().max(), Some(&8));
        assert_eq!(stream.below(0), 0);
        assert_eq!(stream.range(u64::MAX, u64::MAX), u64::MAX);
        stream.range(0, u64::MAX);
    }

    #[test]
    fn ratios_are_exact_at_both_ends() {
        assert!(!Ratio::NEVER.admits(0));
        assert!(Ratio::ALWAYS.admits(u64::MAX));
        let mut stream = Stream::new(9);
        let hits = (0..10_000).filter(|_| stream.chance(Ratio::new(1, 4))).count();
        assert!((2_300..2_700).contains(&hits), "{hits}");
    }

    #[test]
    #[should_panic(expected = "drop_rate is NaN")]
    fn a_rate_that_is_no_number_is_refused() {
        Ratio::from_rate("drop_rate", f64::NAN);
    }

    #[test]
    #[should_panic(expected = "drop_rate is 1.5")]
    fn a_rate_above_one_is_refused() {
        Ratio::from_rate("drop_rate", 1.5);
    }
}
