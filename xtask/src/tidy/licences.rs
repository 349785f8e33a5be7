//! The licences of everything that is built into a test or a product on this machine's kind of
//! target, held against a short list.
//!
//! `cargo tree` answers from the crates that a build has already fetched, so this works without
//! a network. An expression passes when some choice of its alternatives is on the list.

use super::Finding;
use crate::failure::Result;
use crate::process;

/// Licences whose terms a user of an MPL-2.0 library meets anyway.
const ALLOWED: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn check() -> Result<Vec<Finding>> {
    let args = ["tree", "--workspace", "--edges=all", "--prefix=none", "--format={l}\t{p}"];
    Ok(judge(&process::output(&mut process::cargo(&args))?))
}

/// Findings for lines of the form `licence TAB package`.
fn judge(lines: &str) -> Vec<Finding> {
    let mut lines = lines.lines().filter(|line| !line.ends_with("(*)")).collect::<Vec<_>>();
    lines.sort_unstable();
    lines.dedup();
    let refused = lines.into_iter().filter_map(|line| {
        let (licence, package) = line.split_once('\t')?;
        let text = format!("licence `{licence}` of {package} is not on the list");
        (!passes(licence)).then(|| Finding::new("Cargo.lock", 0, text))
    });
    refused.collect()
}

/// Whether the terms of an SPDX expression can be met from the list. `/` is an old `OR`.
fn passes(licence: &str) -> bool {
    let spaced = licence.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    any_of(&mut words) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>) -> bool {
    let mut passes = all_of(words);
    while words.next_if_eq(&"OR").is_some() {
        passes |= all_of(words);
    }
    passes
}

fn all_of(words: &mut Words<'_>) -> bool {
    let mut passes = one(words);
    while words.next_if_eq(&"AND").is_some() {
        passes &= one(words);
    }
    passes
}

fn one(words: &mut Words<'_>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let passes = any_of(words);
        return words.next_if_eq(&")").is_some() && passes;
    }
    let passes = words.next().is_some_and(|name| ALLOWED.contains(&name));
    // An exception only ever adds permissions.
    if words.next_if_eq(&"WITH").is_some() {
        words.next();
    }
    passes
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;
    use expect_test::expect;

    #[test]
    fn expressions_pass_when_some_choice_is_listed() {
        for licence in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(passes(licence), "{licence}");
        }
    }

    #[test]
    fn expressions_fail_when_a_part_is_not_listed() {
        for licence in
            ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT MIT", "(GPL-3.0 OR X) AND MIT"]
        {
            assert!(!passes(licence), "{licence}");
        }
    }

    #[test]
    fn a_refused_package_is_named_once() {
        expect![[r"
            Cargo.lock: licence `` of b v2 is not on the list
            Cargo.lock: licence `GPL-3.0` of a v1 is not on the list
        "]]
        .assert_eq(&report(&judge(
            "MIT\tc v1\nGPL-3.0\ta v1\n\tb v2\nGPL-3.0\ta v1 (*)\nGPL-3.0\ta v1\n",
        )));
    }
}
