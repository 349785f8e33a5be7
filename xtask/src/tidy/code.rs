//! Rules on Rust code: a longest function, and files that alone may hold `unsafe` or read the
//! environment.
//!
//! The lists of files are the ones that ARCHITECTURE.md argues for; a new entry is a change of
//! the architecture and belongs there first.

use super::Finding;
use super::source::{code_only, word_len};

const FN_LINES_MAX: usize = 70;

/// Modules that may hold `unsafe`, and folders, with a slash at the end.
const UNSAFE: [&str; 21] = [
    "cargo-detsim/tests/fixtures/tempfiles/src/lib.rs",
    "detsim-executor/src/baton.rs",
    "detsim-executor/src/bound.rs",
    "detsim-executor/src/fence.rs",
    "detsim-executor/src/here/words.rs",
    "detsim-executor/src/lane.rs",
    "detsim-executor/src/slot.rs",
    "detsim-executor/src/waker.rs",
    "detsim-executor/tests/bound_model.rs",
    "detsim-shim-tokio/src/entry/scoped.rs",
    "detsim-shim-tokio/src/process.rs",
    "detsim-shim-tokio/src/fs/raw.rs",
    "detsim-shim-tokio/src/io/",
    "detsim-shim-tokio/src/net/raw.rs",
    "detsim-shim-tokio/src/sync/pair.rs",
    "detsim-shim-tokio/src/sync/ring.rs",
    "detsim-shim-tokio/src/sync/value.rs",
    "detsim-shim-tokio/tests/it/fs/user.rs",
    "detsim/src/interpose.rs",
    "detsim/src/poller.rs",
    "detsim/src/worker/sys.rs",
];

/// What is handed to a compiler to see it refused may hold anything.
const INPUTS: &str = "/tests/ui/";

/// Modules and folders that may read the environment.
const ENVIRONMENT: [&str; 5] = [
    "benches/",
    "cargo-detsim/src/minimize.rs",
    "cargo-detsim/src/trace.rs",
    "detsim/src/config.rs",
    "xtask/",
];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if path.contains(INPUTS) {
        return Vec::new();
    }
    let code = code_only(text);
    let mut findings = long_functions(path, &code);
    for (number, line) in (1..).zip(code.lines()) {
        if words(line).any(|word| word == "unsafe") && !is_listed(path, &UNSAFE) {
            let text = "`unsafe` in a file that ARCHITECTURE.md does not list for it";
            findings.push(Finding::new(path, number, text));
        }
        if line.contains("env::var") && !is_listed(path, &ENVIRONMENT) {
            let text = "reads the environment; detsim/src/config.rs is its only reader";
            findings.push(Finding::new(path, number, text));
        }
    }
    findings
}

/// A module is its file and the files of the folder beside it.
fn is_listed(path: &str, list: &[&str]) -> bool {
    let holds = |entry: &str| match entry.strip_suffix(".rs") {
        Some(module) => path.strip_prefix(module).is_some_and(|rest| rest.starts_with(['.', '/'])),
        None => path.starts_with(entry),
    };
    list.iter().any(|entry| holds(entry))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn long_functions(path: &str, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut at = 0;
    while let Some(next) = code[at..].chars().next() {
        let word = word_len(&code[at..]);
        if &code[at..at + word] == "fn" {
            findings.extend(long_function(path, code, at));
        }
        at += word.max(next.len_utf8());
    }
    findings
}

/// A finding for the function whose `fn` stands at `start`, if its text is too long.
fn long_function(path: &str, code: &str, start: usize) -> Option<Finding> {
    let name = code[start + 2..].trim_start();
    let name = &name[..word_len(name)];
    let lines = code[start..start + function_len(&code[start..])?].lines().count();
    let first = code[..start].lines().count().max(1);
    let text = format!("`{name}` has {lines} lines, {FN_LINES_MAX} at most: split it");
    (lines > FN_LINES_MAX && !name.is_empty()).then(|| Finding::new(path, first, text))
}

/// Bytes from `fn` to the brace that closes its body; none for a function without a body.
fn function_len(code: &str) -> Option<usize> {
    let (mut inner, mut braces) = (0_u32, 0_u32);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => inner += 1,
            ')' | ']' => inner = inner.saturating_sub(1),
            ';' if inner == 0 && braces == 0 => return None,
            '{' if inner == 0 || braces > 0 => braces += 1,
            '}' if braces == 1 => return Some(at + 1),
            '}' => braces = braces.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;
    use expect_test::{Expect, expect};

    fn check(path: &str, text: &str, expect: Expect) {
        expect.assert_eq(&report(&super::check(path, text)));
    }

    #[test]
    fn functions_have_a_longest_length() {
        let function =
            |lines: usize| format!("\nimpl A {{ fn long() {{{}}}\n}}", "\n".repeat(lines - 1));
        check("a.rs", &function(FN_LINES_MAX), expect![""]);
        check(
            "a.rs",
            &function(FN_LINES_MAX + 1),
            expect![[r"
                a.rs:2: `long` has 71 lines, 70 at most: split it
            "]],
        );
    }

    #[test]
    fn what_is_no_function_body_is_not_measured() {
        let tail = "\n".repeat(80);
        check("a.rs", &format!("trait A {{ fn a(x: [u8; 2]); }}{tail}"), expect![""]);
        check("a.rs", &format!("struct A(fn(u8), {tail}u8);"), expect![""]);
        check("a.rs", &format!("fn a() {{ \"{{\" }} {tail} fn b() {{}}"), expect![""]);
    }

    #[test]
    fn unsafe_stands_where_the_architecture_says() {
        let text = "#![deny(unsafe_op_in_unsafe_fn)]\n// unsafe\nlet a = unsafe { b };\n";
        check("detsim-executor/src/waker.rs", text, expect![""]);
        check("detsim-executor/src/bound/section.rs", text, expect![""]);
        check("detsim-shim-tokio/src/io/buf.rs", text, expect![""]);
        check("detsim-macros/tests/ui/fail/a.rs", text, expect![""]);
        check(
            "detsim-executor/src/sim.rs",
            text,
            expect![[r"
                detsim-executor/src/sim.rs:3: `unsafe` in a file that ARCHITECTURE.md does not list for it
            "]],
        );
    }

    #[test]
    fn one_file_reads_the_environment() {
        let text = "let a = std::env::var_os(\"X\");\nlet b = \"env::var\";\n";
        check("detsim/src/config.rs", text, expect![""]);
        check(
            "detsim/src/sweep.rs",
            text,
            expect![[r"
                detsim/src/sweep.rs:1: reads the environment; detsim/src/config.rs is its only reader
            "]],
        );
    }
}
