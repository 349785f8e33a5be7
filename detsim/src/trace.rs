//! Traces of recorded runs: in a file, and as text for people and tools.
//!
//! Owns: `write`, [`read`] and what stands around a trace in its file ([`Header`]); the renderers
//! `view`, `diff`, `stats` and `export`, each a pure function from traces and options to
//! text, and [`pcap`], to a file of packets. Does not own: events and their words (the executor), where the files of a failure lie,
//! or command lines. Invariants: whatever is read gives a trace or an [`Error`] that says what is
//! wrong, never a panic; no renderer prints a wall clock, an address or an absolute path; colour
//! only adds to what the text says.
//!
//! # Examples
//! ```
//! use detsim::trace::{self, Header};
//! use detsim::{Sim, SimConfig};
//!
//! let mut config = SimConfig::default();
//! config.record = true;
//! let sim = Sim::with_config(7, config);
//! drop(sim.spawn("hello", async {}));
//! sim.run().unwrap();
//!
//! let header = Header::new("greets", 7, "random");
//! let bytes = trace::to_bytes(&sim.trace(), &header);
//! let recorded = trace::from_bytes(&bytes).unwrap();
//! assert_eq!((recorded.header, recorded.trace), (header, sim.trace()));
//! assert!(trace::from_bytes(b"PNG").unwrap_err().is_foreign());
//! ```

mod codec;
pub(crate) mod columns;
mod diff;
mod error;
mod export;
mod frame;
mod stats;
mod view;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use detsim_executor::Trace;
pub use detsim_executor::event::{
    ChoiceId, DiskEvent, DropReason, Event, EventKind, Moment, NetEvent, NodeChange, ObjectId,
    SetId, TextId, Wide,
};
pub use detsim_executor::trace::{Chosen, DOMAIN_PICK, DOMAIN_STOP, ObjectInfo, Tables, TaskInfo};
pub use diff::{DiffOptions, diff};
pub use error::Error;
pub use export::{ExportOptions, Format, export, pcap};
pub use stats::{StatsOptions, stats};
pub use view::{ViewOptions, view};

/// The name of a trace in the directory of a failure.
pub const FILE: &str = "trace.bin";

/// The name of the trace of its minimised form, beside it.
pub const MINIMIZED_FILE: &str = crate::failures::store::MINIMIZED_TRACE;

/// Which run a trace is of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The test, as its harness names it: `pool::drains`.
    pub test: String,
    /// The seed.
    pub seed: u64,
    /// The scheduler, as `DETSIM_STRATEGY` takes it.
    pub strategy: String,
    /// The version of detsim that ran it.
    pub detsim: String,
}

impl Header {
    /// The header of a run of this detsim.
    pub fn new(test: impl Into<String>, seed: u64, strategy: impl Into<String>) -> Self {
        let detsim = env!("CARGO_PKG_VERSION").to_owned();
        Self { test: test.into(), seed, strategy: strategy.into(), detsim }
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Which run it is.
    pub header: Header,
    /// What happened in it.
    pub trace: Trace,
}

/// Writes a trace.
///
/// # Errors
/// Those of the file system.
pub fn write(trace: &Trace, header: &Header, path: &Path) -> std::io::Result<()> {
    std::fs::write(path, to_bytes(trace, header))
}

/// Reads a trace: a file, or the [`FILE`] of a directory.
///
/// # Errors
/// Where there is no such file, where it is no trace, is damaged or cut short, and where it comes
/// from a detsim too new for this one. The text names the file and what is wrong with it.
pub fn read(path: &Path) -> Result<Recorded, Error> {
    let path = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
    let bytes = bytes_of(&path).map_err(|error| error.of_file(&path))?;
    from_bytes(&bytes).map_err(|error| error.of_file(&path))
}

/// Looks at the beginning before it reads the rest: a foreign file may be of any size.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Error> {
    let mut file = File::open(path).map_err(Error::io)?;
    let mut bytes = Vec::new();
    file.by_ref().take(frame::MAGIC.len() as u64).read_to_end(&mut bytes).map_err(Error::io)?;
    frame::check_magic(&bytes)?;
    file.read_to_end(&mut bytes).map_err(Error::io)?;
    Ok(bytes)
}

/// The bytes of a trace's file.
pub fn to_bytes(trace: &Trace, header: &Header) -> Vec<u8> {
    frame::wrap(&header.detsim, &codec::encode(trace, header))
}

/// The trace of a file's bytes.
///
/// # Errors
/// As [`read`], but for the file.
pub fn from_bytes(bytes: &[u8]) -> Result<Recorded, Error> {
    let frame::Framed { detsim, body } = frame::unwrap(bytes)?;
    codec::decode(body, detsim)
}

/// The bytes of a file whose body is `body`, checksum and all: for fuzzing what is behind them.
#[doc(hidden)]
pub fn framed(body: &[u8]) -> Vec<u8> {
    frame::wrap(env!("CARGO_PKG_VERSION"), body)
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
