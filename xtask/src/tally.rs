//! What libtest's own output says about a run of tests: how many passed, which failed.
//!
//! libtest has no stable machine-readable output, so its closing lines are read. A test binary
//! that dies prints none of them; the exit status of cargo says so, and this file does not.

use std::fmt;

/// Sums over all test binaries seen so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    /// Names of the failed tests, in the order in which they were reported.
    pub(crate) failures: Vec<String>,
}

impl Tally {
    /// Takes one line of a test binary's output.
    pub(crate) fn handle_line(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count(counts, " passed");
            self.failed += count(counts, " failed");
            self.skipped += count(counts, " ignored");
        } else if let Some(name) = failed_test(line) {
            self.failures.push(name.to_owned());
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
    }
}

/// The plain closing line that CI reads.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        match self.skipped {
            0 => Ok(()),
            skipped => write!(f, ", {skipped} skipped"),
        }
    }
}

/// The number in front of `what` in `ok. 3 passed; 0 failed; ..`, 0 where there is none.
fn count(counts: &str, what: &str) -> u64 {
    let field = counts.split([';', '.']).find_map(|field| field.strip_suffix(what));
    field.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// The name in `test NAME ... FAILED`, or in `test NAME - should panic ... FAILED`.
fn failed_test(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(output: &str, expect: Expect) {
        let mut tally = Tally::default();
        output.lines().for_each(|line| tally.handle_line(line));
        expect.assert_eq(&format!("{tally} {:?}", tally.failures));
    }

    #[test]
    fn binaries_are_summed() {
        check(
            "running 3 tests\n\
             test a::one ... ok\n\
             test a::two ... FAILED\n\
             test b::three - should panic ... FAILED\n\
             test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: ok. 40 passed; 0 failed; 2 ignored; 0 measured; 9 filtered out; finished in 1.25s\n",
            expect![[r#"41 passed, 2 failed, 2 skipped ["a::two", "b::three"]"#]],
        );
    }

    #[test]
    fn other_output_counts_for_nothing() {
        check(
            "a test result: ok. 7 passed\ntest result: broken\n12 passed\n",
            expect!["0 passed, 0 failed []"],
        );
    }
}
