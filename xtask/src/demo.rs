//! `cargo xtask demo`: the main job in a minute, on a machine that has never seen detsim before.
//!
//! Three scenes, each a command that the reader could type: a clean sweep, a sweep that finds a
//! planted split brain, and the failing seed replayed by the very line that the sweep printed.
//! Owns their order, and what it takes for a scene to have gone as it should. Invariant: standard
//! output holds nothing that two runs may differ in; progress and times go to standard error.

mod story;

use std::process::Command;

use clap::Args;

use crate::failure::{Failure, Result};
use crate::process;
use crate::steps::WallTime;
use story::Story;

/// Watch 5,000 seeds pass, then a planted split brain be found, replayed and explained.
#[derive(Args, Debug)]
pub(crate) struct Demo {}

/// How a sweep has to end for the demo to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Clean,
    Found,
}

/// Arguments of `cargo test --release -p raft`.
const CLEAN: &[&str] = &["--test=sweep", "--", "--exact", "--show-output", "no_two_leaders"];
const PLANTED: &[&str] = &["--test=planted", "--", "--exact", "--ignored", "split_brain"];

const OPENING: &str = "\
Five Raft nodes on a simulated network: eight simulated seconds of elections, partitions, crashes
and heals a seed. After every message and timer: no two leaders in a term, equal logs up to what
is committed.";

const PLANT: &str = "\
The same cluster with a mistake that people make: a node that restarts has forgotten its vote, and
may give it twice. This sweep is meant to fail.";

const REPLAY: &str = "\
A seed is a whole run. The line that the sweep ended with, typed, is meant to fail again, with the
same finding at the same instant and the same run hash:";

const NEXT: &str = "\
It did. What to type next: that line once more, or

    cargo xtask sim raft --bug vote-not-persisted --seed 100 --trials 100
    cargo xtask test

The cluster is in examples/raft/src, its two sweeps in examples/raft/tests.";

impl Demo {
    pub(crate) fn run(&self) -> Result {
        // So that the times below are those of sweeps.
        process::run(&mut raft(&["--no-run"]))?;
        println!("{OPENING}\n");
        play(&mut raft(CLEAN), Ending::Clean)?;

        println!("{PLANT}\n");
        let found = play(&mut raft(PLANTED), Ending::Found)?;

        let line = found.reproduce_line()?;
        println!("{REPLAY}\n\n    {line}\n");
        let again = play(process::program("sh").args(["-euc", line]), Ending::Found)?;
        if again.finding()? != found.finding()? {
            return Err(Failure::new("the replay found something else than the sweep"));
        }
        println!("{NEXT}");
        Ok(())
    }
}

/// The tests of the Raft world, optimised.
fn raft(args: &[&str]) -> Command {
    let mut cargo = process::cargo(&["test", "--release", "--package=raft"]);
    cargo.args(args);
    cargo
}

/// Runs a sweep, prints what it says, and demands the ending.
fn play(command: &mut Command, ending: Ending) -> Result<Story> {
    let start = WallTime::now();
    let mut story = Story::default();
    let status = process::stream(command, |line| story.handle_line(line))?;
    println!("{story}");
    eprintln!("({}, {:.1?})\n", process::typed(command), start.elapsed());
    story.expect_sweep()?;
    match (status.success(), ending) {
        (true, Ending::Clean) | (false, Ending::Found) => Ok(story),
        (true, Ending::Found) => Err(Failure::new("the planted bug was not found")),
        (false, Ending::Clean) => Err(Failure::new("a sweep that has to be clean is not")),
    }
}
