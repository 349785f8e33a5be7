//! Where two runs part.
//!
//! Owns: the first event in which two traces differ, with a few lines around it. Invariants: a pure
//! function of the traces; choices themselves are passed over, because only what they bring about
//! tells two runs apart.

use std::fmt::{self, Write};

use detsim_executor::Trace;
use detsim_executor::event::{Event, Moment};

use crate::trace::columns::clean;

/// Lines that both runs have before they part, and lines of each after that.
const BEFORE: usize = 2;
const AFTER: usize = 3;

/// The widest line.
const COLUMNS: usize = 100;

/// The first difference of two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parting {
    common: Vec<String>,
    first: Vec<String>,
    second: Vec<String>,
}

/// Where `first` and `second` part; `None` where they do not.
pub(crate) fn parting(first: &Trace, second: &Trace) -> Option<Parting> {
    let (a, b) = (events(first), events(second));
    let line = |trace: &Trace, moment: &Moment| trace.line(moment).to_string();
    let same = |(x, y): &(&&Moment, &&Moment)| line(first, x) == line(second, y);
    let count = a.iter().zip(&b).take_while(same).count();
    if count == a.len() && count == b.len() {
        return None;
    }
    let lines = |trace: &Trace, moments: &[&Moment]| {
        moments.iter().map(|moment| line(trace, moment)).collect::<Vec<String>>()
    };
    Some(Parting {
        common: lines(first, &a[count.saturating_sub(BEFORE)..count]),
        first: lines(first, &a[count..a.len().min(count + AFTER)]),
        second: lines(second, &b[count..b.len().min(count + AFTER)]),
    })
}

fn events(trace: &Trace) -> Vec<&Moment> {
    let is_event = |moment: &&Moment| !matches!(moment.event, Event::Chose { .. });
    trace.moments.iter().filter(is_event).collect()
}

impl Parting {
    /// The lines, each side under its name.
    pub(crate) fn told(&self, first: &str, second: &str) -> String {
        let mut text = String::new();
        let _infallible = self.write(&mut text, first, second);
        text
    }

    fn write(&self, f: &mut String, first: &str, second: &str) -> fmt::Result {
        write_lines(f, &self.common)?;
        for (name, lines) in [(first, &self.first), (second, &self.second)] {
            writeln!(f, "  {name}:")?;
            write_lines(f, lines)?;
            if lines.is_empty() {
                writeln!(f, "    nothing more happens")?;
            }
        }
        Ok(())
    }
}

fn write_lines(f: &mut String, lines: &[String]) -> fmt::Result {
    lines.iter().try_for_each(|line| writeln!(f, "  {}", clip(line, COLUMNS - 2)))
}

/// A line that a terminal prints as one, cut where it is wider than that.
pub(crate) fn clip(line: &str, columns: usize) -> String {
    let line = clean(line);
    if line.chars().count() <= columns {
        return line.into_owned();
    }
    line.chars().take(columns.saturating_sub(2)).chain("..".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::{Sim, SimConfig, yield_now};
    use expect_test::expect;

    fn trace(yields: u32) -> Trace {
        let mut config = SimConfig::default();
        config.record = true;
        config.replay = Some(Vec::new());
        let sim = Sim::with_config(1, config);
        drop(sim.spawn("a", async move {
            for _ in 0..yields {
                yield_now().await;
            }
        }));
        sim.run().unwrap();
        sim.trace()
    }

    #[test]
    fn equal_runs_do_not_part() {
        assert_eq!(parting(&trace(2), &trace(2)), None);
    }

    #[test]
    fn the_first_difference_is_shown_from_both_sides() {
        let parting = parting(&trace(3), &trace(1)).unwrap();
        expect![[r#"
            told:
                   0.000000s        1  task 0 "a" runs
                   0.000000s        2  task 0 "a" runs
              recorded:
                   0.000000s        3  task 0 "a" runs
                   0.000000s        4  task 0 "a" runs
                   0.000000s        4  task 0 "a" ends
              now:
                   0.000000s        2  task 0 "a" ends
        "#]]
        .assert_eq(&format!("told:\n{}", parting.told("recorded", "now")));
    }

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(clip("0123456789", 10), "0123456789");
        assert_eq!(clip("0123456789a", 10), "01234567..");
        assert_eq!(clip("0\n2\u{1b}4", 10), "0 2 4", "one line, and no codes for the terminal");
    }
}
