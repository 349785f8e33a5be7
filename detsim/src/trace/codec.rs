//! The body of a trace's file: bincode's varints, little-endian.
//!
//! Owns: the order of the parts (header, tables, events), and what makes them small: a moment is
//! stored as its distance from the one before, a signature once. Does not own: the head with the
//! format's number ([`super::frame`]); whoever changes what is written here gives the format a
//! new number there. Invariants: decoding takes any bytes; it never sets memory aside for more
//! things than there are bytes left.

use std::collections::BTreeMap;

use bincode::config::{Configuration, standard};
use bincode::serde::{borrow_decode_from_slice, encode_into_std_write};
use detsim_executor::event::{Event, Moment, NodeId, TextId};
use detsim_executor::trace::{Chosen, ObjectInfo, Tables, TaskInfo};
use detsim_executor::{Anchor, Choice, SimTime, Trace};
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::{Header, Recorded};

/// A moment after the one before it.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Stored {
    passed_ns: u64,
    steps: u32,
    event: Event,
}

/// A choice, with its signatures and values as places in a table.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct StoredChoice {
    domain: u32,
    actor: u32,
    ordinal: u32,
    occurrence: u32,
    picked: u32,
    default: u32,
    domain_name: TextId,
}

/// The body of a file.
pub(super) fn encode(trace: &Trace, header: &Header) -> Vec<u8> {
    let mut out = Encoder { bytes: Vec::with_capacity(trace.moments.len() * 8) };
    out.put(&header.test);
    out.put(&header.seed);
    out.put(&header.strategy);
    out.tables(&trace.tables);
    out.put(&(trace.moments.len() as u64));
    let (mut at, mut step) = (SimTime::ZERO, 0);
    for moment in &trace.moments {
        let passed_ns = moment.at.as_nanos().wrapping_sub(at.as_nanos());
        let steps = moment.step.wrapping_sub(step);
        out.put(&Stored { passed_ns, steps, event: moment.event });
        (at, step) = (moment.at, moment.step);
    }
    out.bytes
}

/// The trace of a body, which detsim of this version wrote.
pub(super) fn decode(body: &[u8], detsim: &str) -> Result<Recorded, Error> {
    let mut from = Decoder { bytes: body };
    let header = Header {
        test: from.take::<&str>()?.to_owned(),
        seed: from.take()?,
        strategy: from.take::<&str>()?.to_owned(),
        detsim: detsim.to_owned(),
    };
    let tables = from.tables()?;
    let moments = from.moments()?;
    match from.bytes {
        [] => Ok(Recorded { header, trace: Trace { moments, tables } }),
        _ => Err(Error::damaged("more bytes follow its last event")),
    }
}

struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    fn put(&mut self, value: &impl Serialize) {
        encode_into_std_write(value, &mut self.bytes, standard())
            .expect("invariant: plain data fits into memory");
    }

    fn all(&mut self, values: &[impl Serialize]) {
        self.put(&(values.len() as u64));
        values.iter().for_each(|value| self.put(value));
    }

    fn tables(&mut self, tables: &Tables) {
        let Tables { texts, tasks, nodes, objects, sets, choices } = tables;
        self.all(texts);
        self.all(tasks);
        self.all(nodes);
        self.all(objects);
        self.put(&(sets.len() as u64));
        sets.iter().for_each(|set| self.all(set));
        self.choices(choices);
    }

    fn choices(&mut self, choices: &[Chosen]) {
        let mut words = Words::default();
        let stored: Vec<StoredChoice> = choices.iter().map(|chosen| words.store(chosen)).collect();
        self.all(&words.words);
        self.all(&stored);
    }
}

/// Each word once, by the order of its first use.
#[derive(Default)]
struct Words {
    words: Vec<u64>,
    places: BTreeMap<u64, u32>,
}

impl Words {
    fn place(&mut self, word: u64) -> u32 {
        *self.places.entry(word).or_insert_with(|| {
            self.words.push(word);
            self.words.len() as u32 - 1
        })
    }

    fn store(&mut self, chosen: &Chosen) -> StoredChoice {
        let Choice { domain, anchor, occurrence, picked, default } = chosen.choice;
        StoredChoice {
            domain: self.place(domain),
            actor: self.place(anchor.actor),
            ordinal: anchor.ordinal,
            occurrence,
            picked: self.place(picked),
            default: self.place(default),
            domain_name: chosen.domain,
        }
    }
}

struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    #[inline]
    fn take<T: Deserialize<'a>>(&mut self) -> Result<T, Error> {
        let config: Configuration = standard();
        let taken = borrow_decode_from_slice(self.bytes, config);
        let (value, used) = taken.map_err(|_| Error::damaged("a part of it makes no sense"))?;
        self.bytes = &self.bytes[used..];
        Ok(value)
    }

    /// Takes a count, then as many things, each of at least one byte.
    fn all<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let count: u64 = self.take()?;
        if count > self.bytes.len() as u64 {
            return Err(Error::damaged("it says to hold more than it does"));
        }
        let mut all = Vec::with_capacity((count as usize).min(RESERVED_MAX));
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn tables(&mut self) -> Result<Tables, Error> {
        Ok(Tables {
            texts: self.all(|from| from.take::<&str>().map(str::to_owned))?,
            tasks: self.all(Self::take::<TaskInfo>)?,
            nodes: self.all(Self::take::<TextId>)?,
            objects: self.all(Self::take::<ObjectInfo>)?,
            sets: self.all(|from| from.all(Self::take::<NodeId>))?,
            choices: self.choices()?,
        })
    }

    fn choices(&mut self) -> Result<Vec<Chosen>, Error> {
        let words = self.all(Self::take::<u64>)?;
        let word = |place: u32| {
            let word = words.get(place as usize).copied();
            word.ok_or_else(|| Error::damaged("a choice names a signature that is not there"))
        };
        self.all(|from| {
            let stored: StoredChoice = from.take()?;
            let anchor = Anchor { actor: word(stored.actor)?, ordinal: stored.ordinal };
            let choice = Choice {
                domain: word(stored.domain)?,
                anchor,
                occurrence: stored.occurrence,
                picked: word(stored.picked)?,
                default: word(stored.default)?,
            };
            Ok(Chosen { choice, domain: stored.domain_name })
        })
    }

    fn moments(&mut self) -> Result<Vec<Moment>, Error> {
        let (mut at, mut step) = (0_u64, 0_u32);
        self.all(|from| {
            let stored: Stored = from.take()?;
            at = at.wrapping_add(stored.passed_ns);
            step = step.wrapping_add(stored.steps);
            Ok(Moment { at: SimTime::from_nanos(at), step, event: stored.event })
        })
    }
}

/// Things that room is made for before they are read; a list that is longer grows.
const RESERVED_MAX: usize = 1 << 20;
