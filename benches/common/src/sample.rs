//! What one measured run says, and the one line it says it in.
//!
//! Invariant: [`Sample`]'s `Display` and `FromStr` are each other's inverse.

use std::fmt;
use std::str::FromStr;

/// What a workload did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// How many operations were done: what the CPU time is divided by.
    pub operations: u64,
    /// Messages and timers that the workload saw, where it counts them; 0 elsewhere.
    pub events: u64,
}

impl Work {
    /// So many operations, with no events counted.
    #[must_use]
    pub fn of(operations: u64) -> Self {
        Self { operations, events: 0 }
    }
}

/// One measured run: tab-separated on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// What was done.
    pub work: Work,
    /// CPU time of it, in nanoseconds.
    pub cpu_ns: u64,
}

impl Sample {
    /// CPU nanoseconds of one operation.
    #[must_use]
    pub fn ns_per_operation(&self) -> f64 {
        self.cpu_ns as f64 / self.work.operations as f64
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.work.operations, self.work.events, self.cpu_ns)
    }
}

impl FromStr for Sample {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let fields: Result<Vec<u64>, _> = line.split('\t').map(str::parse).collect();
        match fields.as_deref() {
            Ok(&[operations, events, cpu_ns]) => {
                Ok(Self { work: Work { operations, events }, cpu_ns })
            }
            _ => Err(format!("not a sample of three numbers: {line:?}")),
        }
    }
}

/// The middle value; the mean of the two middle ones when there is an even number.
///
/// # Panics
/// When there is no value at all, or one is not a number.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    assert!(!values.is_empty(), "the median of nothing");
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("only numbers are measured"));
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::{Sample, Work, median};

    #[test]
    fn a_sample_survives_its_line() {
        let sample = Sample { work: Work { operations: 3, events: 8_274 }, cpu_ns: 4_284_000 };
        assert_eq!(sample.to_string().parse(), Ok(sample));
    }

    #[test]
    fn a_broken_line_is_refused_and_quoted() {
        let error = "12\t0".parse::<Sample>().unwrap_err();
        assert_eq!(error, r#"not a sample of three numbers: "12\t0""#);
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        assert_eq!(median(&[50.0, 9_000.0, 51.0]), 51.0);
        assert_eq!(median(&[50.0, 9_000.0, 51.0, 49.0]), 50.5);
    }
}
