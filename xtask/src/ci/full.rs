//! The steps of `ci --full`: the kernel's `unsafe` under tools that see what a test cannot, and a
//! minute of fuzzing.
//!
//! Each step first asks whether its tool is here, and is skipped with the name of the tool if it
//! is not. None of them is installed or fetched from here.

use crate::failure::Result;
use crate::process;
use crate::steps::{Outcome, Steps};
use crate::tally::Tally;
use crate::test::count_tests;

/// The only crate of the kernel with `unsafe` in it.
const KERNEL: &str = "--package=detsim-executor";

pub(super) fn run(steps: &mut Steps) {
    steps.run("memcheck", memcheck);
    steps.run("address sanitizer", address_sanitizer);
    steps.run("fuzz kv recovery", |_| fuzz_recovery());
}

fn memcheck(tally: &mut Tally) -> Result<Outcome> {
    if !answers("valgrind", &["--version"]) {
        return skipped("valgrind is not installed");
    }
    let runner = r#"target."cfg(all())".runner = ["valgrind", "--quiet", "--error-exitcode=1"]"#;
    let test = ["test", KERNEL, "--lib", "--tests", "--config", runner];
    count_tests(process::cargo(&test), tally)
}

fn address_sanitizer(tally: &mut Tally) -> Result<Outcome> {
    if !answers("cargo", &["+nightly", "--version"]) {
        return skipped("there is no nightly toolchain");
    }
    // A target by name keeps the sanitizer out of build scripts and proc macros.
    let target = process::output(process::program("rustc").args(["--print", "host-tuple"]))?;
    let test = ["+nightly", "test", KERNEL, "--lib", "--tests", "--target", target.trim()];
    let mut cargo = process::cargo(&test);
    cargo.arg("--target-dir").arg(process::target_dir().join("sanitizer"));
    cargo.env("RUSTFLAGS", "-Zsanitizer=address");
    count_tests(cargo, tally)
}

fn fuzz_recovery() -> Result<Outcome> {
    if !answers("cargo", &["+nightly", "fuzz", "--version"]) {
        return skipped("there is no nightly toolchain with cargo-fuzz");
    }
    let fuzz = ["+nightly", "fuzz", "run", "--fuzz-dir=examples/kv/fuzz", "recover"];
    process::run(process::cargo(&fuzz).args(["--", "-max_total_time=60"]))?;
    Ok(Outcome::Passed)
}

fn skipped(reason: &str) -> Result<Outcome> {
    Ok(Outcome::Skipped(reason.to_owned()))
}

fn answers(program: &str, args: &[&str]) -> bool {
    process::available(process::program(program).args(args))
}
