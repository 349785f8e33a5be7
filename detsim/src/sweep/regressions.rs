//! Choice sets that were committed beside the tests: replayed before the first seed.
//!
//! Owns: where they are (`tests/detsim-regressions/<test>/<seed>.bin`, with the story beside it for
//! people), saving one, and what is said of one that fails again or no longer applies. Does not own:
//! the format ([`crate::failures::tape`]) nor how a set is run (`replay.rs`). Invariant: a file that
//! cannot be read fails the test; one whose choices never come up is told and fails nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::records::Shelf;
use super::replay;
use super::tally::{Result as Run, Tally};
use super::{fail, show_output, summary};
use crate::attempt::Body;
use crate::console;
use crate::failures::tape::Tape;
use crate::outcome::{Keeps, Verdict};
use crate::spec::Spec;

/// Below the directory of a package, which is where its tests run.
const DIRECTORY: &str = "tests/detsim-regressions";

/// The directory of a test's regressions.
fn directory(spec: &Spec) -> PathBuf {
    Path::new(DIRECTORY).join(spec.path.replace("::", "."))
}

/// Runs the regressions of a test. Comes back where none of them fails.
pub(super) fn run(shelf: &Shelf<'_>, body: Body<'_>) {
    let mut remarks = Vec::new();
    for file in files(&directory(shelf.spec)) {
        let tape = Tape::read(&file).unwrap_or_else(|why| fail(why.to_string()));
        replay::check_test(shelf.spec, &tape).unwrap_or_else(|why| fail(why));
        let run = replay::run_once(shelf, body, &tape, Keeps::All);
        let run = run.unwrap_or_else(|lost| fail(lost));
        match run.outcome.verdict {
            Verdict::Fail(_) => again(shelf, &file, &tape, run),
            Verdict::Pass => remarks.extend(stale(&file, &tape, &run)),
        }
    }
    for remark in remarks {
        console::draw(&format!("{remark}\n"));
    }
}

/// The files of choices, in the order of their seeds.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_tape = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "bin");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_tape).collect();
    files.sort_by_key(|file| (file.file_stem().map_or(0, |stem| stem.len()), file.clone()));
    files
}

/// Ends the test: what was once mended fails again.
fn again(shelf: &Shelf<'_>, file: &Path, tape: &Tape, run: Run) -> ! {
    show_output(tape.seed, &run.output);
    let mut tally = Tally::new(tape.seed, 1);
    tally.enter(0, run);
    let told = tally.buckets().iter().map(|bucket| summary::failure(bucket, shelf.spec)).collect();
    let file = file.display();
    let headline = format!("detsim: the regression {file} fails again; no seed was run");
    let command = summary::replay(shelf.spec, &shelf.origin, &file.to_string());
    let lines: [String; 3] = [told, headline, command];
    fail(lines.join("\n"))
}

/// What is to be said of a set that does not lead to where it did, because the program has become
/// another one.
fn stale(file: &Path, tape: &Tape, run: &Run) -> Option<String> {
    let unused = run.outcome.recording.as_ref()?.unused;
    (unused > 0).then(|| {
        format!(
            "detsim: the regression {} no longer applies: {unused} of its {} choices never came \
             up; the program has changed since it was saved; delete it, or save the failure anew",
            file.display(),
            tape.choices.len()
        )
    })
}

/// Keeps a minimised run as a regression, with its story; what is returned says where.
pub(super) fn save(spec: &Spec, tape: &Tape, story: &str) -> String {
    let file = directory(spec).join(format!("{}.bin", tape.seed));
    match write(&file, tape, story) {
        Ok(()) => format!("saved as {}; commit it: every run begins with it", file.display()),
        Err(error) => format!("detsim: {} cannot be written: {error}", file.display()),
    }
}

fn write(file: &Path, tape: &Tape, story: &str) -> io::Result<()> {
    fs::create_dir_all(file.parent().expect("invariant: the file is in a directory"))?;
    fs::write(file.with_extension("txt"), story)?;
    tape.write(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regressions_come_in_the_order_of_their_seeds() {
        let root = std::env::temp_dir().join(format!("detsim-regressions-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        for name in ["100.bin", "16.bin", "16.txt", "9.bin"] {
            fs::write(root.join(name), "").unwrap();
        }
        let names = ["9.bin", "16.bin", "100.bin"].map(|name| root.join(name));
        assert_eq!(files(&root), names);
        assert!(files(&root.join("none")).is_empty());
        fs::remove_dir_all(root).unwrap();
    }
}
