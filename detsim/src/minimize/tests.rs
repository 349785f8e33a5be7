//! A minimisation over runs of which the answer is known.

use super::*;
use crate::outcome::{Kind, Verdict};
use detsim_executor::{Anchor, RunHash};

/// Fails where all of `needed` are taken; other choices of the set take effect, too.
struct Toy {
    needed: Vec<u64>,
    signature: &'static str,
    runs: u32,
}

fn choice(n: u64) -> Choice {
    let anchor = Anchor { actor: n, ordinal: 0 };
    Choice { domain: 7, anchor, occurrence: 0, picked: 1, default: 0 }
}

fn tape(count: u64) -> Tape {
    Tape {
        detsim: String::new(),
        test: "a::b".to_owned(),
        seed: 3,
        strategy: None,
        signature: "panic".to_owned(),
        hash: RunHash::default(),
        domains: Vec::new(),
        choices: (0..count).map(choice).collect(),
    }
}

impl Engine for Toy {
    fn run(&mut self, batch: Batch) -> Result<Vec<(usize, RunOutcome)>, String> {
        let mut found = Vec::new();
        for (place, job) in batch.jobs.into_iter().enumerate() {
            self.runs += 1;
            let choices = job.set.unwrap_or_default();
            let fails = self.needed.iter().all(|n| choices.contains(&choice(*n)));
            let recording = Some(Box::new(Recording { choices, ..Recording::default() }));
            let text = || self.signature.to_owned();
            let outcome = match fails {
                true => RunOutcome::failed(Kind::Panic, text(), text()),
                false => RunOutcome::PASS,
            };
            let outcome = RunOutcome { recording, ..outcome };
            let (is_like, is_first) = match &batch.like {
                Like::Any => (true, false),
                Like::All(signature) => (like(&outcome, signature), false),
                Like::First(signature) => (like(&outcome, signature), true),
            };
            if is_like {
                found.push((place, outcome));
                if is_first {
                    break;
                }
            }
        }
        Ok(found)
    }
}

fn toy(needed: &[u64]) -> Toy {
    Toy { needed: needed.to_vec(), signature: "panic", runs: 0 }
}

fn run(toy: &mut Toy, resumed: Option<&Tape>) -> (Result<Minimized, String>, Vec<Tape>) {
    let mut saved = Vec::new();
    let mut save = |tape: &Tape| saved.push(tape.clone());
    let known = Known { resumed: resumed.cloned(), others: Vec::new() };
    let minimized = minimize(toy, &tape(3_000), &known, Budget::DEFAULT, &mut save, false);
    (minimized, saved)
}

#[test]
fn the_few_are_found_saved_and_have_a_neighbour_that_passes() {
    let mut toy = toy(&[100, 2_000]);
    let (minimized, saved) = run(&mut toy, None);
    let minimized = minimized.unwrap();
    assert_eq!(minimized.tape.choices, [choice(100), choice(2_000)]);
    assert_eq!((minimized.from, minimized.cut_short), (3_000, false));
    assert!(minimized.replays < 100, "{} runs", minimized.replays);
    assert_eq!(minimized.confirmed, Confirmed { runs: 100, same: 100 });
    assert_eq!(saved.last(), Some(&minimized.tape));
    let neighbour = minimized.neighbour.unwrap();
    assert_eq!((neighbour.without, neighbour.verdict), (1, Verdict::Pass));
    assert_eq!(neighbour.recording.choices, [choice(100)]);
}

#[test]
fn an_interrupted_one_goes_on_where_it_was() {
    let resumed = Tape { choices: vec![choice(100), choice(5), choice(2_000)], ..tape(0) };
    let mut toy = toy(&[100, 2_000]);
    let (minimized, _) = run(&mut toy, Some(&resumed));
    let minimized = minimized.unwrap();
    assert_eq!(minimized.tape.choices, [choice(100), choice(2_000)]);
    assert!(minimized.replays < 20, "{} runs", minimized.replays);
}

#[test]
fn another_failure_is_not_the_same() {
    let mut other = toy(&[100]);
    other.signature = "deadlock";
    let why = run(&mut other, None).0.unwrap_err();
    assert!(why.contains("recorded: panic\n  now: deadlock\n"), "{why}");
    let why = run(&mut toy(&[9_999]), None).0.unwrap_err();
    assert!(why.contains("now: it passed\n"), "{why}");
}

#[test]
fn the_budget_is_kept() {
    let mut toy = toy(&[1, 10, 100, 1_000, 2_000]);
    let budget = Budget { replays_max: 20, ..Budget::DEFAULT };
    let minimized =
        minimize(&mut toy, &tape(3_000), &Known::default(), budget, &mut |_| {}, false).unwrap();
    assert!(minimized.cut_short && minimized.replays <= 20);
    let budget = Budget { wall: Duration::ZERO, ..Budget::DEFAULT };
    let minimized =
        minimize(&mut toy, &tape(3_000), &Known::default(), budget, &mut |_| {}, false).unwrap();
    assert_eq!((minimized.cut_short, minimized.tape.choices.len()), (true, 3_000));
    assert_eq!(minimized.confirmed, Confirmed::default());
}

#[test]
fn another_seed_that_fails_for_fewer_reasons_is_taken() {
    /// Seed 3 needs five choices, seed 8 needs one.
    struct BySeed(Toy, Toy);
    impl Engine for BySeed {
        fn run(&mut self, batch: Batch) -> Result<Vec<(usize, RunOutcome)>, String> {
            let seed = batch.jobs.first().map_or(3, |job| job.seed);
            if seed == 8 { self.1.run(batch) } else { self.0.run(batch) }
        }
    }
    let mut engine = BySeed(toy(&[1, 10, 100, 1_000, 2_000]), toy(&[7]));
    let others = vec![Tape { seed: 8, ..tape(30) }];
    let known = Known { resumed: None, others };
    let budget = Budget::DEFAULT;
    let minimized =
        minimize(&mut engine, &tape(3_000), &known, budget, &mut |_| {}, false).unwrap();
    assert_eq!((minimized.tape.seed, minimized.tape.choices), (8, vec![choice(7)]));
}
