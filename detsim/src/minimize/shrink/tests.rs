//! Tests of the module above, with oracles of which the smallest answer is known.

use super::*;

/// Both halves, of one run.
fn shrink<T: Item>(set: Vec<T>, oracle: &mut dyn Oracle<T>, replays_max: u32) -> Shrunk<T> {
    let reduced = reduce(set.clone(), oracle, replays_max);
    refine(reduced, &set, oracle, replays_max)
}

/// A choice of a class, with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Toy {
    id: u32,
    class: u64,
    value: u64,
}

impl Item for Toy {
    fn key(&self) -> u64 {
        u64::from(self.id) << 32 | self.value
    }
    fn class(&self) -> u64 {
        self.class
    }
    fn simpler(&self) -> Vec<Self> {
        let halves = std::iter::successors(Some(self.value / 2), |v| (*v > 1).then_some(v / 2));
        let mut values: Vec<u64> = halves.filter(|v| *v > 0 && *v < self.value).collect();
        values.reverse();
        values.into_iter().map(|value| Self { value, ..*self }).collect()
    }
}

struct Fn1<F>(F, u32);

impl<F: FnMut(&[Toy]) -> bool> Oracle<Toy> for Fn1<F> {
    fn first_failing(&mut self, candidates: &[Vec<Toy>]) -> Option<(usize, Vec<Toy>)> {
        let found = candidates.iter().position(|candidate| (self.0)(candidate));
        self.1 += found.map_or(candidates.len(), |index| index + 1) as u32;
        found.map(|index| (index, candidates[index].clone()))
    }
}

fn toys(count: u32) -> Vec<Toy> {
    (0..count).map(|id| Toy { id, class: u64::from(id % 3), value: 1 }).collect()
}

fn ids(set: &[Toy]) -> Vec<u32> {
    set.iter().map(|toy| toy.id).collect()
}

fn needs(wanted: &'static [u32]) -> impl FnMut(&[Toy]) -> bool {
    move |set| wanted.iter().all(|id| set.iter().any(|toy| toy.id == *id))
}

#[test]
fn the_few_that_matter_are_found_among_thousands() {
    let mut oracle = Fn1(needs(&[17, 1_203, 2_900]), 0);
    let shrunk = shrink(toys(4_000), &mut oracle, 2_000);
    assert_eq!(ids(&shrunk.kept), [17, 1_203, 2_900]);
    assert!(shrunk.replays < 200, "{} replays", shrunk.replays);
    assert_eq!((shrunk.replays, shrunk.cut_short), (oracle.1, false));
}

#[test]
fn a_run_that_fails_without_any_choice_is_told_at_once() {
    let shrunk = shrink(toys(500), &mut Fn1(|_: &[Toy]| true, 0), 2_000);
    assert_eq!((shrunk.kept.len(), shrunk.replays), (0, 1));
}

#[test]
fn a_class_that_is_not_needed_goes_whole() {
    // Three of one class, in the middle of noise of two others.
    let mut oracle = Fn1(needs(&[30, 33, 36]), 0);
    let shrunk = shrink(toys(60), &mut oracle, 2_000);
    assert_eq!(ids(&shrunk.kept), [30, 33, 36]);
}

#[test]
fn values_are_lowered_as_far_as_they_go() {
    let set = vec![Toy { id: 0, class: 0, value: 1_000 }];
    let mut oracle = Fn1(|set: &[Toy]| set.first().is_some_and(|toy| toy.value >= 60), 0);
    assert_eq!(shrink(set, &mut oracle, 2_000).kept[0].value, 62);
}

#[test]
fn a_strong_one_does_the_work_of_several() {
    /// A delay, of which the sum counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Delay(u64, u64);
    impl Item for Delay {
        fn key(&self) -> u64 {
            self.0 << 32 | self.1
        }
        fn class(&self) -> u64 {
            0
        }
        fn simpler(&self) -> Vec<Self> {
            Vec::new()
        }
        fn stronger(&self, set: &[Self]) -> Option<Self> {
            let largest = set.iter().map(|delay| delay.1).max()?;
            (largest > self.1).then_some(Self(self.0, largest))
        }
    }
    struct Sum;
    impl Oracle<Delay> for Sum {
        fn first_failing(&mut self, candidates: &[Vec<Delay>]) -> Option<(usize, Vec<Delay>)> {
            let fails = |set: &Vec<Delay>| set.iter().map(|delay| delay.1).sum::<u64>() >= 60;
            let index = candidates.iter().position(fails)?;
            Some((index, candidates[index].clone()))
        }
    }
    // Ten of 6 and one of 20 that comes too late to be in the prefix.
    let set = (0..10).map(|id| Delay(id, 6)).chain([Delay(10, 20)]).collect();
    let shrunk = shrink(set, &mut Sum, 2_000);
    assert!(shrunk.kept.len() <= 4, "{:?}", shrunk.kept);
}

