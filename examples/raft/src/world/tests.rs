//! Whole runs in the simulation: what is the same, and what is there to be seen.

use super::*;
use detsim::SimConfig;
use expect_test::expect;

fn run(sim: &Sim) -> Outcome {
    Scenario::default().run(sim).unwrap()
}

fn recording(seed: u64) -> Sim {
    let mut config = SimConfig::default();
    config.record = true;
    Sim::with_config(seed, config)
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..3 {
        let (first, second) = (recording(seed), recording(seed));
        assert_eq!(run(&first), run(&second));
        assert_eq!(first.trace().to_string(), second.trace().to_string());
    }
    assert_ne!(run(&Sim::new(3)).hash, run(&Sim::new(4)).hash);
}

#[test]
fn recording_changes_nothing() {
    assert_eq!(run(&Sim::new(5)), run(&recording(5)));
}

#[test]
fn the_choices_of_a_run_replay_its_network() {
    let sim = recording(5);
    let outcome = run(&sim);
    let mut config = SimConfig::default();
    config.replay = Some(sim.recorded_choices());
    // The seed stays: it decides the plan and the nodes' timeouts.
    let replayed = Sim::with_config(5, config);
    assert_eq!(run(&replayed), outcome);
    assert_eq!(replayed.unused_choices(), 0);
}

#[test]
fn every_seed_is_a_run_of_its_own() {
    let mut hashes: Vec<_> = (0..200).map(|seed| run(&Sim::new(seed)).hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 200);
}

#[test]
fn deliveries_and_faults_are_in_the_trace() {
    let sim = recording(1);
    let outcome = run(&sim);
    let trace = sim.trace();
    let count = |is_it: fn(&str) -> bool| {
        let texts = trace.moments.iter().map(|m| trace.tables.predicate(&m.event).to_string());
        texts.filter(|text| is_it(text)).count() as u64
    };
    assert_eq!(count(|text| text.ends_with("arrives")), outcome.counts.messages);
    assert_eq!(count(|text| text.ends_with("crashes")), outcome.counts.crashes);
    assert!(count(|text| text.starts_with("partition ")) >= 2);
    assert!(count(|text| text.starts_with("heal ")) >= 1);
}

#[test]
fn the_world_ends_with_its_simulation() {
    let sim = Sim::new(1);
    let world = World::new(&sim, Scenario::default());
    NodeId::all().for_each(|id| world.start(id));
    sim.run_until(SimTime::from_millis(500)).unwrap();
    let kept = Rc::downgrade(&world);
    drop(world);
    assert!(kept.strong_count() > 0, "handlers and timers hold it");
    drop(sim);
    assert_eq!(kept.strong_count(), 0);
}

#[test]
fn a_problem_is_told_to_people() {
    let scenario = Scenario { bug: Bug::OneWayLivelock, ..Scenario::default() };
    let problem = (0..20).find_map(|seed| scenario.check(&Sim::new(seed)).err());
    expect![[r#"
        no stable leader: terms rose from 7 to 13 within a second
        at 5.000000s, in a run with trouble of the kind: one-way
        what led up to it:
          4.156354s  n5 votes for n2 in term 9
          4.156784s  n2 leads term 9
          4.242135s  n4 votes for n4 in term 9
          4.481778s  n4 votes for n4 in term 10
          4.619004s  n4 votes for n4 in term 11
          4.771629s  n5 votes for n5 in term 12
          4.773496s  n1 votes for n5 in term 12
          4.775515s  n2 votes for n5 in term 12
          4.779139s  n3 votes for n5 in term 12
          4.782476s  n5 leads term 12
          4.818017s  n4 votes for n4 in term 12
          4.974681s  n4 votes for n4 in term 13
    "#]]
    .assert_eq(&format!("{:?}", problem.unwrap()));
}

/// The choices of a run, without those whose domain has `word` in its name.
fn choices_without(sim: &Sim, word: &str) -> Vec<detsim::Choice> {
    let named = |(hash, name): (u64, &str)| name.contains(word).then_some(hash);
    let left_out: Vec<u64> =
        sim.with(|kernel| kernel.choices().domain_names().filter_map(named).collect());
    let choices = sim.recorded_choices().into_iter();
    choices.filter(|choice| !left_out.contains(&choice.domain)).collect()
}

#[test]
fn at_ballots_it_takes_a_partition_and_a_lost_vote() {
    let faults = Faults::AtBallots;
    let scenario = Scenario { bug: Bug::VoteNotPersisted, faults, ..Scenario::default() };
    let mut found = 0;
    for seed in 0..200 {
        let sim = recording(seed);
        if scenario.run(&sim).unwrap().finding.is_none() {
            continue;
        }
        found += 1;
        for (word, is_needed) in [("is cut off", true), ("votes for", true), ("duplicate", false)] {
            let mut config = SimConfig::default();
            config.replay = Some(choices_without(&sim, word));
            let replayed = scenario.run(&Sim::with_config(seed, config)).unwrap();
            let passes = replayed.finding.is_none();
            assert!(passes || !is_needed, "seed {seed} needs nothing with `{word}` in it");
        }
    }
    assert!(found >= 5, "only {found} seeds of 200 found it");
}
