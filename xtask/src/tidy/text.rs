//! Rules on any text: no blank at the end of a line, no path of somebody's machine; and on Rust
//! files: a module doc at the top, at most 600 lines.

use std::path::Path;

use super::Finding;

const FILE_LINES_MAX: usize = 600;

/// `machine` has the paths that no text may contain, as [`machine_paths`] gives them.
pub(super) fn check(path: &str, text: &str, machine: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if path.ends_with(".rs") {
        findings.extend(module_doc(path, text));
        findings.extend(file_length(path, text));
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.ends_with([' ', '\t']) {
            findings.push(Finding::new(path, number, "blank at the end of the line"));
        }
        if let Some(found) = machine.iter().find(|found| line.contains(&***found)) {
            let text = format!("`{found}` is a path of one machine; name it from the root");
            findings.push(Finding::new(path, number, text));
        }
    }
    findings
}

fn module_doc(path: &str, text: &str) -> Option<Finding> {
    // A file that others include says so instead: a module doc is no part of an expression.
    let included = text.starts_with("// ") && text.lines().take(3).any(|l| l.contains("Included"));
    let missing = !text.starts_with("//! ") && !included;
    missing.then(|| Finding::new(path, 1, "no `//!` line: say what the file owns and what not"))
}

fn file_length(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    let text = format!("{lines} lines, {FILE_LINES_MAX} at most: split it by what it owns");
    (lines > FILE_LINES_MAX).then(|| Finding::new(path, 0, text))
}

/// Where this checkout and its user's home are: true here, and nowhere else. A folder right below
/// `/` has a name too short to search for without the slash after it.
pub(super) fn machine_paths(root: &Path) -> Vec<String> {
    let home = std::env::home_dir();
    let folders = home.as_deref().into_iter().chain([root]);
    folders
        .filter(|path| path.components().count() > 1)
        .map(|path| format!("{}/", path.display()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;
    use expect_test::{Expect, expect};

    fn check(path: &str, text: &str, expect: Expect) {
        expect.assert_eq(&report(&super::check(path, text, &["/some/checkout/".to_owned()])));
    }

    #[test]
    fn clean_text_has_no_findings() {
        check("a.rs", "//! Owns a.\n\nfn a() {}\n", expect![""]);
        check("a.md", "# Title\n", expect![""]);
        check("a.rs", "// Examples. Included, so it has no module doc.\n", expect![""]);
    }

    #[test]
    fn rust_files_open_with_a_module_doc() {
        check(
            "a.rs",
            "use b;\n//! Too late.\n",
            expect![[r"
                a.rs:1: no `//!` line: say what the file owns and what not
            "]],
        );
    }

    #[test]
    fn rust_files_have_a_longest_length() {
        let longest = format!("//! Long.\n{}", "\n".repeat(FILE_LINES_MAX - 1));
        check("a.rs", &longest, expect![""]);
        check(
            "a.rs",
            &format!("{longest}\n"),
            expect![[r"
                a.rs: 601 lines, 600 at most: split it by what it owns
            "]],
        );
    }

    #[test]
    fn lines_end_with_text() {
        check(
            "a.md",
            "one\ntwo \nthree\t\n",
            expect![[r"
                a.md:2: blank at the end of the line
                a.md:3: blank at the end of the line
            "]],
        );
    }

    #[test]
    fn machine_paths_are_found() {
        check(
            "a.md",
            "in src/some/checkout\nin /some/checkout/x\n",
            expect![[r"
                a.md:2: `/some/checkout/` is a path of one machine; name it from the root
            "]],
        );
    }

    #[test]
    fn the_checkout_is_a_machine_path() {
        assert!(machine_paths(Path::new("/some/checkout")).contains(&"/some/checkout/".to_owned()));
        assert!(!machine_paths(Path::new("/")).contains(&"//".to_owned()));
    }
}
