//! The last lines of a sweep: how many passed, which failed, and the commands to type.
//!
//! Pure functions of what was counted and of where the test stands.

use std::fmt::Write;
use std::path::Path;

use super::tally::{Bucket, Tally};
use crate::config::Config;
use crate::spec::{Built, Spec};

/// `1998/2000 seeds passed; failing seeds: [847291, 1103982]`, and why seeds are missing, if so.
pub(crate) fn passed(tally: &Tally, planned: u64) -> String {
    let counted = tally.counted();
    let mut line = format!("{}/{counted} seeds passed", tally.passed());
    if !tally.failures().is_empty() {
        let seeds: Vec<u64> = tally.failures().iter().map(|failure| failure.seed).collect();
        let _infallible = write!(line, "; failing seeds: {seeds:?}");
    }
    match planned - counted {
        0 => {}
        left if tally.is_full() => {
            let failures = tally.failures().len();
            let _infallible = write!(line, "; stopped at {failures} failing seeds, {left} not run");
        }
        left => {
            let _infallible = write!(line, "; DETSIM_BUDGET is used up, {left} not run");
        }
    }
    line
}

/// What is said of the first seed of a signature, its output apart.
pub(crate) fn failure(bucket: &Bucket<'_>, spec: &Spec) -> String {
    let Bucket { first, others } = bucket;
    let mut text = format!(
        "detsim: seed {} of {} failed: {}\n{}\n",
        first.seed,
        spec.test_name(),
        first.failed.kind,
        first.failed.report.trim_end()
    );
    if first.hash != 0 {
        let _infallible = writeln!(text, "run hash: {:016x}", first.hash);
    }
    if !others.is_empty() {
        let _infallible = writeln!(text, "the same failure in other seeds: {others:?}");
    }
    text
}

/// Where a test binary came from, as far as its path tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin<'a> {
    /// The package, as cargo names it to a running test.
    pub(crate) package: Option<&'a str>,
    pub(crate) binary: Option<&'a Path>,
    /// The scheduler, where the environment named it.
    pub(crate) strategy: Option<&'a str>,
}

impl<'a> Origin<'a> {
    pub(crate) fn new(config: &'a Config, binary: Option<&'a Path>) -> Self {
        let package = config.package.as_deref();
        Self { package, binary, strategy: config.strategy.as_deref() }
    }

    fn is_release(&self) -> bool {
        self.binary.is_some_and(|path| path.iter().any(|part| part == "release"))
    }

    /// The name of the target that cargo built: the file without its hash.
    fn target(&self) -> Option<&str> {
        let stem = self.binary?.file_stem()?.to_str()?;
        Some(stem.rsplit_once('-').map_or(stem, |(name, _)| name))
    }
}

/// The command that runs one seed again.
pub(crate) fn reproduce(spec: &Spec, origin: &Origin<'_>, seed: u64) -> String {
    format!("reproduce with: {}", typed(spec, origin, &format!("DETSIM_SEED={seed}")))
}

/// The command that runs a record again.
pub(crate) fn replay(spec: &Spec, origin: &Origin<'_>, record: &str) -> String {
    format!("reproduce with: {}", typed(spec, origin, &format!("DETSIM_REPLAY={record}")))
}

/// The command that minimises the run of a seed, whose record is there.
pub(crate) fn minimize(spec: &Spec, origin: &Origin<'_>, record: &str, seed: u64) -> String {
    let command = match spec.built {
        Built::Graph => format!("cargo detsim minimize {seed} --test {}", spec.test_name()),
        _ => typed(spec, origin, &format!("DETSIM_MINIMIZE=1 DETSIM_REPLAY={record}")),
    };
    format!("minimize with: {command}")
}

/// The whole command, where this variable says what to run.
fn typed(spec: &Spec, origin: &Origin<'_>, variable: &str) -> String {
    let mut words = Vec::new();
    if spec.built == Built::Cfg {
        words.push("RUSTFLAGS=\"--cfg detsim\"".to_owned());
    }
    words.push(variable.to_owned());
    words.extend(origin.strategy.map(|strategy| format!("DETSIM_STRATEGY={strategy}")));
    words.push(cargo_test(spec, origin));
    words.join(" ")
}

/// The command that runs the test, without its variables.
pub(crate) fn cargo_test(spec: &Spec, origin: &Origin<'_>) -> String {
    let command = if spec.built == Built::Graph { "cargo detsim test" } else { "cargo test" };
    let mut words = vec![command.to_owned()];
    words.extend(origin.is_release().then(|| "--release".to_owned()));
    words.extend(origin.package.map(|package| format!("-p {package}")));
    words.extend(integration_test(spec, origin).map(|test| format!("--test {test}")));
    words.push(format!("{} -- --exact --include-ignored", spec.test_name()));
    words.join(" ")
}

