//! What detsim says of each kernel, and what it takes to say it.
//!
//! Each test sweeps one of the `buggy` tests of this binary in a process of its own, as a user would,
//! and holds the minimised report against `tests/reports`. Run with `UPDATE_EXPECT=1` to see a report
//! change.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use expect_test::expect_file;

/// What came of the sweep of one kernel.
pub(crate) struct Found {
    /// The bug.
    name: String,
    /// What the sweep said.
    said: String,
    /// The minimised report, without the command at its end.
    story: String,
}

/// An empty directory for the records of a kernel, apart from those of other tests.
fn fresh(kernel: &str) -> PathBuf {
    let thread = thread::current();
    let test = thread.name().unwrap_or("main").replace("::", ".");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernels-{test}-{kernel}"));
    let _none = fs::remove_dir_all(&out);
    out
}

/// This binary again, with one of its tests.
fn again(test: &str, vars: &[(&str, &str)]) -> String {
    let mut command = Command::new(env::current_exe().expect("a test knows its binary"));
    command.args([test, "--exact", "--include-ignored", "--nocapture"]).envs(vars.iter().copied());
    let output = command.output().expect("a test can start its binary");
    [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat()
}

/// Sweeps the test of a bug, and minimises what it finds: the last of its failures.
pub(crate) fn sweep_of(module: &str, name: &str) -> Found {
    failures_of(module, name).pop().expect("invariant: at least one was found")
}

/// Sweeps the test of a bug, and minimises what it finds: one for each way in which it fails.
pub(crate) fn failures_of(module: &str, name: &str) -> Vec<Found> {
    let out = fresh(&format!("{module}-{name}"));
    let vars = [("DETSIM_OUT", out.to_str().expect("a path in UTF-8")), ("DETSIM_MINIMIZE", "1")];
    let said = again(&format!("{module}::{name}"), &vars);
    let stories = stories(&out);
    assert!(!stories.is_empty(), "nothing was found:\n{said}");
    let found = |story: String| {
        let end = story.find("\nreproduce with: ").expect("a report ends with a command");
        Found { name: name.to_owned(), said: said.clone(), story: story[..end].to_owned() }
    };
    stories.into_iter().map(found).collect()
}

/// The minimised reports below a directory of records, in their order.
fn stories(out: &Path) -> Vec<String> {
    let tests = fs::read_dir(out).into_iter().flatten().flatten();
    let seeds = tests.filter_map(|test| fs::read_dir(test.path()).ok()).flatten().flatten();
    let mut paths: Vec<PathBuf> = seeds.map(|seed| seed.path().join("minimized.txt")).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

impl Found {
    /// The report says all of this, wherever its lines break.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) {
        let words = self.words();
        let missing = parts.iter().find(|part| !words.contains(**part));
        assert_eq!(missing, None, "is not in:\n{}", self.story);
    }

    /// The report says nothing of this.
    #[track_caller]
    pub(crate) fn says_not(&self, parts: &[&str]) {
        let words = self.words();
        let found = parts.iter().find(|part| words.contains(**part));
        assert_eq!(found, None, "is in:\n{}", self.story);
    }

    fn words(&self) -> String {
        self.story.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The report is the one of this name in `tests/reports`, and fits a terminal.
    #[track_caller]
    pub(crate) fn is_reported_as(&self, name: &str) {
        assert!(self.story.lines().all(|line| line.chars().count() <= 100), "{}", self.story);
        let report =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reports/{name}.txt"));
        expect_file![report].assert_eq(&self.without_numbers());
    }

    /// The report without what another scheduler would draw otherwise: the seed, and how far the
    /// search had to go.
    fn without_numbers(&self) -> String {
        let (head, rest) = self.story.split_once("\n\n").expect("a headline");
        let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
        let (start, seed) = head.split_once(", seed ").expect("a headline names the seed");
        let (seed, rest_of_head) = seed.split_once(": ").expect("and goes on");
        let (_, needed) = rest_of_head.split_once("default, ").expect("and says what is needed");
        let (needed, _) = needed.rsplit_once(" (").expect("and how long that took");
        let rest = rest.replace(&format!("seed {seed}"), "seed #");
        format!("{start}: {needed}\n\n{rest}")
    }

    /// The lowest seed that fails.
    fn first(&self) -> u64 {
        let (_, seeds) = self.said.split_once("failing seeds: [").expect("the sweep fails");
        let end = seeds.find([',', ']']).expect("a list has an end");
        seeds[..end].parse().expect("seeds are numbers")
    }

    /// What the headline of the report says in numbers.
    pub(crate) fn figures(&self) -> Figures {
        let (head, _) = self.story.split_once("\n\n").expect("a headline");
        let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, rest) = head.split_once(": of ").expect("so many there were");
        let (start, runs) = rest.rsplit_once(" (").expect("the runs stand in brackets");
        let left = match start.contains(", it fails without any") {
            true => "0",
            false => start.split(' ').rev().nth(2).expect("so many are needed"),
        };
        let number = |text: &str| {
            let digits = text.split(' ').next().expect("a text has a first word");
            if digits == "one" { 1 } else { digits.parse().expect("a number") }
        };
        let same = runs.contains("; 100 of 100 repeats fail the same way");
        Figures { from: number(start), left: number(left), runs: number(runs), same }
    }
}

/// What it took to minimise a failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// Decisions that there were.
    pub(crate) from: u32,
    /// Those that are left.
    pub(crate) left: u32,
    /// Runs.
    pub(crate) runs: u32,
    /// Each of a hundred more runs failed in the same way.
    pub(crate) same: bool,
}

