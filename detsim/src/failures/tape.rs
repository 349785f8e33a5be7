//! A failing run as its choices: the file `choices.bin`.
//!
//! Layout: eight bytes that name the format, its version (u32), a checksum of what follows (u64),
//! then the fields of [`Tape`], all little-endian. Owns: the format, and why a file is no tape.
//! Invariants: equal tapes have equal bytes; no input whatever makes reading panic, or allocate
//! without bound.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use detsim_executor::rng::hash_bytes;
use detsim_executor::{Choice, RunHash};
use serde::{Deserialize, Serialize};

use crate::recording::{decode, encode};

/// A run that failed, as its choices and what they must lead to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tape {
    /// The version of detsim that wrote it.
    pub(crate) detsim: String,
    /// The path of the test.
    pub(crate) test: String,
    pub(crate) seed: u64,
    /// The scheduler of the seeded run, where one was named.
    pub(crate) strategy: Option<String>,
    /// How it failed.
    pub(crate) signature: String,
    /// The fingerprint of the run.
    pub(crate) hash: RunHash,
    /// The names of the domains by their hashes.
    pub(crate) domains: Vec<(u64, String)>,
    /// The choices that were not defaults.
    pub(crate) choices: Vec<Choice>,
}

/// Why a file is no tape that can be used.
#[derive(Debug)]
pub(crate) struct Unreadable {
    path: PathBuf,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Io(io::Error),
    Foreign,
    CutShort,
    Newer(u32),
    Damaged,
}

const NAME: [u8; 8] = *b"detsimCH";
const FORMAT: u32 = 1;
const HEAD_BYTES: usize = NAME.len() + 4 + 8;

impl Tape {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let body = encode(self);
        let checksum = hash_bytes(&body).to_le_bytes();
        [&NAME[..], &FORMAT.to_le_bytes(), &checksum, &body].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, Why> {
        let (name, rest) = bytes.split_at_checked(NAME.len()).ok_or(Why::Foreign)?;
        if name != NAME {
            return Err(Why::Foreign);
        }
        let (version, _) = rest.split_first_chunk().ok_or(Why::CutShort)?;
        match u32::from_le_bytes(*version) {
            FORMAT => {}
            newer if newer > FORMAT => return Err(Why::Newer(newer)),
            _ => return Err(Why::Damaged),
        }
        let (head, body) = bytes.split_at_checked(HEAD_BYTES).ok_or(Why::CutShort)?;
        if !head.ends_with(&hash_bytes(body).to_le_bytes()) {
            return Err(Why::Damaged);
        }
        decode(body).ok_or(Why::Damaged)
    }

    /// Reads a tape.
    ///
    /// # Errors
    /// Where there is no file, or not one that this version can use.
    pub(crate) fn read(path: &Path) -> Result<Self, Unreadable> {
        let unreadable = |why| Unreadable { path: path.to_owned(), why };
        let bytes = bytes_of(path).map_err(|error| unreadable(Why::Io(error)))?;
        Self::from_bytes(&bytes).map_err(unreadable)
    }

    /// Writes the tape; a reader sees the old file or the new one, never half of it.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let partial = path.with_extension("partial");
        fs::write(&partial, self.to_bytes())?;
        fs::rename(partial, path)
    }
}

/// The bytes of a file; of one that does not begin as a tape, no more than shows that.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(NAME.len() as u64).read_to_end(&mut bytes)?;
    if bytes == NAME {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "detsim: {} cannot be replayed: ", self.path.display())?;
        match &self.why {
            Why::Io(error) => write!(f, "{error}; name the directory of a failing run"),
            Why::Foreign => {
                f.write_str("it is no file of choices; name the directory of a failing run")
            }
            Why::CutShort => f.write_str("it is cut short; run its seed again to write a new one"),
            Why::Newer(version) => write!(
                f,
                "a later detsim wrote it (format {version}, and this one reads up to {FORMAT}); \
                 use that version, or run its seed again"
            ),
            Why::Damaged => f.write_str(
                "its bytes are not what was written; run its seed again to write a new one",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
