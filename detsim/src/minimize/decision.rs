//! A choice as the search sees it: with its class, and with simpler forms of itself.

use std::collections::BTreeMap;

use detsim_executor::Choice;
use detsim_executor::choice::{SCHED, STOPS};
use detsim_executor::rng::{fold, hash_bytes};

use super::shrink::Item;

/// A choice that was not the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) choice: Choice,
    class: u64,
}

/// The choices of a run, whose domains have these names.
pub(crate) fn decisions(choices: &[Choice], domains: &[(u64, String)]) -> Vec<Decision> {
    let names: BTreeMap<u64, &str> = domains.iter().map(|(hash, n)| (*hash, n.as_str())).collect();
    let class = |choice: &Choice| match names.get(&choice.domain) {
        Some(name) => hash_bytes(kind(name).as_bytes()),
        None => choice.domain,
    };
    choices.iter().map(|choice| Decision { choice: *choice, class: class(choice) }).collect()
}

/// What a domain's choices are, whichever link or disk makes them: `net/loss` of `net/n1/n2/loss`.
fn kind(domain: &str) -> String {
    let parts: Vec<&str> = domain.split('/').collect();
    match parts[..] {
        ["net", _, _] => "net/latency".to_owned(),
        ["net", _, _, fault] => format!("net/{fault}"),
        ["disk", _, fault] => format!("disk/{fault}"),
        [first, ..] => first.to_owned(),
        [] => String::new(),
    }
}

/// Parts of a value's distance from the default that are tried, by the bits that they lack.
const FEWER_BITS: [u32; 6] = [32, 16, 8, 4, 2, 1];

impl Item for Decision {
    fn key(&self) -> u64 {
        let Choice { domain, anchor, occurrence, picked, .. } = self.choice;
        let place = fold(anchor.actor, u64::from(anchor.ordinal) << 32 | u64::from(occurrence));
        fold(fold(domain, place), picked)
    }

    fn class(&self) -> u64 {
        self.class
    }

    fn simpler(&self) -> Vec<Self> {
        let Choice { domain, picked, default, .. } = self.choice;
        if domain == SCHED || domain == STOPS || picked <= default {
            return Vec::new();
        }
        let distance = picked - default;
        let mut parts: Vec<u64> = FEWER_BITS.iter().map(|bits| distance >> bits).collect();
        parts.insert(0, 1);
        parts.retain(|part| (1..distance).contains(part));
        parts.dedup();
        let with = |part| Choice { picked: default + part, ..self.choice };
        parts.into_iter().map(|part| Self { choice: with(part), ..*self }).collect()
    }

    /// The largest value that any choice of the class had.
    fn stronger(&self, set: &[Self]) -> Option<Self> {
        let Choice { domain, picked, .. } = self.choice;
        if domain == SCHED || domain == STOPS {
            return None;
        }
        let of_class = set.iter().filter(|other| other.class == self.class);
        let largest = of_class.map(|other| other.choice.picked).max()?;
        let choice = Choice { picked: largest, ..self.choice };
        (largest > picked).then_some(Self { choice, ..*self })
    }

    /// The next ones, for rungs of a ladder, and multiples, for everything else. One that is out of
    /// bounds is the default when it is run.
    fn larger(&self) -> Vec<Self> {
        let Choice { domain, picked, default, .. } = self.choice;
        if domain == SCHED || domain == STOPS || picked <= default {
            return Vec::new();
        }
        let distance = picked - default;
        let mut values = vec![distance + 1, distance + 2];
        values.extend([2, 4].map(|times| distance.saturating_mul(times)));
        values.sort_unstable();
        values.dedup();
        let with = |value| Choice { picked: default.saturating_add(value), ..self.choice };
        values.into_iter().map(|value| Self { choice: with(value), ..*self }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::Anchor;

    fn decision(domain: u64, picked: u64) -> Decision {
        let choice =
            Choice { domain, anchor: Anchor::default(), occurrence: 0, picked, default: 0 };
        Decision { choice, class: 0 }
    }

    #[test]
    fn classes_are_kinds_of_faults() {
        for (domain, expected) in [
            ("net/n1/n2", "net/latency"),
            ("net/n3/n2", "net/latency"),
            ("net/n1/n2/loss", "net/loss"),
            ("select", "select"),
        ] {
            assert_eq!(kind(domain), expected);
        }
        let domains = [(1, "net/a/b/loss".to_owned()), (2, "net/b/a/loss".to_owned())];
        let choices = [1, 2, SCHED, STOPS].map(|domain| decision(domain, 1).choice);
        let classes: Vec<u64> = decisions(&choices, &domains).iter().map(Item::class).collect();
        assert_eq!(classes[0], classes[1]);
        assert_eq!(classes[1..].iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    }

    #[test]
    fn the_stronger_form_is_the_largest_of_its_class() {
        let set = [decision(7, 3), decision(7, 9), Decision { class: 1, ..decision(8, 50) }];
        let stronger = |d: Decision| d.stronger(&set).map(|d| d.choice.picked);
        assert_eq!(stronger(decision(7, 3)), Some(9));
        assert_eq!(stronger(decision(7, 9)), None);
        assert_eq!(stronger(decision(SCHED, 3)), None);
    }

    #[test]
    fn larger_forms_are_rungs_and_multiples() {
        let values = |d: Decision| d.larger().iter().map(|d| d.choice.picked).collect::<Vec<_>>();
        assert_eq!(values(decision(7, 18)), [19, 20, 36, 72]);
        assert_eq!(values(decision(7, 1)), [2, 3, 4]);
        assert!(values(decision(7, 0)).is_empty());
        assert!(values(decision(SCHED, 1_000)).is_empty());
    }

    #[test]
    fn values_have_simpler_forms_and_picks_have_none() {
        let values = |d: Decision| d.simpler().iter().map(|d| d.choice.picked).collect::<Vec<_>>();
        assert_eq!(values(decision(7, 1_000)), [1, 3, 62, 250, 500]);
        assert_eq!(values(decision(7, 2)), [1]);
        assert!(values(decision(7, 1)).is_empty());
        assert!(values(decision(SCHED, 1_000)).is_empty());
    }
}
