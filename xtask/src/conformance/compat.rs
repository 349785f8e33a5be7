//! COMPAT.md and the closing table: how much of tokio is there, by module.
//!
//! Pure functions of what is expected, so that the page cannot say more than the file which every
//! run is held against. Owns which test program belongs to which of tokio's modules.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::expectations::{Expectations, Expected, Program};
use super::run::{Outcome, Results};

/// Beginnings of the names of programs, with the module that they test.
const MODULES: [(&str, &str); 16] = [
    ("duplex", "io"),
    ("fs", "fs"),
    ("io", "io"),
    ("join", "task"),
    ("macros", "macros"),
    ("net", "net"),
    ("process", "process"),
    ("rt", "runtime"),
    ("signal", "signal"),
    ("sync", "sync"),
    ("task", "task"),
    ("tcp", "net"),
    ("time", "time"),
    ("udp", "net"),
    ("uds", "net"),
    ("unix", "net"),
];

fn module(program: &str) -> &'static str {
    let start = program.split('_').next().unwrap_or_default();
    let found = MODULES.iter().find(|(beginning, _)| *beginning == start);
    found.map_or("other", |(_, module)| module)
}

/// What a module has of each.
#[derive(Clone, Copy, Default)]
struct Counts {
    passing: usize,
    todo: usize,
    skipped: usize,
    refused: usize,
}

impl Counts {
    fn add(&mut self, program: &Program) {
        let Program::Runs(tests) = program else {
            self.refused += 1;
            return;
        };
        for expected in tests.values() {
            match expected {
                Expected::Pass | Expected::Fifo => self.passing += 1,
                Expected::Todo | Expected::Flaky => self.todo += 1,
                Expected::Skip(_) => self.skipped += 1,
            }
        }
    }

    fn sum(self, other: Self) -> Self {
        Self {
            passing: self.passing + other.passing,
            todo: self.todo + other.todo,
            skipped: self.skipped + other.skipped,
            refused: self.refused + other.refused,
        }
    }

    fn row(self, name: &str) -> String {
        let Self { passing, todo, skipped, refused } = self;
        format!("| {name} | {passing} | {todo} | {skipped} | {refused} |\n")
    }
}

fn by_module(expectations: &Expectations) -> BTreeMap<&'static str, Counts> {
    let mut modules = BTreeMap::<_, Counts>::new();
    for (name, program) in &expectations.programs {
        modules.entry(module(name)).or_default().add(program);
    }
    modules
}

const HEAD: &str = "\
# What passes of tokio's own tests

The judge is tokio's test-suite, as published, uncopied, with the whole graph on the simulation:
`cargo xtask conformance`. That command writes this page; what it holds every single test to is in
`xtask/conformance/expectations.txt`. What is not simulated yet is tokio's own code, and a test that
needs nothing else passes on that.

| module | passing | to come | skipped | programs to come |
|---|---:|---:|---:|---:|
";

const REST: &str = "
*To come* is what does not pass yet. A *program to come* uses an API that is not there yet and does
not compile; its tests are not counted.
";

/// The text of COMPAT.md.
pub(super) fn page(expectations: &Expectations) -> String {
    let modules = by_module(expectations);
    let mut page = HEAD.to_owned();
    modules.iter().for_each(|(name, counts)| page += &counts.row(name));
    page += &modules.values().fold(Counts::default(), |sum, counts| sum.sum(*counts)).row("all");
    page += REST;
    page += &refused(expectations);
    page += &ordered(expectations);
    page += &skipped(expectations);
    page
}

/// The tests that ask for more than tokio promises.
fn ordered(expectations: &Expectations) -> String {
    let tests = expectations.ordered().map(|test| format!("- `{test}`\n")).collect::<String>();
    match tests.is_empty() {
        true => tests,
        false => format!("\n## Demand one order of tasks, and pass under `fifo`\n\n{tests}"),
    }
}

/// The programs that do not compile, which is where an API is missing.
fn refused(expectations: &Expectations) -> String {
    let refused = expectations.programs.iter().filter(|(_, program)| **program == Program::Todo);
    let names = refused.map(|(name, _)| format!("- `{name}`\n")).collect::<String>();
    if names.is_empty() { names } else { format!("\n## Programs to come\n\n{names}") }
}

/// The tests that a simulation cannot run, under their reasons.
fn skipped(expectations: &Expectations) -> String {
    let mut reasons = BTreeMap::<_, Vec<_>>::new();
    for (name, program) in &expectations.programs {
        let Program::Runs(tests) = program else { continue };
        for (test, expected) in tests {
            if let Expected::Skip(reason) = expected {
                reasons.entry(reason).or_default().push(format!("- `{name}::{test}`\n"));
            }
        }
    }
    reasons.iter().fold(String::new(), |mut text, (reason, tests)| {
        let _ = write!(text, "\n## Skipped: needs {reason}\n\n{}", tests.concat());
        text
    })
}

/// The closing table of a run: what was seen, by module.
pub(super) fn counts(expectations: &Expectations, results: &Results) -> String {
    let mut modules = BTreeMap::<_, (usize, usize, usize)>::new();
    for (test, outcome) in &results.tests {
        let (passed, failed, skipped) = modules.entry(module(&test.program)).or_default();
        match (outcome, expectations.of(test)) {
            (Outcome::Pass, _) => *passed += 1,
            (_, Some(Expected::Skip(_))) => *skipped += 1,
            _ => *failed += 1,
        }
    }
    let mut table = format!("{:<10} {:>7} {:>7} {:>7}\n", "module", "passed", "failed", "skipped");
    for (name, (passed, failed, skipped)) in modules {
        let _ = writeln!(table, "{name:<10} {passed:>7} {failed:>7} {skipped:>7}");
    }
    table += &names("does not compile", results.refused.iter());
    let hangs = results.tests.iter().filter(|(_, outcome)| **outcome == Outcome::Hang);
    table + &names("hangs", hangs.map(|(test, _)| test))
}

fn names<T: ToString>(what: &str, names: impl Iterator<Item = T>) -> String {
    let names = names.map(|name| name.to_string()).collect::<Vec<_>>();
    if names.is_empty() { String::new() } else { format!("{what}: {}\n", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn sample() -> Expectations {
        let text = "passing 2\n[sync_mpsc]\npass a\nfifo f\ntodo b\nskip c \"wall-clock timing\"\n\
                    [tcp_echo]\nskip d \"a real device\"\n[no_rt]\npass e\n[sync_watch] todo\n";
        text.parse().unwrap()
    }

    #[test]
    fn the_page_counts_by_module_and_lists_what_is_missing() {
        let page = page(&sample());
        expect![[r#"
            | net | 0 | 0 | 1 | 0 |
            | other | 1 | 0 | 0 | 0 |
            | sync | 2 | 1 | 1 | 1 |
            | all | 3 | 1 | 2 | 1 |

            *To come* is what does not pass yet. A *program to come* uses an API that is not there yet and does
            not compile; its tests are not counted.

            ## Programs to come

            - `sync_watch`

            ## Demand one order of tasks, and pass under `fifo`

            - `sync_mpsc::f`

            ## Skipped: needs a real device

            - `tcp_echo::d`

            ## Skipped: needs wall-clock timing

            - `sync_mpsc::c`
        "#]]
        .assert_eq(page.strip_prefix(HEAD).unwrap());
    }

    #[test]
    fn a_program_belongs_to_the_module_that_it_tests() {
        let modules = ["rt_basic", "udp", "uds_cred", "join_handle_panic", "buffered"].map(module);
        assert_eq!(modules, ["runtime", "net", "net", "task", "other"]);
    }
}
