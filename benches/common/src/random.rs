//! The random numbers that the workload texts use, the same for every peer.
//!
//! Splitmix64: one addition and three multiply-xor steps a word, so that drawing costs nothing
//! beside what is measured. No simulator's own randomness is involved.

/// A stream of random words, fixed by its seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of `seed`. Neighbouring seeds give unrelated streams.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next word.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `min` to `max`, both included, by multiplying and shifting: no division.
    pub fn between(&mut self, min: u64, max: u64) -> u64 {
        let width = u128::from(max - min) + 1;
        let scaled = (u128::from(self.word()) * width) >> 64;
        min + u64::try_from(scaled).expect("invariant: below the width")
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_range_includes_both_its_ends_and_nothing_else() {
        let mut random = Random::new(7);
        let mut seen = [0; 3];
        for _ in 0..300 {
            seen[usize::try_from(random.between(5, 7) - 5).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }
}
