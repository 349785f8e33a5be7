//! Rules on any text: no blank at the end of a line, no path of somebody's machine; and on Rust
//! files: a module doc at the top, at most 600 lines.

use std::path::Path;

use super::Finding;

const FILE_LINES_MAX: usize = 600;

/// Folders that hold people's homes: a path through one of them is true on one machine only.
const HOMES: [&str; 3] = ["home", "root", "Users"];

pub(super) fn check(path: &str, text: &str, root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    if path.ends_with(".rs") {
        findings.extend(module_doc(path, text));
        findings.extend(file_length(path, text));
    }
    let machine = machine_paths(root);
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
    let missing = !text.starts_with("//! ");
    missing.then(|| Finding::new(path, 1, "no `//!` line: say what the file owns and what not"))
}

fn file_length(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    let text = format!("{lines} lines, {FILE_LINES_MAX} at most: split it by what it owns");
    (lines > FILE_LINES_MAX).then(|| Finding::new(path, 0, text))
}

/// What no line may contain: a home, or the place of this very checkout. A checkout right below
/// `/` has a name too short to search for.
fn machine_paths(root: &Path) -> Vec<String> {
    let homes = HOMES.iter().map(|home| format!("/{home}/"));
    let checkout = (root.components().count() > 2).then(|| root.display().to_string());
    homes.chain(checkout).collect()
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;
    use expect_test::{Expect, expect};

    fn check(path: &str, text: &str, expect: Expect) {
        expect.assert_eq(&report(&super::check(path, text, Path::new("/some/checkout"))));
    }

    #[test]
    fn clean_text_has_no_findings() {
        check("a.rs", "//! Owns a.\n\nfn a() {}\n", expect![""]);
        check("a.md", "# Title\n", expect![""]);
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
        // Put together here, so that this file passes its own rule.
        let home = ["see ", HOMES[0], "me"].join("/");
        let text = format!("{home}\nin /some/checkout/x\nin src/some\n");
        let found = report(&super::check("a.md", &text, Path::new("/some/checkout")));
        let [home, checkout] = [&*format!("/{}/", HOMES[0]), "/some/checkout"]
            .map(|path| format!("`{path}` is a path"));
        let lines = found.lines().collect::<Vec<_>>();
        assert_eq!(lines.len(), 2, "{found}");
        assert!(lines[0].contains(&home) && lines[1].contains(&checkout), "{found}");
    }
}
