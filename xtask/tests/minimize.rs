//! `cargo xtask minimize` and `trace` as they are typed, on the records of a sweep that fails.
//!
//! The test that is swept is one of detsim's own that fail on purpose. Built without the
//! simulation's cfg only: what is called here is the same either way.

#![cfg(not(detsim))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The test that fails: two locks in opposite orders among twenty tasks of noise.
const TEST: &str = "races::two_locks_among_noise";

/// A sweep of it, with the records in a directory of their own.
struct Swept {
    out: PathBuf,
    seed: String,
}

/// What a command printed, and whether it succeeded.
struct Said {
    passed: bool,
    out: String,
    err: String,
}

impl Said {
    fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().expect("the command starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("reports are UTF-8");
        Self { passed: status.success(), out: text(stdout), err: text(stderr) }
    }

    #[track_caller]
    fn printed(self) -> String {
        assert!(self.passed, "must succeed:\n{}\n{}", self.out, self.err);
        assert!(!self.out.contains('\x1b'), "no colours where there is no terminal");
        self.out
    }

    #[track_caller]
    fn refused(self) -> String {
        assert!(!self.passed, "must fail:\n{}", self.out);
        self.err
    }
}

fn sweep(name: &str) -> Swept {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _none = fs::remove_dir_all(&out);
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["test", "--package=detsim", "--test=it", TEST]);
    cargo.args(["--", "--exact", "--include-ignored"]);
    let said = Said::of(cargo.env("DETSIM_OUT", &out).env("DETSIM_SEEDS", "60"));
    assert!(!said.passed, "the bug is found");
    let text = said.out + &said.err;
    let (_, seeds) = text.split_once("failing seeds: [").unwrap_or_else(|| panic!("{text}"));
    let seed = seeds.split([',', ']']).next().expect("a text has a first part").to_owned();
    Swept { out, seed }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a member")
}

fn xtask(args: &[&str]) -> Said {
    Said::of(Command::new(env!("CARGO_BIN_EXE_xtask")).args(args))
}

impl Swept {
    fn record(&self) -> PathBuf {
        self.out.join(format!("it.{}", TEST.replace("::", "."))).join(&self.seed)
    }

    fn minimize(&self, more: &[&str]) -> Said {
        let out = self.out.to_str().expect("a path in UTF-8");
        xtask(&[&["minimize", self.seed.as_str(), "--out", out], more].concat())
    }

    /// The report, and the files that hold the minimised run.
    fn minimized(&self) -> (String, [Vec<u8>; 3]) {
        let names = ["minimized.txt", "minimized.bin", "minimized-trace.bin"];
        let files = names.map(|name| self.record().join(name));
        for file in &files {
            let _none = fs::remove_file(file);
        }
        let report = self.minimize(&[]).printed();
        (report, files.map(|file| fs::read(file).expect("what is minimised is kept")))
    }
}

#[test]
fn a_seed_is_minimised_twice_to_the_same_bytes_and_shown() {
    let swept = sweep("minimized-twice");
    let (report, files) = swept.minimized();
    assert!(swept.minimized() == (report.clone(), files.clone()), "it differs:\n{report}");
    assert_eq!(report.as_bytes(), files[0]);
    for part in ["it takes:\n", "what led to it:\n", "passes; the two runs part here:\n"] {
        assert!(report.contains(part), "{part:?} is not in:\n{report}");
    }
    let (text, command) = report.trim_end().rsplit_once('\n').expect("several lines");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    replays_as_printed(command.strip_prefix("reproduce with: ").expect("the last line"));
    is_shown(&swept);
    goes_on_where_it_was_ended(&swept);
}

/// The last line, typed.
fn replays_as_printed(command: &str) {
    let said = Said::of(Command::new("sh").current_dir(root()).args(["-c", command]));
    let text = said.out + &said.err;
    let hash = "choices: the recorded run, to its hash";
    assert!(!said.passed && text.contains(hash), "`{command}` says:\n{text}");
}

