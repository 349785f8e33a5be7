//! The commands that README.md tells a reader to type, so that CI can type them first.
//!
//! A fenced block marked `sh` is a list of commands, one a line; any other block is something to
//! read. A command has to succeed as it stands.

use crate::failure::Result;
use crate::process;

/// Commands that CI has already run as steps of its own by the time it comes to the README.
const STEPS: [&str; 3] = ["cargo xtask ci", "cargo xtask demo", "cargo xtask test"];

/// Types every command of README.md, in order, except those that are steps of CI.
pub(crate) fn run_commands() -> Result {
    let text = std::fs::read_to_string(process::root().join("README.md"))?;
    for command in commands(&text).filter(|command| !STEPS.contains(command)) {
        println!("$ {command}");
        process::run(process::program("sh").args(["-euc", command]))?;
    }
    Ok(())
}

fn commands(text: &str) -> impl Iterator<Item = &str> {
    let mut in_shell = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().strip_prefix("```");
        if let Some(language) = fence {
            in_shell = language == "sh";
        }
        in_shell && fence.is_none() && !line.is_empty() && !line.starts_with('#')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shell_blocks_are_commands() {
        let text = "Type `cargo no`.\n\n```sh\n# first\ncargo one\n\ncargo two -- x\n```\n\
                    ```toml\n[no]\n```\n```\nno\n```\n```sh\ncargo three\n```\nno\n";
        assert_eq!(
            commands(text).collect::<Vec<_>>(),
            ["cargo one", "cargo two -- x", "cargo three"]
        );
    }

    #[test]
    fn the_first_two_commands_are_the_demo_and_the_tests() {
        let text = std::fs::read_to_string(process::root().join("README.md")).unwrap();
        let first = commands(&text).take(2).collect::<Vec<_>>();
        assert_eq!(first, ["cargo xtask demo", "cargo xtask test"]);
    }
}
