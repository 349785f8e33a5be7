//! What each variable may hold: pure functions from text to a value, `None` where it is not one.
//!
//! The text that names what is allowed stands beside the function that allows it.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Duration;

use detsim_executor::Strategy;
use tracing_subscriber::EnvFilter;

use super::WorkerLink;

/// Which seeds a sweep runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seeds {
    /// This many, from the base on.
    Count(u64),
    /// Exactly these.
    Range(Range<u64>),
}

pub(super) const SEED_ALLOWED: &str =
    "a whole number from 0 to 18446744073709551615, or the same in hexadecimal after 0x";

pub(super) fn seed(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

pub(super) const SEEDS_ALLOWED: &str = "a count of at least 1, or a range a..b with a below b";

pub(super) fn seeds(text: &str) -> Option<Seeds> {
    let Some((first, end)) = text.split_once("..") else {
        return seed(text).filter(|count| *count > 0).map(Seeds::Count);
    };
    let range = seed(first)?..seed(end)?;
    (!range.is_empty()).then_some(Seeds::Range(range))
}

pub(super) const JOBS_ALLOWED: &str = "a whole number of at least 1";

pub(super) fn jobs(text: &str) -> Option<NonZeroUsize> {
    text.parse().ok()
}

pub(super) const STRATEGY_ALLOWED: &str = "random or fifo";

pub(super) fn strategy(text: &str) -> Option<String> {
    text.parse::<Strategy>().is_ok().then(|| text.to_owned())
}

pub(super) const BUDGET_ALLOWED: &str = "a time such as 90s, 5m, 1h or 500ms";

pub(super) fn budget(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let amount: u64 = text[..digits].parse().ok().filter(|amount| *amount > 0)?;
    let unit_ms = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    amount.checked_mul(unit_ms).map(Duration::from_millis)
}

pub(super) const LOG_ALLOWED: &str =
    "a filter of tracing, such as info, debug or my_crate=trace,tokio=warn";

pub(super) fn log(text: &str) -> Option<String> {
    EnvFilter::try_new(text).is_ok().then(|| text.to_owned())
}

pub(super) fn switch(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

pub(super) const MINIMIZE_ALLOWED: &str = "1, 0, or the most runs that it may take";

/// 0: off; 1: on, with the usual bound; more: on, with this bound.
pub(super) fn minimize(text: &str) -> Option<u32> {
    text.parse().ok()
}

/// `<version>:<fd>`.
pub(super) fn worker(text: &str) -> Option<WorkerLink> {
    let (version, fd) = text.split_once(':')?;
    let fd: u16 = fd.parse().ok()?;
    Some(WorkerLink { version: version.parse().ok()?, fd: i32::from(fd) })
}
