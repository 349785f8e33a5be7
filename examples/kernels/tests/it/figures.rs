//! How few decisions the planted bugs come down to, and in how many runs: all of them, in a table.
//!
//! `RUSTFLAGS="--cfg detsim" cargo test -p kernels figures -- --nocapture` shows it.

use crate::KERNELS;
use crate::found::{Figures, failures_of};
use crate::others::{OTHERS, SERVICES};

/// Decisions in the median and in the worst case, and runs likewise.
const LEFT_MEDIAN_MAX: u32 = 4;
const LEFT_MAX: u32 = 8;
const RUNS_MEDIAN_MAX: u32 = 300;
const RUNS_MAX: u32 = 800;

fn line(name: &str, figures: Figures) -> String {
    let Figures { from, left, runs, same } = figures;
    let repeats = if same { "100 of 100" } else { "not all" };
    format!("{name:<32} {from:>7} {left:>5} {runs:>5}  {repeats}")
}

fn median(mut numbers: Vec<u32>) -> u32 {
    numbers.sort_unstable();
    numbers[numbers.len() / 2]
}

#[test]
#[expect(clippy::print_stdout, reason = "a table for people")]
fn planted_bugs_come_down_to_few_decisions() {
    let kernels = KERNELS.iter().map(|name| ("buggy", *name));
    let bugs = kernels.chain(OTHERS.map(|name| ("others", name)));
    let bugs = bugs.chain(SERVICES.map(|name| ("others", name)));
    // A bug that fails in several ways is shown in each.
    let of = |(module, name)| -> Vec<(&str, Figures)> {
        failures_of(module, name).into_iter().map(|found| (name, found.figures())).collect()
    };
    let all: Vec<(&str, Figures)> = bugs.flat_map(of).collect();

    println!("{:<32} {:>7} {:>5} {:>5}  repeats that fail alike", "bug", "of", "left", "runs");
    all.iter().for_each(|(name, figures)| println!("{}", line(name, *figures)));
    let left: Vec<u32> = all.iter().map(|(_, figures)| figures.left).collect();
    let runs: Vec<u32> = all.iter().map(|(_, figures)| figures.runs).collect();
    let (left_max, runs_max) = (left.iter().max().copied(), runs.iter().max().copied());
    let (left, runs) = (median(left), median(runs));
    println!("median: {left} left after {runs} runs; most: {left_max:?}, {runs_max:?}");

    assert!(left <= LEFT_MEDIAN_MAX && runs <= RUNS_MEDIAN_MAX, "{left} after {runs} runs");
    assert!(left_max <= Some(LEFT_MAX) && runs_max <= Some(RUNS_MAX), "{left_max:?}, {runs_max:?}");
    assert!(all.iter().all(|(_, figures)| figures.same));
}
