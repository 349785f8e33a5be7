//! Why a trace cannot be read.
//!
//! Owns: the one error of this module, opaque, and its texts. Invariant: a text says which file,
//! what is wrong with it, and, where there is one, the way out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a trace cannot be read. Displayed, it names the file and says what is wrong.
#[derive(Debug)]
pub struct Error {
    path: Option<PathBuf>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Damaged(&'static str),
    Foreign,
    Io(io::Error),
    Newer { format: u16, detsim: String, known: u16 },
    Truncated { have: u64, want: u64 },
}

impl Error {
    pub(super) fn damaged(what: &'static str) -> Self {
        Self { path: None, kind: Kind::Damaged(what) }
    }

    pub(super) fn foreign() -> Self {
        Self { path: None, kind: Kind::Foreign }
    }

    pub(super) fn io(error: io::Error) -> Self {
        Self { path: None, kind: Kind::Io(error) }
    }

    pub(super) fn newer(format: u16, detsim: &str, known: u16) -> Self {
        // What a later detsim calls itself is its own business, but not a screen of it.
        let detsim = detsim.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
        Self { path: None, kind: Kind::Newer { format, detsim, known } }
    }

    pub(super) fn truncated(have: u64, want: u64) -> Self {
        Self { path: None, kind: Kind::Truncated { have, want } }
    }

    pub(super) fn of_file(self, path: &Path) -> Self {
        Self { path: Some(path.to_owned()), ..self }
    }

    /// Whether it is something else than a trace.
    pub fn is_foreign(&self) -> bool {
        matches!(self.kind, Kind::Foreign)
    }

    /// Whether it is a trace, but broken: bytes changed, missing or added.
    pub fn is_damaged(&self) -> bool {
        matches!(self.kind, Kind::Damaged(_) | Kind::Truncated { .. })
    }

    /// Whether a later detsim wrote it, in a format that this one does not know.
    pub fn is_newer(&self) -> bool {
        matches!(self.kind, Kind::Newer { .. })
    }
}

/// The ways out.
const ANEW: &str = "run its seed again to write a new one";
const NAME: &str = "name the directory of a failing run, or the trace.bin in it";

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{} ", path.display())?,
            None => f.write_str("the trace ")?,
        }
        match &self.kind {
            Kind::Damaged(what) => write!(f, "is damaged: {what}; {ANEW}"),
            Kind::Foreign => write!(f, "is no trace of detsim: it does not begin as one; {NAME}"),
            Kind::Io(error) => write!(f, "cannot be read: {error}; {NAME}"),
            Kind::Newer { format, detsim, known } => write!(
                f,
                "is in format {format} of detsim {detsim}; this is detsim {}, which reads formats \
                 up to {known}: use detsim {detsim} or a later one",
                env!("CARGO_PKG_VERSION")
            ),
            Kind::Truncated { have, want } => {
                write!(f, "is cut short: {have} of its {want} bytes are there; {ANEW}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Io(error) => Some(error),
            _ => None,
        }
    }
}
