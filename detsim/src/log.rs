//! `tracing` output of a run, with virtual time, node and task in front.
//!
//! Owns: the subscriber that `DETSIM_LOG` asks for. It is the default of the thread that runs the
//! seed and never the global one, so a test that installs its own still can. Does not own: what
//! the filter may hold ([`crate::config`]), nor the stamp ([`crate::run`] asks the kernel).

use std::fmt;
use std::sync::OnceLock;

use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::{EnvFilter, fmt as layer};

use crate::run;

/// The filter, once the configuration is read.
static FILTER: OnceLock<String> = OnceLock::new();

/// Asks for the output of every run of this process that begins from now on.
pub(crate) fn enable(filter: &str) {
    let _first_wins = FILTER.set(filter.to_owned());
}

/// Prints until the guard is dropped, where output was asked for.
pub(crate) fn begin() -> Option<DefaultGuard> {
    let filter = EnvFilter::try_new(FILTER.get()?).ok()?;
    let subscriber = layer::Subscriber::builder()
        .with_env_filter(filter)
        .with_timer(Stamp)
        .with_ansi(false)
        .with_test_writer()
        .finish();
    Some(tracing::subscriber::set_default(subscriber))
}

/// Virtual time, node and task, where other programs print the date.
struct Stamp;

impl FormatTime for Stamp {
    fn format_time(&self, w: &mut Writer<'_>) -> fmt::Result {
        run::stamp(w)
    }
}