#[test]
fn one_value_for_all_does_what_many_did() {
    /// Delays of messages, and the least delay of all of them.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Delay {
        OfOne(u64),
        OfAll(u64),
    }
    impl Item for Delay {
        fn key(&self) -> u64 {
            match *self {
                Self::OfOne(message) => message,
                Self::OfAll(least) => 1 << 32 | least,
            }
        }
        fn class(&self) -> u64 {
            u64::from(matches!(self, Self::OfAll(_)))
        }
        fn simpler(&self) -> Vec<Self> {
            Vec::new()
        }
        fn larger(&self) -> Vec<Self> {
            match *self {
                Self::OfOne(_) => Vec::new(),
                Self::OfAll(least) => vec![Self::OfAll(least + 1), Self::OfAll(least * 2)],
            }
        }
    }
    /// Fails where the least delay alone is long enough, or each of the messages is late.
    struct Late;
    impl Oracle<Delay> for Late {
        fn first_failing(&mut self, candidates: &[Vec<Delay>]) -> Option<(usize, Vec<Delay>)> {
            let fails = |set: &Vec<Delay>| {
                let least = set.iter().find_map(|delay| match delay {
                    Delay::OfAll(least) => Some(*least),
                    Delay::OfOne(_) => None,
                });
                let late = set.len() as u64 - u64::from(least.is_some());
                least.is_some_and(|least| least >= 20 || (least >= 10 && late == 60))
            };
            let index = candidates.iter().position(fails)?;
            Some((index, candidates[index].clone()))
        }
    }
    let set = [Delay::OfAll(10)].into_iter().chain((0..60).map(Delay::OfOne)).collect();
    let shrunk = shrink(set, &mut Late, 2_000);
    assert_eq!(shrunk.kept, [Delay::OfAll(20)]);
}

#[test]
fn a_pair_that_can_only_go_together_goes() {
    // Fails with both or neither of 2 and 3, and always needs 1.
    let fails = |set: &[Toy]| {
        let has = |id| set.iter().any(|toy| toy.id == id);
        has(1) && has(2) == has(3)
    };
    assert_eq!(ids(&shrink(toys(4), &mut Fn1(fails, 0), 2_000).kept), [1]);
}

#[test]
fn choices_that_do_not_come_up_are_dropped_for_nothing() {
    struct Dropping;
    impl Oracle<Toy> for Dropping {
        fn first_failing(&mut self, candidates: &[Vec<Toy>]) -> Option<(usize, Vec<Toy>)> {
            let fails = |set: &Vec<Toy>| set.iter().any(|toy| toy.id == 40);
            let index = candidates.iter().position(fails)?;
            let used = candidates[index].iter().filter(|toy| toy.id >= 40).copied().collect();
            Some((index, used))
        }
    }
    let shrunk = shrink(toys(64), &mut Dropping, 2_000);
    assert_eq!(ids(&shrunk.kept), [40]);
    assert!(shrunk.replays < 20, "{} replays", shrunk.replays);
}

#[test]
fn the_budget_is_kept_and_said() {
    let mut oracle = Fn1(needs(&[1, 2, 3, 5, 8, 13, 21, 34, 55]), 0);
    let shrunk = shrink(toys(4_000), &mut oracle, 25);
    assert!(shrunk.cut_short && oracle.1 <= 25);
    assert!(needs(&[1, 2, 3, 5, 8, 13, 21, 34, 55])(&shrunk.kept), "what is kept still fails");
}

#[test]
fn nothing_is_tried_twice() {
    let mut seen = BTreeSet::new();
    let mut fails = needs(&[3, 7]);
    let oracle = |set: &[Toy]| {
        let again = !seen.insert(set.to_vec());
        let failed = fails(set);
        assert!(!again || failed, "a set that passed was run again");
        failed
    };
    shrink(toys(40), &mut Fn1(oracle, 0), 2_000);
}

#[test]
fn the_result_is_the_same_however_many_are_tried_at_a_time() {
    /// Works out every candidate of a batch before it looks which is the first.
    struct Eager<F>(F);
    impl<F: FnMut(&[Toy]) -> bool> Oracle<Toy> for Eager<F> {
        fn first_failing(&mut self, candidates: &[Vec<Toy>]) -> Option<(usize, Vec<Toy>)> {
            let fails: Vec<bool> = candidates.iter().map(|set| (self.0)(set)).collect();
            let index = fails.iter().position(|fails| *fails)?;
            Some((index, candidates[index].clone()))
        }
    }
    let wanted = &[17, 203, 290];
    let lazy = shrink(toys(400), &mut Fn1(needs(wanted), 0), 2_000);
    assert_eq!(shrink(toys(400), &mut Eager(needs(wanted)), 2_000), lazy);
}

#[test]
fn every_smaller_set_is_handed_out_and_time_ends_the_search() {
    struct Timed(u32, Vec<usize>);
    impl Oracle<Toy> for Timed {
        fn first_failing(&mut self, candidates: &[Vec<Toy>]) -> Option<(usize, Vec<Toy>)> {
            self.0 -= 1;
            let index = candidates.iter().position(|set| needs(&[5])(set))?;
            Some((index, candidates[index].clone()))
        }
        fn kept(&mut self, set: &[Toy], _replays: u32) {
            self.1.push(set.len());
        }
        fn is_over(&self) -> bool {
            self.0 == 0
        }
    }
    let mut oracle = Timed(6, Vec::new());
    let shrunk = shrink(toys(4_000), &mut oracle, 2_000);
    assert!(shrunk.cut_short);
    assert_eq!(oracle.1.last(), Some(&shrunk.kept.len()));
    assert!(oracle.1.windows(2).all(|sizes| sizes[0] > sizes[1]), "{:?}", oracle.1);
}
