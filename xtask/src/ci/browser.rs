//! The page of a trace in a real browser, which has to draw it and to find in it.
//!
//! Owns: which browsers are looked for, and what the page has to say of itself once its script has
//! run. Does not own: the page, whose data and script the tests of detsim check without a browser.

use std::fs;

use crate::failure::{Failure, Result};
use crate::process;

/// Browsers that dump a page without a screen, by the names of their programs.
const BROWSERS: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome-headless-shell",
    "headless_shell",
];

/// What is searched for, and how often the page of the example has it: messages that are lost, and the
/// decisions that a minimised run keeps.
const SEARCHES: [(&str, u32); 2] = [("lost", 5), ("kept", 2)];

/// No screen, no sandbox (CI is often root), and no calls to anybody.
const HEADLESS: [&str; 5] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--virtual-time-budget=5000",
];

/// Draws the page of a small run, demands marks in it, and that searches find what is there.
pub(super) fn check_page() -> Result {
    let browser = BROWSERS.iter().find(|name| super::full::answers(name, &["--version"]));
    let browser = browser.ok_or_else(|| {
        let names = BROWSERS.join(", ");
        Failure::new(format!("no browser is found; install chromium (looked for: {names})"))
    })?;
    let page = process::target_dir().join("trace_page.html");
    let example = ["run", "--quiet", "--package=detsim", "--example=trace_page"];
    fs::write(&page, process::output(&mut process::cargo(&example))?)?;
    let profile = process::target_dir().join("browser");
    for (search, found) in SEARCHES {
        let mut dump = process::program(browser);
        dump.args(HEADLESS).arg(format!("--user-data-dir={}", profile.display()));
        dump.args(["--dump-dom", &format!("file://{}#{search}", page.display())]);
        judge(&process::output(&mut dump)?, search, found)?;
    }
    Ok(())
}

/// The page says by two attributes how many marks it drew and how many the search found.
fn judge(dom: &str, search: &str, expected: u32) -> Result {
    let number = |name: &str| {
        let (_, rest) = dom.split_once(&format!("{name}=\""))?;
        rest.split('"').next()?.parse::<u32>().ok()
    };
    match (number("data-drawn"), number("data-found")) {
        (Some(1..), Some(found)) if found == expected => Ok(()),
        (drawn, found) => Err(Failure::new(format!(
            "the page drew {drawn:?} marks and found {found:?} times \"{search}\", which are \
             {expected}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn a_page_is_drawn_and_searched() {
        judge("<body data-drawn=\"31\" data-found=\"5\">", "lost", 5).unwrap();
        for dom in [
            "<body>",
            "<body data-drawn=\"0\" data-found=\"5\">",
            "<body data-drawn=\"31\" data-found=\"4\">",
        ] {
            let told = judge(dom, "lost", 5).unwrap_err().to_string();
            assert!(told.starts_with("the page drew "), "{told}");
        }
    }
}
