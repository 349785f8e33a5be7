//! The world finds the planted bug, and nothing else.

use detsim_fs::FaultProfile;
use expect_test::expect;
use kv::{Checksums, Finding, Options, PROFILE, Step, run, trial, trial_on};

fn is_corrupted(finding: Option<&Finding>) -> bool {
    matches!(finding, Some(Finding::Corrupted { .. }))
}

#[test]
fn without_checksums_corrupt_data_is_served() {
    let found = (0..5_000)
        .map(|seed| trial(seed, Checksums::Off))
        .find(|trial| is_corrupted(trial.finding.as_ref()));
    expect!["seed=4 CORRUPTED: key0 got …====l=======… want …============…"]
        .assert_eq(&found.expect("a seed below 5,000").to_string());
}

#[test]
fn with_checksums_it_never_is() {
    let mut corrupt_bytes = 0;
    for seed in 0..2_000 {
        let trial = trial(seed, Checksums::On);
        assert_eq!(trial.finding, None, "{trial}");
        corrupt_bytes += trial.faults.corrupt_bytes;
    }
    assert!(corrupt_bytes > 500, "{corrupt_bytes}: the disk was too kind");
}

#[test]
fn what_was_synced_is_never_lost_where_no_byte_is_damaged() {
    let profile = FaultProfile { corrupt_byte_rate: 0.0, ..PROFILE };
    let (mut torn, mut reordered) = (0, 0);
    for seed in 0..2_000 {
        let trial = trial_on(profile, seed, Checksums::On);
        assert_eq!(trial.finding, None, "{trial}");
        torn += trial.faults.torn_writes;
        reordered += trial.faults.reordered_crashes;
    }
    assert!(torn > 500 && reordered > 500, "{torn}, {reordered}: the disk was too kind");
}

#[test]
fn a_disk_that_lies_about_sync_is_found_out() {
    let profile = FaultProfile { skip_sync_rate: 0.5, ..FaultProfile::default() };
    let lost = (0..50)
        .map(|seed| trial_on(profile, seed, Checksums::On))
        .find(|trial| matches!(trial.finding, Some(Finding::Lost { .. })));
    expect!["seed=0 LOST: got 0 entries want at least the 11 synced"]
        .assert_eq(&lost.expect("a seed below 50").to_string());
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for checksums in [Checksums::On, Checksums::Off] {
        for seed in 0..200 {
            let (first, second) = (trial(seed, checksums), trial(seed, checksums));
            assert!(first.trace.iter().any(|step| matches!(step, Step::Crash(_))));
            assert_eq!(first, second);
        }
    }
    assert_ne!(trial(0, Checksums::On).trace, trial(1, Checksums::On).trace);
}

#[test]
fn a_run_prints_one_line_a_seed() {
    let mut out = Vec::new();
    let options = Options { seed: 0, trials: 8, checksums: Checksums::Off };
    assert!(run(&options, &mut out).unwrap());
    expect![[r#"
        seed=0 ok: crashes 4, reordered 0, torn writes 1, corrupt bytes 0
        seed=1 ok: crashes 4, reordered 0, torn writes 1, corrupt bytes 1
        seed=2 ok: crashes 4, reordered 1, torn writes 0, corrupt bytes 3
        seed=3 ok: crashes 4, reordered 0, torn writes 0, corrupt bytes 0
        seed=4 CORRUPTED: key0 got …====l=======… want …============…
        seed=5 ok: crashes 4, reordered 1, torn writes 1, corrupt bytes 1
        seed=6 CORRUPTED: key4 got …====\xb8=======… want …============…
        seed=7 CORRUPTED: key0 got …====5=======… want …============…
    "#]]
    .assert_eq(&String::from_utf8(out).unwrap());

    let options = Options { checksums: Checksums::On, ..options };
    assert!(!run(&options, &mut Vec::new()).unwrap());
}
