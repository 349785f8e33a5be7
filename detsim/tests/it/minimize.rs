//! Failing runs are recorded, replayed to their hash, and cut down to what matters.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;

use super::{Said, harness};

/// Runs a race with a directory of its own for its records.
fn race(name: &str, out: &Path, vars: &[(&str, &str)]) -> Said {
    let vars = [vars, &[("DETSIM_OUT", out.to_str().expect("a path in ASCII"))]].concat();
    let said = harness(&[&format!("races::{name}"), "--exact", "--nocapture"], &vars);
    said.has("running 1 test");
    said
}

/// Where [`fresh`] makes a directory.
pub(crate) fn fresh_path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("detsim-it-{name}"))
}

/// An empty directory.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let out = fresh_path(name);
    let _none = fs::remove_dir_all(&out);
    out
}

/// The seeds of which there are records with choices.
fn recorded(out: &Path, test: &str) -> Vec<u64> {
    let entries = fs::read_dir(out.join(format!("it.races.{test}"))).expect("records are written");
    let seeds = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let has_choices = path.join("choices.bin").is_file();
        path.file_name()?.to_str()?.parse().ok().filter(|_| has_choices)
    });
    let mut seeds: Vec<u64> = seeds.collect();
    seeds.sort_unstable();
    seeds
}

fn record(out: &Path, test: &str, seed: u64) -> String {
    out.join(format!("it.races.{test}/{seed}")).to_str().expect("a path in ASCII").to_owned()
}

#[test]
fn every_failure_leaves_what_it_takes_to_run_it_again() {
    let out = fresh("records");
    race("two_locks", &out, &[]).failed().has("failed: deadlock");
    let seeds = recorded(&out, "two_locks");
    assert_eq!(seeds.len(), 4, "of each signature the first and the shortest: {seeds:?}");
    let env = fs::read_to_string(format!("{}/env.toml", record(&out, "two_locks", seeds[0])));
    let env = env.expect("env.toml is written");
    for field in [
        &format!("seed = {}\n", seeds[0]),
        "test = \"it::races::two_locks\"\n",
        "package = \"detsim\"\n",
        "detsim = \"",
        "signature = \"deadlock detsim/tests/it/races.rs:",
        "command = \"cargo test -p detsim --test it races::two_locks -- --exact",
    ] {
        assert!(env.contains(field), "{field} is not in:\n{env}");
    }
    for file in ["report.txt", "choices.bin", "trace.bin"] {
        assert!(Path::new(&record(&out, "two_locks", seeds[0])).join(file).is_file(), "{file}");
    }
    assert!(!env.contains(env!("CARGO_MANIFEST_DIR")), "a path of this machine is in:\n{env}");
}

#[test]
fn a_record_replays_to_its_hash() {
    let out = fresh("replays");
    race("two_locks_among_noise", &out, &[("DETSIM_SEEDS", "40")]).failed();
    for seed in recorded(&out, "two_locks_among_noise") {
        let record = record(&out, "two_locks_among_noise", seed);
        for mode in ["0", "1"] {
            let vars = [("DETSIM_REPLAY", record.as_str()), ("DETSIM_IN_PROCESS", mode)];
            let said = race("two_locks_among_noise", &out, &vars);
            said.failed().has("failed: deadlock").has(" choices: the recorded run, to its hash\n");
            said.has("reproduce with: DETSIM_REPLAY=")
                .has(&format!("/{seed} cargo test -p detsim"));
        }
    }
}

#[test]
fn a_replay_of_changed_code_says_where_it_parts() {
    let out = fresh("edited");
    race("an_edited_race", &out, &[]).failed();
    let record = record(&out, "an_edited_race", recorded(&out, "an_edited_race")[0]);
    fs::write(out.join("edit"), "").expect("the directory can be written");
    let vars = [("DETSIM_REPLAY", record.as_str())];
    let said = race("an_edited_race", &out, &vars);
    said.has("it is another run than the recorded one: hash ").has("  recorded:\n").has("  now:\n");
    let now = said.between("  now:\n", "\n");
    assert!(now.contains("\"edit-0\" is spawned"), "{now}");
}

