//! The records that a sweep leaves of its failures.
//!
//! Owns: what goes into the files of a record. Does not own: their formats and places
//! ([`crate::failures`]). A record that cannot be written costs the record, not the sweep.

use std::env::current_dir;
use std::io;
use std::path::{Path, PathBuf};

use detsim_executor::{Strategy, Trace};

use super::summary::{self, Origin};
use super::tally::Failure;
use crate::config::Config;
use crate::failures::env::{self, Env};
use crate::failures::store::{self, Place};
use crate::failures::tape::Tape;
use crate::recording::Recording;
use crate::spec::Spec;
use crate::trace::{self, Header};

/// Where the records of a test go, and what they say of it.
#[derive(Debug)]
pub(crate) struct Shelf<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) config: &'a Config,
    pub(crate) origin: Origin<'a>,
    directory: Option<PathBuf>,
}

impl<'a> Shelf<'a> {
    pub(crate) fn new(spec: &'a Spec, config: &'a Config, origin: Origin<'a>) -> Self {
        let directory = store::directory(config.out.as_deref(), origin.binary);
        Self { spec, config, origin, directory }
    }

    /// The place of a seed's record; `None` where nothing says where records go.
    pub(crate) fn place(&self, seed: u64) -> Option<Place> {
        let directory = self.directory.as_ref()?;
        Some(Place::new(directory, self.spec.path, seed))
    }

    /// A path as it is typed at the top of the project.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let here = current_dir().unwrap_or_default();
        store::shown(path, self.origin.binary, &here).to_string_lossy().into_owned()
    }

    /// Writes the record of a failure; what is returned says why it could not be.
    pub(crate) fn write(&self, failure: &Failure, report: &str) -> Option<String> {
        let place = self.place(failure.seed)?;
        let error = self.write_files(&place, failure, report).err()?;
        Some(format!("detsim: the record of seed {} cannot be written: {error}", failure.seed))
    }

    fn write_files(&self, place: &Place, failure: &Failure, report: &str) -> io::Result<()> {
        place.create()?;
        place.write(store::REPORT, report)?;
        place.write(store::ENV, &self.env(failure).to_toml())?;
        let Some(recording) = &failure.recording else {
            place.forget(&[store::CHOICES, trace::FILE]);
            return Ok(());
        };
        let (tape, file) = (self.tape(failure, recording), place.file(store::CHOICES));
        let is_known = Tape::read(&file).is_ok_and(|known| known == tape);
        if !is_known {
            place.forget(&[store::MINIMIZED, store::MINIMIZED_TRACE, store::STORY]);
            tape.write(&file)?;
        }
        self.write_trace(&recording.trace, failure.seed, &place.file(trace::FILE))
    }

    /// Writes a trace; one that was too long to keep is none.
    pub(crate) fn write_trace(&self, trace: &Trace, seed: u64, path: &Path) -> io::Result<()> {
        if trace.moments.is_empty() {
            return Ok(());
        }
        let strategy = self.strategy().unwrap_or(Strategy::default().name());
        trace::write(trace, &Header::new(self.spec.test_name(), seed, strategy), path)
    }

    /// A failure as its choices.
    pub(crate) fn tape(&self, failure: &Failure, recording: &Recording) -> Tape {
        Tape {
            detsim: env!("CARGO_PKG_VERSION").to_owned(),
            test: self.spec.path.to_owned(),
            seed: failure.seed,
            strategy: self.strategy().map(str::to_owned),
            signature: failure.failed.signature.clone(),
            hash: recording.hash,
            domains: recording.domains.clone(),
            choices: recording.choices.clone(),
        }
    }

    pub(crate) fn strategy(&self) -> Option<&str> {
        self.config.strategy.as_deref().or(self.spec.strategy)
    }

    fn env<'e>(&'e self, failure: &'e Failure) -> Env<'e> {
        let target = self.origin.binary.and_then(store::target_of);
        let binary = self.origin.binary.zip(target).and_then(|(b, t)| b.strip_prefix(t).ok());
        Env {
            seed: failure.seed,
            strategy: self.strategy(),
            test: self.spec.path,
            package: self.origin.package,
            commit: current_dir().ok().and_then(|here| env::commit(&here)),
            signature: &failure.failed.signature,
            rustflags: env::rustflags(self.spec),
            binary: binary.and_then(|path| path.to_str()).map(str::to_owned),
            command: summary::cargo_test(self.spec, &self.origin),
        }
    }
}