/// The name of the integration test that the file belongs to: `tests/<name>.rs`, or
/// `tests/<name>/..`, where cargo's file is called so (with `_` for `-`). Unit tests need no name.
fn integration_test<'a>(spec: &'a Spec, origin: &Origin<'_>) -> Option<&'a str> {
    let mut parts = spec.file.split(['/', '\\']).skip_while(|part| *part != "tests");
    let name = parts.nth(1)?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (origin.target()? == name.replace('-', "_")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Kind, RunOutcome};
    use crate::sweep::tally;
    use expect_test::{Expect, expect};

    fn tally(failing: &[u64], count: u64, failures_max: usize) -> Tally {
        let mut tally = Tally::new(0, failures_max);
        for index in 0..count {
            let outcome = match failing.contains(&index) {
                true => RunOutcome {
                    hash: 0xBEEF,
                    ..RunOutcome::failed(Kind::Deadlock, "deadlock".into(), "a waits\n".into())
                },
                false => RunOutcome::PASS,
            };
            tally.enter(index, tally::Result { outcome, output: Vec::new() });
        }
        tally
    }

    fn check_passed(tally: &Tally, planned: u64, expected: Expect) {
        expected.assert_eq(&passed(tally, planned));
    }

    #[test]
    fn the_summary_accounts_for_every_seed() {
        check_passed(&tally(&[], 2000, 10), 2000, expect!["2000/2000 seeds passed"]);
        check_passed(
            &tally(&[3, 11], 2000, 10),
            2000,
            expect!["1998/2000 seeds passed; failing seeds: [3, 11]"],
        );
        check_passed(
            &tally(&[3, 11], 2000, 2),
            2000,
            expect![
                "10/12 seeds passed; failing seeds: [3, 11]; stopped at 2 failing seeds, 1988 not \
                 run"
            ],
        );
        check_passed(
            &tally(&[], 640, 10),
            2000,
            expect!["640/640 seeds passed; DETSIM_BUDGET is used up, 1360 not run"],
        );
    }

    #[test]
    fn a_failure_is_told_once_for_all_its_seeds() {
        let tally = tally(&[3, 11, 12], 20, 10);
        let spec = Spec::new("crate::pool::drains", "src/pool.rs", 1);
        expect![[r"
            detsim: seed 3 of pool::drains failed: deadlock
            a waits
            run hash: 000000000000beef
            the same failure in other seeds: [11, 12]
        "]]
        .assert_eq(&failure(&tally.buckets()[0], &spec));
    }

    #[test]
    fn the_command_that_minimises_names_the_record() {
        let spec = Spec::new("raft::log::tests::matches", "src/log.rs", 7);
        let origin = Origin { package: Some("raft"), ..Origin::default() };
        let check = |spec: &Spec, expected: Expect| {
            expected.assert_eq(&minimize(spec, &origin, "target/detsim/failures/x/16", 16));
        };
        check(
            &spec,
            expect![
                "minimize with: DETSIM_MINIMIZE=1 DETSIM_REPLAY=target/detsim/failures/x/16 cargo \
                 test -p raft log::tests::matches -- --exact --include-ignored"
            ],
        );
        check(
            &spec.clone().built(Built::Graph),
            expect!["minimize with: cargo detsim minimize 16 --test log::tests::matches"],
        );
    }

    fn check_command(spec: &Spec, binary: &str, strategy: Option<&str>, expected: Expect) {
        let origin = Origin { package: Some("raft"), binary: Some(Path::new(binary)), strategy };
        expected.assert_eq(&reproduce(spec, &origin, 3));
    }

    #[test]
    fn the_command_names_package_target_and_test() {
        let planted = Spec::new("planted::split_brain", "examples/raft/tests/planted.rs", 7);
        check_command(
            &planted,
            "/p/target/debug/deps/planted-0123456789abcdef",
            None,
            expect![
                "reproduce with: DETSIM_SEED=3 cargo test -p raft --test planted split_brain -- \
                 --exact --include-ignored"
            ],
        );
        check_command(
            &planted.clone().built(Built::Cfg),
            "/p/target/release/deps/planted-0123456789abcdef",
            Some("fifo"),
            expect![[
                r#"reproduce with: RUSTFLAGS="--cfg detsim" DETSIM_SEED=3 DETSIM_STRATEGY=fifo cargo test --release -p raft --test planted split_brain -- --exact --include-ignored"#
            ]],
        );
        check_command(
            &planted.clone().built(Built::Graph),
            "/p/target/detsim/x86_64-unknown-linux-gnu/debug/deps/planted-0123456789abcdef",
            None,
            expect![
                "reproduce with: DETSIM_SEED=3 cargo detsim test -p raft --test planted \
                 split_brain -- --exact --include-ignored"
            ],
        );
        check_command(
            &Spec::new("raft::log::tests::matches", "src/log.rs", 7),
            "/p/target/debug/deps/raft-0123456789abcdef",
            None,
            expect![
                "reproduce with: DETSIM_SEED=3 cargo test -p raft log::tests::matches -- --exact \
                 --include-ignored"
            ],
        );
        check_command(
            &Spec::new("it_all::net::drops", "tests/it-all/net.rs", 7),
            "/p/target/debug/deps/it_all-0123456789abcdef",
            None,
            expect![
                "reproduce with: DETSIM_SEED=3 cargo test -p raft --test it-all net::drops -- \
                 --exact --include-ignored"
            ],
        );
    }
}