/// Demands that so few decisions are left after so few runs, and that they always fail.
#[track_caller]
pub(crate) fn at_most(found: &Found, decisions_max: u32, runs_max: u32) {
    let figures = found.figures();
    let is_few = figures.left <= decisions_max && figures.runs <= runs_max;
    assert!(is_few && figures.same, "{}: {figures:?}:\n{}", found.name, found.story);
}

/// Demands that the bug is found within so many seeds, that its report says all of `says`, and that
/// few decisions are left.
#[track_caller]
fn check(kernel: &str, within: u64, says: &[&str]) {
    let found = sweep_of("buggy", kernel);
    assert!(found.first() < within, "{kernel}: first found by seed {}", found.first());
    at_most(&found, 2, 20);
    found.says(says);
    found.is_reported_as(kernel);
}

#[test]
fn ab_ba_is_a_cycle_of_two() {
    let held = "held by task 2 at examples/kernels/src/ab_ba.rs:23";
    check("ab_ba", 100, &["DEADLOCK", "cycle: task 1 -> task 2 -> task 1", held]);
}

#[test]
fn an_abort_between_the_halves_is_one_decision() {
    let at = "at src/abort_mid_transfer.rs:22 task 1, before lock";
    check("abort_mid_transfer", 50, &["money is gone", "one is needed", at]);
}

#[test]
fn who_waits_for_a_word_that_was_said_is_named() {
    let waits = "waits: notified at examples/kernels/src/check_then_wait.rs:26";
    check("check_then_wait", 100, &["DEADLOCK", waits, "notify Notify"]);
}

#[test]
fn a_read_that_is_cut_off_puts_the_stream_out_of_step() {
    check("framed_select", 50, &["PANIC", "the stream is out of step", "one is needed"]);
}

#[test]
fn a_slot_that_nobody_has_is_told_as_such() {
    let waits = "waits: acquire at examples/kernels/src/permit_leak_on_cancel.rs:39";
    check("permit_leak_on_cancel", 20, &["DEADLOCK", waits, "one is needed"]);
}

#[test]
fn relock_waits_for_itself() {
    let held = "held by task 0 \"main\" at examples/kernels/src/relock.rs:24";
    check("relock", 1, &["it fails without any", "waits for itself", held]);
}

#[test]
fn both_ends_of_full_channels_are_named() {
    let sends = ["waits: send at examples/kernels/src/req_resp_full.rs:29"];
    check("req_resp_full", 1, &["it fails without any", sends[0], "req_resp_full.rs:15"]);
}

#[test]
fn ring3_is_one_cycle_of_three() {
    check("ring3", 100, &["DEADLOCK", "cycle: task 1 -> task 2 -> task 3 -> task 1"]);
}

#[test]
fn a_reader_that_reads_again_waits_behind_the_writer_that_waits_for_it() {
    let waits = [
        "waits: read at examples/kernels/src/rw_recursive_read.rs:29",
        "waits: write at examples/kernels/src/rw_recursive_read.rs:45",
        "behind the writer task 2 at examples/kernels/src/rw_recursive_read.rs:45",
    ];
    check(
        "rw_recursive_read",
        100,
        &["cycle: task 1 -> task 2 -> task 1", waits[0], waits[1], waits[2]],
    );
}

#[test]
fn a_send_under_a_lock_is_a_cycle_over_a_channel() {
    let waits = "waits: send at examples/kernels/src/send_under_lock.rs:23";
    check("send_under_lock", 100, &["DEADLOCK", waits, "cycle: task 1 -> task 2 -> task 1"]);
}

#[test]
fn who_came_in_between_is_named() {
    let at = "at src/toctou_await.rs:20 task 2, before unlock";
    check("toctou_await", 50, &["2 passengers on 1 seat", "2 are needed", at]);
}
