//! Every dependency of the workspace has a row in DESIGN.md that says why.
//!
//! The other direction holds too: a row for a crate that is gone is a reason for nothing.

use std::collections::BTreeSet;

use super::Finding;

const HEADING: &str = "## Why each dependency";

/// Findings for the root manifest and for DESIGN.md.
pub(super) fn check(manifest: &str, design: &str) -> Vec<Finding> {
    let (used, explained) = (used(manifest), explained(design));
    let unexplained = used.difference(&explained).map(|name| {
        Finding::new(
            "DESIGN.md",
            0,
            format!("`{name}` has no row under `{HEADING}`: why is it here?"),
        )
    });
    let gone = explained.difference(&used).map(|name| {
        Finding::new(
            "DESIGN.md",
            0,
            format!("`{name}` has a row under `{HEADING}` but is not used"),
        )
    });
    unexplained.chain(gone).collect()
}

/// Names in the table of workspace dependencies that do not stand for a folder of this repository.
fn used(manifest: &str) -> BTreeSet<&str> {
    let lines = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let keys =
        lines.filter(|line| !line.contains("path = ")).filter_map(|line| line.split_once(" = "));
    keys.map(|(name, _)| name).collect()
}

/// Names in the first column of the table under the heading; a version may follow a name.
fn explained(design: &str) -> BTreeSet<&str> {
    let lines = design.lines().skip_while(|line| *line != HEADING);
    let rows = lines.filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let names = rows.flat_map(|names| names.split(", ")).filter_map(|name| name.split(' ').next());
    names.filter(|name| *name != "crate").collect()
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;
    use expect_test::{Expect, expect};

    const MANIFEST: &str = "[workspace.dependencies]\nours = { path = \"ours\" }\none = \"1\"\n\n\
                            two = { version = \"2\" }\n[profile.release]\ndebug = 1\n";

    fn check(rows: &str, expect: Expect) {
        let design = format!("| no | row |\n{HEADING}\n\n| crate | why |\n|---|---|\n{rows}\n");
        expect.assert_eq(&report(&super::check(MANIFEST, &design)));
    }

    #[test]
    fn a_row_may_name_several_and_a_version() {
        check("| one, two 2.0.1 | since |", expect![""]);
    }

    #[test]
    fn rows_and_dependencies_match() {
        check(
            "| one | since |\n| three | since |",
            expect![[r"
                DESIGN.md: `two` has no row under `## Why each dependency`: why is it here?
                DESIGN.md: `three` has a row under `## Why each dependency` but is not used
            "]],
        );
    }
}