fn is_shown(swept: &Swept) {
    let record = swept.record();
    let record = record.to_str().expect("a path in UTF-8");
    for (command, part) in [
        ("view", "go on with: --from "),
        ("stats", "picks by task"),
        ("diff", "decisions from a to b: "),
    ] {
        let text = xtask(&["trace", command, record]).printed();
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    for (format, start) in [("json", "{"), ("perfetto", "{"), ("html", "<!doctype html>")] {
        let text = xtask(&["trace", "export", record, "--format", format]).printed();
        assert!(text.starts_with(start), "{format}: {}", &text[..40]);
    }
}

/// A search that its budget ended is said to be one, and the next goes on from there.
fn goes_on_where_it_was_ended(swept: &Swept) {
    let kept = swept.record().join("minimized.bin");
    fs::remove_file(&kept).expect("it was there");
    let first = swept.minimize(&["--replays", "12"]).printed();
    assert!(first.contains("the search ended early"), "{first}");
    let rest = swept.minimize(&[]).printed();
    assert!(!rest.contains("ended early") && runs(&rest) < 100, "{rest}");
    // One that was killed may have left half of a file: it begins anew, and says nothing of it.
    fs::write(&kept, &fs::read(&kept).expect("it is there")[..50]).expect("it can be written");
    assert!(runs(&swept.minimize(&[]).printed()) > 10);
}

/// How many runs the report says that it took.
fn runs(report: &str) -> u32 {
    let line = report.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let (_, rest) = line.split_once(" needed (").unwrap_or_else(|| panic!("{report}"));
    rest.split(' ').next().and_then(|runs| runs.parse().ok()).expect("a number of runs")
}

#[test]
fn what_cannot_be_minimised_says_why_and_what_to_do() {
    let swept = sweep("minimized-not");
    let none = Swept { seed: "987654321".to_owned(), out: swept.out.clone() };
    let why = none.minimize(&[]).refused();
    assert!(why.contains("there is no record of seed 987654321 in "), "{why}");
    assert!(why.contains("run the test that fails once more, or name the directory"), "{why}");
    let why = swept.minimize(&["--test", "another"]).refused();
    assert!(why.contains("there is no record of seed "), "{why}");

    is_told_apart(&swept);

    let choices = swept.record().join("choices.bin");
    let whole = fs::read(&choices).expect("the record is there");
    let mut newer = whole.clone();
    newer[8] = 9;
    for (bytes, why) in [
        (&whole[..whole.len() / 2], "its bytes are not what was written; run its seed again"),
        (b"PNG", "it is no file of choices; name the directory of a failing run"),
        (&newer, "a later detsim wrote it (format 9, and this one reads up to 1)"),
    ] {
        fs::write(&choices, bytes).expect("it can be written");
        let said = swept.minimize(&[]).refused();
        assert!(said.contains("was not minimised") && said.contains(why), "{said}");
    }
    fs::remove_file(&choices).expect("it is there");
    let said = swept.minimize(&[]).refused();
    assert!(said.contains("No such file or directory"), "{said}");
    fs::remove_file(swept.record().join("env.toml")).expect("it is there");
    assert!(swept.minimize(&[]).refused().contains("there is no record of seed "));
}

/// Two tests that failed with the same seed.
fn is_told_apart(swept: &Swept) {
    let other = swept.out.join("it.races.another").join(&swept.seed);
    fs::create_dir_all(&other).expect("it can be made");
    let env = fs::read_to_string(swept.record().join("env.toml")).expect("the record is there");
    let env = env.replace(TEST, "races::another");
    fs::write(other.join("env.toml"), env).expect("it can be written");
    let why = swept.minimize(&[]).refused();
    let tests = format!("failed in it::races::another, it::{TEST}; name one by --test");
    assert!(why.contains(&tests), "{why}");
    fs::remove_dir_all(other.parent().expect("it is in one")).expect("it can be removed");
}

#[test]
fn what_is_no_trace_says_so() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-trace");
    fs::create_dir_all(&dir).expect("it can be made");
    let (foreign, empty) = (dir.join("picture"), dir.join("empty"));
    fs::write(&foreign, b"\x89PNG and more of it").expect("it can be written");
    fs::write(&empty, b"").expect("it can be written");
    let missing = dir.join("none");
    for command in ["view", "stats", "diff"] {
        for path in [&foreign, &empty, &missing, &dir] {
            let why = xtask(&["trace", command, path.to_str().expect("a path in UTF-8")]).refused();
            assert!(why.starts_with("xtask: detsim: ") && why.lines().count() < 4, "{why}");
            assert!(!why.contains("panicked"), "{why}");
        }
    }
    let into = ["-o", "/proc/none/page.html", "--format", "html"];
    let path = foreign.to_str().expect("a path in UTF-8");
    assert!(xtask(&[&["trace", "export", path], &into[..]].concat()).refused().contains("detsim"));
}