#[test]
fn what_cannot_be_replayed_says_why() {
    let out = fresh("refused");
    race("two_locks", &out, &[]).failed();
    let record = record(&out, "two_locks", recorded(&out, "two_locks")[0]);
    let replay = |path: &str| race("two_locks", &out, &[("DETSIM_REPLAY", path)]);
    race("a_lost_update", &out, &[("DETSIM_REPLAY", &record)])
        .failed()
        .has("is one of it::races::two_locks, and this is it::races::a_lost_update");
    replay("no/such/place").failed().has("detsim: no/such/place cannot be replayed: ");
    race("two_locks", &out, &[("DETSIM_REPLAY", &record), ("DETSIM_SEED", "3")])
        .failed()
        .has("detsim: DETSIM_SEED=3 cannot be used; allowed: not beside DETSIM_REPLAY");
    let file = format!("{record}/choices.bin");
    let mut bytes = fs::read(&file).expect("the record is there");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&file, &bytes).expect("the record can be written");
    replay(&record).failed().has("its bytes are not what was written");
    fs::write(&file, &bytes[..100]).expect("the record can be written");
    replay(&record).failed().has("its bytes are not what was written");
    replay(&format!("{record}/env.toml")).failed().has("it is no file of choices");
}

#[test]
fn what_cannot_be_kept_is_told_all_the_same() {
    let out = fresh("unwritable");
    let _none = fs::remove_file(&out);
    fs::write(&out, "a file, where a directory should be").expect("it can be written");
    let said = race("two_locks", &out, &[("DETSIM_MINIMIZE", "1")]);
    said.failed().has(" cannot be written: ").has("the minimised run cannot be kept: ");
    said.has("it takes:\n").has("failing seeds: [");
    fs::remove_file(&out).expect("it is there");
}

