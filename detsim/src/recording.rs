//! What a run leaves behind beside its verdict, where that is asked for: its choices and its trace.
//!
//! Owns: [`Recording`], and its bytes on the way from a child to the parent. Does not own: files
//! ([`crate::failures`]). Invariant: no input whatever makes decoding panic.

use bincode::config::{Configuration, Fixint, Limit, LittleEndian, standard};
use detsim_executor::{Choice, ChoiceNote, Failure, RunHash, Sim, Trace};
use serde::{Deserialize, Serialize};

use crate::outcome::{Keeps, RunOptions};

/// The choices of a run, and, where it was recorded in full, what happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The choices that were not defaults, in the order they were made.
    pub choices: Vec<Choice>,
    /// What each of them was about; empty where there are more than `NOTES_MAX`.
    pub notes: Vec<ChoiceNote>,
    /// The names of the domains by their hashes.
    pub domains: Vec<(u64, String)>,
    /// The fingerprint of the run.
    pub hash: RunHash,
    /// In a replay, the choices of the set that never came up.
    pub unused: u64,
    /// The numbers of the tasks that the failure is about, where the kernel knows them.
    pub blamed: Vec<u32>,
    /// The events, where the run was recorded in full.
    pub trace: Trace,
}

/// Notes are made of runs of up to so many choices: those that people will read.
pub(crate) const NOTES_MAX: usize = 64;

impl Recording {
    /// What is to be kept of the run of `sim`.
    pub(crate) fn of(sim: &Sim, options: &RunOptions) -> Option<Box<Self>> {
        if options.keeps == Keeps::Verdict || sim.with(|kernel| kernel.choices().is_cut()) {
            return None;
        }
        let (choices, has_trace) = (sim.recorded_choices(), options.keeps >= Keeps::Trace);
        let told = options.keeps == Keeps::All && choices.len() <= NOTES_MAX;
        let named = |(hash, name): (u64, &str)| (hash, name.to_owned());
        Some(Box::new(Self {
            notes: if told { sim.recorded_notes() } else { Vec::new() },
            domains: sim.with(|kernel| kernel.choices().domain_names().map(named).collect()),
            hash: sim.hash(),
            unused: sim.unused_choices() as u64,
            blamed: blamed(sim.failure().as_ref()),
            trace: if has_trace { sim.trace() } else { Trace::default() },
            choices,
        }))
    }

    /// The bytes, at most `bytes_max`: a trace that does not fit is left out, and so is all where
    /// even that does not help.
    pub(crate) fn encode(&self, bytes_max: usize) -> Vec<u8> {
        let bytes = encode(self);
        if bytes.len() <= bytes_max {
            return bytes;
        }
        let bytes = encode(&Self { trace: Trace::default(), ..self.clone() });
        if bytes.len() <= bytes_max { bytes } else { Vec::new() }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Box<Self>> {
        decode(bytes).map(Box::new)
    }
}

fn blamed(failure: Option<&Failure>) -> Vec<u32> {
    match failure {
        Some(Failure::Deadlock(stuck) | Failure::LostWakeup(stuck)) => stuck.blamed(),
        _ => Vec::new(),
    }
}

/// The most that a decoder allocates: several times what a worker can send.
const ALLOCATION_BYTES_MAX: usize = 1 << 30;

/// Plain little-endian words: equal values have equal bytes on every machine.
const FORMAT: Configuration<LittleEndian, Fixint, Limit<ALLOCATION_BYTES_MAX>> =
    standard().with_fixed_int_encoding().with_limit();

/// The bytes of plain data.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, FORMAT).expect("invariant: plain data has bytes")
}

/// Plain data, where the bytes are exactly its.
pub(crate) fn decode<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Option<T> {
    let (value, read) = bincode::serde::decode_from_slice(bytes, FORMAT).ok()?;
    (read == bytes.len()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::{Anchor, Stream};

    fn choice(n: u64) -> Choice {
        let anchor = Anchor { actor: n, ordinal: 3 };
        Choice { domain: 7, anchor, occurrence: 0, picked: n, default: 0 }
    }

    fn recording(choices: u64) -> Recording {
        let choices = (0..choices).map(choice).collect();
        Recording { choices, domains: vec![(7, "net/a/b".to_owned())], ..Recording::default() }
    }

    #[test]
    fn a_recording_survives_the_trip() {
        let recording = recording(5);
        let bytes = recording.encode(1 << 20);
        assert_eq!(Recording::decode(&bytes).as_deref(), Some(&recording));
        assert!(recording.encode(10).is_empty(), "what does not fit is left out");
    }

    #[test]
    fn no_bytes_do_harm() {
        let bytes = recording(20).encode(1 << 20);
        let mut words = Stream::new(1);
        for cut in 0..bytes.len() {
            assert_eq!(Recording::decode(&bytes[..cut]), None);
        }
        for _ in 0..2_000 {
            let mut flipped = bytes.clone();
            let at = words.below(flipped.len() as u64) as usize;
            flipped[at] ^= 1 << words.below(8);
            let _any = Recording::decode(&flipped);
        }
    }
}
