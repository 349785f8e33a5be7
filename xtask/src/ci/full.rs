//! The steps of `ci --full`: lints for the other processor and tests on it, the kernel's `unsafe` under tools that see what a test cannot, the page
//! of a trace in a browser, its packets in Wireshark, and fuzzing.
//!
//! Each step first asks whether its tool is here, and is skipped with the name of the tool if it
//! is not; the browser and tshark have to be there. None of them is installed or fetched from here.

use std::path::Path;
use std::process::Command;

use crate::conformance;
use crate::failure::Result;
use crate::process::{self, Config};
use crate::steps::{Outcome, Steps};
use crate::tally::Tally;
use crate::test::count_tests;

/// The only crate of the kernel with `unsafe` in it.
const KERNEL: &str = "--package=detsim-executor";

pub(super) fn run(steps: &mut Steps) {
    steps.run("conformance", |tally| conformance::check(&[], tally));
    steps.run("tokio's supported releases", |_| super::releases::check());
    steps.run("clippy for the other processor", |_| other_processor());
    steps.run("tests on the other processor", emulated);
    steps.run("memcheck", memcheck);
    steps.run("address sanitizer", address_sanitizer);
    steps.run("storage engines", engines);
    steps.run("fuzz kv recovery", |_| fuzz_recovery());
    steps.run("fuzz trace reader", |_| fuzz_traces());
    steps.run_plain("trace page in a browser", super::browser::check_page);
    steps.run_plain("packets in wireshark", super::capture::check_packets);
}

/// What is written for one processor alone is compiled nowhere else.
const OTHER_PROCESSOR: &str = if cfg!(target_arch = "x86_64") {
    "aarch64-unknown-linux-gnu"
} else {
    "x86_64-unknown-linux-gnu"
};

fn other_processor() -> Result<Outcome> {
    let libdir = ["--print", "target-libdir", "--target", OTHER_PROCESSOR];
    let libdir = process::output(process::program("rustc").args(libdir))?;
    if !Path::new(libdir.trim()).is_dir() {
        return skipped("its target is not installed");
    }
    for config in Config::BOTH {
        let clippy = ["clippy", "--workspace", "--all-targets", "--target", OTHER_PROCESSOR];
        process::run(config.cargo(&clippy, "").args(["--", "--deny=warnings"]))?;
    }
    Ok(Outcome::Passed)
}

/// The kernel's tests, and those of threads over the shim, under an emulator. The model of the cell is left
/// out: it is the same everywhere, and takes minutes there.
fn emulated(tally: &mut Tally) -> Result<Outcome> {
    if OTHER_PROCESSOR != "aarch64-unknown-linux-gnu" {
        return skipped("only AArch64 is emulated");
    }
    if !answers("qemu-aarch64", &["--version"]) || !answers(OTHER_LINKER, &["--version"]) {
        return skipped("qemu-aarch64 or aarch64-linux-gnu-gcc is not installed");
    }
    let kernel = ["--lib", "--test=sim", "--test=threads", "--test=device", "--test=block"];
    let of_kernel = [&["test", KERNEL, "--target", OTHER_PROCESSOR][..], &kernel].concat();
    count_tests(emulating(Config::Plain.cargo(&of_kernel, "")), tally)?;
    let of_shim = ["test", "--package=detsim-shim-tokio", "--test=it", "--target", OTHER_PROCESSOR];
    let mut cargo = emulating(Config::Detsim.cargo(&of_shim, ""));
    cargo.args(["--", "hold::", "blocking::", "threads::"]);
    count_tests(cargo, tally)
}

const OTHER_LINKER: &str = "aarch64-linux-gnu-gcc";

fn emulating(mut cargo: Command) -> Command {
    const OF_TARGET: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU";
    cargo.env(format!("{OF_TARGET}_LINKER"), OTHER_LINKER);
    cargo.env(format!("{OF_TARGET}_RUNNER"), "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    cargo
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

/// Engines from the registry, unmodified, with a thousand seeds each: a workspace of their own.
fn engines(tally: &mut Tally) -> Result<Outcome> {
    let test = ["test", "--release", "--manifest-path=examples/engines/Cargo.toml"];
    let mut cargo = process::cargo(&test);
    cargo.arg("--target-dir").arg(process::target_dir().join("engines"));
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

/// What `cargo fuzz` would ask of the compiler.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
     -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares \
     -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks";

/// A million inputs for the reader of traces. Needs nightly alone: the target is built here.
fn fuzz_traces() -> Result<Outcome> {
    if !answers("cargo", &["+nightly", "--version"]) {
        return skipped("there is no nightly toolchain");
    }
    let host = process::output(process::program("rustc").args(["--print", "host-tuple"]))?;
    let host = host.trim();
    let target_dir = process::target_dir().join("fuzz");
    let build = ["+nightly", "build", "--release", "--manifest-path=detsim/fuzz/Cargo.toml"];
    let mut cargo = process::cargo(&build);
    cargo.args(["--target", host, "--target-dir"]).arg(&target_dir);
    process::run(cargo.env("RUSTFLAGS", COVERAGE))?;
    let target = target_dir.join(host).join("release/trace");
    process::run(process::program(target).args(["-runs=1000000", "-max_len=512"]))?;
    Ok(Outcome::Passed)
}

fn skipped(reason: &str) -> Result<Outcome> {
    Ok(Outcome::Skipped(reason.to_owned()))
}

pub(super) fn answers(program: &str, args: &[&str]) -> bool {
    process::available(process::program(program).args(args))
}