#[test]
fn two_locks_are_told_in_one_sentence() {
    let out = fresh("two-locks");
    let said = race("two_locks", &out, &[("DETSIM_MINIMIZE", "1")]);
    let story = said.failed().between("detsim: deadlock in races::two_locks", "reproduce with: ");
    assert!(story.lines().all(|line| line.chars().count() <= 100), "{story}");
    expect![[r#"
        , seed 170: of 2 decisions that are not the default, 2 are
                needed (4 runs; 100 of 100 repeats fail the same way)

        DEADLOCK at 0.000000s, step 5, seed 170: 2 tasks blocked, no timer or packet pending
          task 0 "ab", spawned at detsim/tests/it/races.rs:17
            waits: lock at detsim/tests/it/races.rs:20
              for the Mutex of detsim/tests/it/races.rs:14, since step 4
              held by task 1 "ba" at detsim/tests/it/races.rs:19
            stack: it::lock::Lock::poll_take at tests/it/lock.rs:66
                   it::lock::Lock::take at tests/it/lock.rs:40
                   it::races::opposite_orders at tests/it/races.rs:20
          task 1 "ba", spawned at detsim/tests/it/races.rs:17
            waits: lock at detsim/tests/it/races.rs:20
              for the Mutex of detsim/tests/it/races.rs:14, since step 5
              held by task 0 "ab" at detsim/tests/it/races.rs:19
            stack: it::lock::Lock::poll_take at tests/it/lock.rs:66
                   it::lock::Lock::take at tests/it/lock.rs:40
                   it::races::opposite_orders at tests/it/races.rs:20
          cycle: task 0 "ab" -> task 1 "ba" -> task 0 "ab"

        it takes:
          1. task 1 "ba" ran next instead of task 0 "ab" (0.000000s, step 0)
          2. at tests/it/lock.rs:53 task 1 "ba", before lock of Mutex of detsim/tests/it/races.rs:14, was
             stopped and task 0 "ab" ran instead (0.000000s, step 3)

        what led to it:
            step  task 0 "ab"                                   task 1 "ba"
               1                                                * is picked
               3                                                lock Mutex races.rs:14
               3                                                * stopped before lock Mutex 2 races.rs:14
               4  lock Mutex 2 races.rs:14
               4  waits: lock Mutex races.rs:14
               5                                                waits: lock Mutex 2 races.rs:14

        without decision 2 the test passes; the two runs part here:
               0.000000s        3  task 1 "ba" runs
               0.000000s        3  task 1 "ba" does lock on Mutex of detsim/tests/it/races.rs:14
          fails:
               0.000000s        3  task 1 "ba" is held before lock on Mutex of detsim/tests/it/races.rs:14
               0.000000s        4  task 0 "ab" runs
               0.000000s        4  task 0 "ab" does lock on Mutex of detsim/tests/it/races.rs:14
          passes:
               0.000000s        3  task 1 "ba" does lock on Mutex of detsim/tests/it/races.rs:14
               0.000000s        3  task 1 "ba" does unlock on Mutex of detsim/tests/it/races.rs:14
               0.000000s        3  task 1 "ba" does unlock on Mutex of detsim/tests/it/races.rs:14

    "#]].assert_eq(story);
}

#[test]
fn the_command_that_minimises_runs_as_printed() {
    let out = fresh("typed");
    let said = race("two_locks", &out, &[]);
    let command = said.failed().between("minimize with: ", "\n");
    let typed = Command::new("sh").args(["-c", command]).output().expect("there is a shell");
    let text = String::from_utf8_lossy(&typed.stdout) + String::from_utf8_lossy(&typed.stderr);
    assert!(!typed.status.success() && text.contains("it takes:\n"), "{text}");
    // And so does the command that the story ends with.
    let command = text.split_once("reproduce with: ").map(|(_, rest)| rest).unwrap_or_default();
    let command = command.split_once('\n').map_or(command, |(command, _)| command);
    let typed = Command::new("sh").args(["-c", command]).output().expect("there is a shell");
    let text = String::from_utf8_lossy(&typed.stdout) + String::from_utf8_lossy(&typed.stderr);
    assert!(text.contains(" choices: the recorded run, to its hash\n"), "{command}: {text}");
}

#[test]
fn the_bounds_are_the_users() {
    let out = fresh("bounds");
    race("two_locks_among_noise", &out, &[("DETSIM_SEEDS", "40")]).failed();
    let seed = recorded(&out, "two_locks_among_noise")[0];
    let record = record(&out, "two_locks_among_noise", seed);
    let vars = [("DETSIM_REPLAY", record.as_str()), ("DETSIM_MINIMIZE", "5")];
    let said = race("two_locks_among_noise", &out, &vars);
    let [from, left, runs] = numbers(&said);
    assert!(runs <= 5 && left < from, "{}", said.text);
    assert!(said.text.replace("\n       ", "").contains("the search ended early"), "{}", said.text);
    // The next one goes on from there.
    let vars = [("DETSIM_REPLAY", record.as_str()), ("DETSIM_MINIMIZE", "1")];
    let [_, fewer, _] = numbers(&race("two_locks_among_noise", &out, &vars));
    assert!(fewer < left && fewer <= 4, "{left}, then {fewer}");
}

#[test]
fn thousands_of_decisions_come_down_to_a_few() {
    let out = fresh("noise");
    race("two_locks_among_noise", &out, &[("DETSIM_SEEDS", "40")]).failed();
    for seed in recorded(&out, "two_locks_among_noise") {
        let record = record(&out, "two_locks_among_noise", seed);
        let vars = [("DETSIM_REPLAY", record.as_str()), ("DETSIM_MINIMIZE", "1")];
        let said = race("two_locks_among_noise", &out, &vars);
        let [from, left, runs] = numbers(&said);
        assert!(from > 3_000 && left <= 4 && runs < 200, "{}", said.text);
        let minimized = format!("{record}/minimized.bin");
        let said = race("two_locks_among_noise", &out, &[("DETSIM_REPLAY", &minimized)]);
        said.failed().has("failed: deadlock").has("the recorded run, to its hash");
        // What was saved is where the next one begins.
        let said = race("two_locks_among_noise", &out, &vars);
        let [_, again, runs] = numbers(&said);
        assert!(again == left && runs < 20, "{runs} runs of what is minimal already");
    }
}

/// How many decisions there were, how many are left, and how many runs that took.
fn numbers(said: &Said) -> [u64; 3] {
    let line = said.failed().between("detsim: deadlock in races::", "\n\n").replace('\n', " ");
    let number = |before: &str| {
        let (_, rest) = line.split_once(before)?;
        rest.trim_start().split(' ').next()?.parse().ok()
    };
    let left = line.split_once(" needed (").map_or("", |(start, _)| start);
    let left = left.split(' ').rev().nth(1).unwrap_or_default();
    let left = if left == "one" { Some(1) } else { left.parse().ok() };
    let all = [number(" of "), left, number(" needed (")];
    all.map(|number| number.unwrap_or_else(|| panic!("no number in {line}")))
}

#[test]
fn a_lost_message_is_named_and_latencies_are_not() {
    let out = fresh("lost-request");
    let said = race("a_lost_request", &out, &[("DETSIM_MINIMIZE", "1")]);
    let story = said.failed().between("it takes:\n", "what led to it:\n");
    assert!(story.contains(" was lost "), "{story}");
    assert_eq!(story.trim_end().lines().count(), 1, "{story}");
}

#[test]
fn the_attribute_asks_for_it_too() {
    let out = fresh("attribute");
    race("a_lost_update", &out, &[]).failed().has("it takes:\n").has("one is");
}
