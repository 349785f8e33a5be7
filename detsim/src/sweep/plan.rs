//! Which seeds a test runs: the environment's word over the attribute's.

use crate::config::{Config, Seeds};
use crate::spec::Spec;

/// The seeds of one sweep: `count` of them, from `first` on. The last is at most `u64::MAX`, which
/// a range could not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) first: u64,
    pub(crate) count: u64,
    /// One seed was asked for by name: its output is shown, and it is recorded at once.
    pub(crate) is_replay: bool,
}

impl Plan {
    /// # Errors
    /// Where the seeds would go past the last one.
    pub(crate) fn new(spec: &Spec, config: &Config) -> Result<Self, String> {
        if let Some(seed) = config.seed {
            return Ok(Self { first: seed, count: 1, is_replay: true });
        }
        let (first, count) = match &config.seeds {
            Some(Seeds::Range(range)) => (range.start, range.end - range.start),
            Some(Seeds::Count(count)) => (config.seed_base.unwrap_or(0), *count),
            None => (config.seed_base.unwrap_or(0), spec.seeds),
        };
        match first.checked_add(count - 1) {
            Some(_) => Ok(Self { first, count, is_replay: false }),
            None => Err(format!(
                "detsim: {count} seeds from seed {first} on go past the last seed; lower \
                 DETSIM_SEED_BASE or the number of seeds"
            )),
        }
    }

    /// The seed at this place of the sweep.
    pub(crate) fn seed(&self, index: u64) -> u64 {
        self.first + index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(config: Config) -> Result<Plan, String> {
        Plan::new(&Spec::new("crate::test", "src/lib.rs", 1).seeds(50), &config)
    }

    fn sweep(first: u64, count: u64) -> Result<Plan, String> {
        Ok(Plan { first, count, is_replay: false })
    }

    #[test]
    fn the_environment_wins() {
        let none = Config::default;
        assert_eq!(plan(none()), sweep(0, 50));
        assert_eq!(plan(Config { seed_base: Some(7), ..none() }), sweep(7, 50));
        let count = Config { seeds: Some(Seeds::Count(3)), seed_base: Some(7), ..none() };
        assert_eq!(plan(count.clone()), sweep(7, 3));
        assert_eq!(plan(Config { seeds: Some(Seeds::Range(5..9)), ..none() }), sweep(5, 4));
        let replay = Ok(Plan { first: 2, count: 1, is_replay: true });
        assert_eq!(plan(Config { seed: Some(2), ..count }), replay);
    }

    #[test]
    fn the_last_seed_is_a_seed() {
        let base = |seed_base| Config { seed_base: Some(seed_base), ..Config::default() };
        assert_eq!(plan(base(u64::MAX - 49)), sweep(u64::MAX - 49, 50));
        assert_eq!(plan(base(u64::MAX - 49)).unwrap().seed(49), u64::MAX);
        assert!(plan(base(u64::MAX - 48)).unwrap_err().contains("past the last seed"));
    }
}
