//! Tests of the module above.

use super::*;

fn anchor(ordinal: u32) -> Anchor {
    Anchor { actor: 7, ordinal }
}

fn fresh(recording: bool) -> (Choices, Domain) {
    let mut choices = Choices::default();
    choices.reset(42, Records::of(false, recording));
    let net = choices.domain("net/a/b");
    (choices, net)
}

fn run(choices: &mut Choices, domain: Domain) -> Vec<u64> {
    (0..20).map(|i| choices.draw(domain, anchor(i / 2), 4, 0)).collect()
}

#[test]
fn a_draw_in_one_domain_shifts_no_other() {
    let (mut a, net_a) = fresh(false);
    let (mut b, net_b) = fresh(false);
    let disk = b.domain("disk/a");
    b.draw(disk, anchor(0), 100, 0);
    assert_eq!(run(&mut a, net_a), run(&mut b, net_b));
}

#[test]
fn recording_changes_nothing_and_keeps_what_is_not_default() {
    let (mut plain, d) = fresh(false);
    let (mut recorded, e) = fresh(true);
    let drawn = run(&mut plain, d);
    assert_eq!(drawn, run(&mut recorded, e));
    assert_eq!(recorded.recorded().len(), drawn.iter().filter(|v| **v != 0).count());
}

#[test]
fn the_whole_set_replays_the_run() {
    let (mut first, d) = fresh(true);
    let drawn = run(&mut first, d);
    let set = first.recorded().to_vec();
    let mut again = Choices::default();
    again.reset(1, Records::Nothing); // the seed no longer matters
    again.replay(&set);
    let e = again.domain("net/a/b");
    assert_eq!(drawn, run(&mut again, e));
    assert_eq!(again.unused(), 0);
}

#[test]
fn any_subset_is_a_legal_run() {
    let (mut first, d) = fresh(true);
    let drawn = run(&mut first, d);
    let kept = first.recorded()[1];
    let stray = Choice { anchor: Anchor { actor: 99, ordinal: 0 }, ..kept };
    let mut again = Choices::default();
    again.reset(42, Records::Nothing);
    again.replay(&[kept, stray]);
    let e = again.domain("net/a/b");
    let values = run(&mut again, e);
    let different: Vec<_> = values.iter().filter(|v| **v != 0).collect();
    assert_eq!(different, [&kept.picked]);
    assert!(drawn.contains(&kept.picked));
    assert_eq!(again.unused(), 1, "the anchor that never came up");
}

#[test]
fn a_value_out_of_bounds_is_the_default() {
    let (mut choices, _) = fresh(false);
    let domain = hash_bytes(b"net/a/b");
    let wild = Choice { domain, anchor: anchor(0), occurrence: 0, picked: 17, default: 0 };
    choices.replay(&[wild]);
    let d = choices.domain("net/a/b");
    assert_eq!(choices.draw(d, anchor(0), 4, 1), 1);
}

#[test]
fn a_chance_of_nothing_draws_nothing() {
    let (mut a, d) = fresh(false);
    let (mut b, e) = fresh(false);
    assert!(!a.happens(d, anchor(0), Ratio::NEVER));
    assert_eq!(run(&mut a, d), run(&mut b, e));
    assert!((0..50).any(|i| a.happens(d, anchor(i), Ratio::new(1, 4))));
    assert!(a.happens(d, anchor(0), Ratio::ALWAYS));
}

#[test]
fn what_happens_is_recorded_as_one_and_what_does_not_is_left_out() {
    let ratio = Ratio::new(1, 4);
    let (mut plain, d) = fresh(false);
    let (mut recorded, e) = fresh(true);
    let run = |choices: &mut Choices, domain| {
        (0..100).map(|i| choices.happens(domain, anchor(i), ratio)).collect::<Vec<_>>()
    };
    let drawn = run(&mut plain, d);
    assert_eq!(run(&mut recorded, e), drawn);
    let set = recorded.recorded().to_vec();
    assert!(set.iter().all(|choice| choice.picked == 1));
    assert_eq!(set.len(), drawn.iter().filter(|happens| **happens).count());

    let (mut replayed, f) = fresh(false);
    replayed.replay(&set[1..]);
    let again = run(&mut replayed, f);
    let differs = |i: &usize| again[*i] != drawn[*i];
    assert_eq!((0..100).filter(differs).collect::<Vec<_>>(), [set[0].anchor.ordinal as usize]);
}

#[test]
fn a_number_that_is_rare_is_one_choice() {
    let ratio = Ratio::new(1, 4);
    let run = |choices: &mut Choices, domain| {
        (0..100).map(|i| choices.draw_rarely(domain, anchor(i), ratio, 9)).collect::<Vec<_>>()
    };
    let (mut plain, d) = fresh(false);
    let (mut recorded, e) = fresh(true);
    let drawn = run(&mut plain, d);
    assert_eq!(run(&mut recorded, e), drawn);
    let set = recorded.recorded().to_vec();
    let others: Vec<_> = drawn.iter().copied().filter(|value| *value != 0).collect();
    assert_eq!(set.iter().map(|choice| choice.picked).collect::<Vec<_>>(), others);
    assert!((10..35).contains(&others.len()) && others.iter().all(|value| *value < 9));

    let (mut replayed, f) = fresh(false);
    replayed.replay(&set[1..]);
    let again = run(&mut replayed, f);
    let differs = |i: &usize| again[*i] != drawn[*i];
    assert_eq!((0..100).filter(differs).collect::<Vec<_>>(), [set[0].anchor.ordinal as usize]);
}

#[test]
fn what_never_happens_draws_nothing() {
    let (mut a, d) = fresh(false);
    let (mut b, e) = fresh(false);
    assert!(!a.happens(d, anchor(0), Ratio::NEVER));
    assert!(b.happens(e, anchor(0), Ratio::ALWAYS));
    assert_ne!(run(&mut a, d), run(&mut b, e));
}

#[test]
fn a_replay_records_what_took_effect() {
    let (mut first, d) = fresh(true);
    run(&mut first, d);
    let kept = first.recorded()[1];
    let wild = Choice { picked: 17, ..first.recorded()[0] };
    let mut again = Choices::default();
    again.reset(42, Records::Nothing);
    again.replay(&[wild, kept]);
    let e = again.domain("net/a/b");
    run(&mut again, e);
    assert_eq!(again.recorded(), [kept]);
    assert!(again.notes().is_empty());
}

#[test]
fn notes_say_which_domain_and_what_was_drawn() {
    let mut choices = Choices::default();
    choices.reset(42, Records::Notes);
    let net = choices.domain("net/a/b");
    run(&mut choices, net);
    let notes = choices.notes();
    assert_eq!(notes.len(), choices.recorded().len());
    assert_eq!(notes[0].domain, "net/a/b");
    let picked = choices.recorded()[0].picked;
    assert_eq!(notes[0].decided, Decided::Drawn { value: picked, bound: 4 });
    assert_eq!(choices.domain_names().collect::<Vec<_>>(), [(hash_bytes(b"net/a/b"), "net/a/b")]);
}
