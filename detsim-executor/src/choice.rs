//! The one door for everything that is not determined.
//!
//! Owns: the streams of all domains, and the rule that turns a draw into a [`Choice`]: taken from
//! the seed, or, in a replay, from a set of non-default choices with the default for all others.
//! Does not own: what a choice means. Invariants: a draw in one domain never shifts another; any
//! subset of a run's choices is itself a legal run (an anchor that never comes up is counted as
//! unused, a value out of bounds is the default); entropy (`getrandom` and its kin) is no choice.

mod note;

pub use note::{ChoiceNote, Decided};
pub(crate) use note::{Note, Place};

use crate::rng::{Ratio, Stream, fold, hash_bytes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A registered stream, such as `net/n1/n2`. Made by [`Choices::domain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(u32);

/// Where a choice is made: by whom, and the how manieth time that one chooses. Never a global
/// index, so that a change in one actor renames no other's choices.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Anchor {
    /// The signature of the actor: a task, a link, a disk.
    pub actor: u64,
    /// The actor's own count.
    pub ordinal: u32,
}

/// A choice that was not the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Choice {
    /// The hash of the domain's name.
    pub domain: u64,
    /// Where it was made.
    pub anchor: Anchor,
    /// The how manieth choice of this domain at this anchor.
    pub occurrence: u32,
    /// What was picked; for a pick among tasks, the task's signature.
    pub picked: u64,
    /// What a run without this choice does.
    pub default: u64,
}

type Key = (u64, Anchor, u32);

/// Where the values come from.
#[derive(Debug, Default)]
enum Source {
    /// The streams of the seed.
    #[default]
    Seed,
    /// The set of non-default choices to take; all others are defaults.
    Set { set: BTreeMap<Key, (u64, bool)> },
}

/// What is kept of the choices of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Records {
    /// Nothing.
    #[default]
    Nothing,
    /// Those that are not defaults.
    Choices,
    /// Those, and what each was about.
    Notes,
}

impl Records {
    pub(crate) fn of(all: bool, choices: bool) -> Self {
        match (all, choices) {
            (true, _) => Self::Notes,
            (false, true) => Self::Choices,
            (false, false) => Self::Nothing,
        }
    }
}

/// All choices of one run.
#[derive(Debug, Default)]
pub struct Choices {
    seed: u64,
    streams: Vec<(u64, Stream)>,
    /// By the hash of its name, the place of a stream.
    domains: BTreeMap<u64, Domain>,
    /// The one that was asked for last: whoever asks for each draw asks for the same.
    recent: Option<(u64, Domain)>,
    source: Source,
    records: Records,
    /// Neither recording nor replaying.
    plain: bool,
    recorded: Vec<Choice>,
    /// One for each recorded choice, where notes are kept.
    notes: Vec<Note>,
    /// The names of the domains by their hashes, unless this is a plain run.
    names: BTreeMap<u64, String>,
    /// What the actors of anchors are called that are neither tasks nor links.
    actors: BTreeMap<u64, String>,
    /// Where the run stands: as of the last call that could draw.
    place: Place,
    seen: BTreeMap<(u64, Anchor), u32>,
    /// There were more choices than are recorded.
    is_cut: bool,
}

/// Choices that are recorded at most, 384 MiB of them, and those of which notes are kept: a run that
/// never ends makes choices without end.
const CHOICES_MAX: usize = if cfg!(test) { 1 << 15 } else { 8 << 20 };
const NOTES_MAX: usize = 1 << 12;
/// Anchors of which it is known how often they came up: 800 MiB of them.
const SEEN_MAX: usize = if cfg!(test) { 1 << 16 } else { 8 << 20 };

impl Choices {
    /// Fresh choices of a seed; memory of an earlier run is kept for re-use.
    pub(crate) fn reset(&mut self, seed: u64, records: Records) {
        self.seed = seed;
        self.streams.clear();
        self.domains.clear();
        self.recent = None;
        self.source = Source::Seed;
        self.records = records;
        self.plain = records == Records::Nothing;
        self.recorded.clear();
        self.notes.clear();
        self.names.clear();
        self.actors.clear();
        self.place = Place::default();
        self.seen.clear();
        self.is_cut = false;
    }

    /// From now on the choices of `set` are taken, and defaults everywhere else. Those that take
    /// effect are recorded: they are what a smaller set is made of.
    pub fn replay(&mut self, set: &[Choice]) {
        let entry = |c: &Choice| ((c.domain, c.anchor, c.occurrence), (c.picked, false));
        self.source = Source::Set { set: set.iter().map(entry).collect() };
        self.records = self.records.max(Records::Choices);
        self.plain = false;
    }

    /// Registers the stream `name` (the same name gives the same stream).
    pub fn domain(&mut self, name: &str) -> Domain {
        let key = hash_bytes(name.as_bytes());
        if let Some((recent, domain)) = self.recent
            && recent == key
        {
            return domain;
        }
        let domain = self.find_or_add(key, name);
        self.recent = Some((key, domain));
        domain
    }

    fn find_or_add(&mut self, key: u64, name: &str) -> Domain {
        let Self { streams, domains, seed, names, plain, .. } = self;
        *domains.entry(key).or_insert_with(|| {
            if !*plain {
                names.insert(key, name.to_owned());
            }
            streams.push((key, Stream::keyed(*seed, key)));
            Domain(streams.len() as u32 - 1)
        })
    }

    /// Draws a number in `0..bound`. `default` is the value that means "nothing special".
    ///
    /// # Panics
    /// Where `default` is not below `bound`.
    #[inline]
    #[track_caller]
    pub fn draw(&mut self, domain: Domain, anchor: Anchor, bound: u64, default: u64) -> u64 {
        assert!(default < bound, "detsim: the default {default} is not below the bound {bound}");
        let drawn = self.streams[domain.0 as usize].1.below(bound);
        if self.is_plain() { drawn } else { self.decide(domain, anchor, (drawn, bound), default) }
    }

    /// What comes of a draw where a run is recorded or replayed.
    #[cold]
    fn decide(
        &mut self,
        domain: Domain,
        anchor: Anchor,
        (drawn, bound): (u64, u64),
        default: u64,
    ) -> u64 {
        let key = self.streams[domain.0 as usize].0;
        let occurrence = self.occurrence(key, anchor);
        let picked = match self.replayed(key, anchor, occurrence) {
            None => drawn,
            Some(value) => value.filter(|v| *v < bound).unwrap_or(default),
        };
        let choice = Choice { domain: key, anchor, occurrence, picked, default };
        self.note(choice, |_| Decided::Drawn { value: picked, bound });
        picked
    }

    /// 0, the default, but with the probability of `ratio`: then a number below `bound`, all alike. One
    /// choice, where [`Self::happens`] and [`Self::draw`] are two.
    ///
    /// # Panics
    /// Where `bound` is 0.
    #[inline(always)]
    #[track_caller]
    pub fn draw_rarely(&mut self, domain: Domain, anchor: Anchor, ratio: Ratio, bound: u64) -> u64 {
        assert!(bound > 0, "detsim: no number is below 0; give a bound of 1 or more");
        if ratio.is_never() {
            return 0;
        }
        let drawn = match self.streams[domain.0 as usize].1.chance(ratio) {
            false => 0,
            true => self.streams[domain.0 as usize].1.below(bound),
        };
        if self.is_plain() { drawn } else { self.decide(domain, anchor, (drawn, bound), 0) }
    }

    /// True with the probability of `ratio`; the default is false, and a recorded choice is 1 for
    /// true. Draws no word where the ratio is 0.
    #[inline(always)]
    pub fn happens(&mut self, domain: Domain, anchor: Anchor, ratio: Ratio) -> bool {
        if ratio.is_never() {
            return false;
        }
        let drawn = self.streams[domain.0 as usize].1.chance(ratio);
        if self.is_plain() { drawn } else { self.happens_slow(domain, anchor, drawn) }
    }

    #[cold]
    fn happens_slow(&mut self, domain: Domain, anchor: Anchor, drawn: bool) -> bool {
        let key = self.streams[domain.0 as usize].0;
        let occurrence = self.occurrence(key, anchor);
        let picked = match self.replayed(key, anchor, occurrence) {
            None => drawn,
            Some(value) => value == Some(1),
        };
        let choice = Choice { domain: key, anchor, occurrence, picked: picked.into(), default: 0 };
        self.note(choice, |_| Decided::Happened);
        picked
    }

    /// Neither recording nor replaying: a draw is its stream's next word.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Replaying a set?
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self.source, Source::Set { .. })
    }

    /// In a replay: what the set says here (`Some(None)`: the default); in a seeded run `None`.
    pub(crate) fn replayed(
        &mut self,
        domain: u64,
        anchor: Anchor,
        occurrence: u32,
    ) -> Option<Option<u64>> {
        let Source::Set { set } = &mut self.source else { return None };
        Some(set.get_mut(&(domain, anchor, occurrence)).map(|(value, used)| {
            *used = true;
            *value
        }))
    }

    /// The how manieth choice of `domain` at `anchor` this is. Counted for so many anchors; a run with
    /// more of them is not recorded, and its choices count anew.
    pub(crate) fn occurrence(&mut self, domain: u64, anchor: Anchor) -> u32 {
        if self.seen.len() == SEEN_MAX {
            self.seen.clear();
            self.cut();
        }
        let count = self.seen.entry((domain, anchor)).or_insert(0);
        *count += 1;
        *count - 1
    }

    /// Records nothing any more, and forgets what was recorded.
    fn cut(&mut self) {
        (self.recorded, self.notes) = (Vec::new(), Vec::new());
        (self.records, self.is_cut) = (Records::Nothing, true);
    }

    /// Records a choice, unless it is the default; `decided` says what it was about, where that
    /// is asked for.
    pub(crate) fn note(&mut self, choice: Choice, decided: impl FnOnce(&mut Note) -> Decided) {
        if self.records == Records::Nothing || choice.picked == choice.default {
            return;
        }
        if self.recorded.len() == CHOICES_MAX {
            self.cut();
            return;
        }
        self.recorded.push(choice);
        if self.recorded.len() > NOTES_MAX && self.records == Records::Notes {
            (self.notes, self.records) = (Vec::new(), Records::Choices);
        }
        if self.records == Records::Notes {
            let mut domain = self.names.get(&choice.domain).cloned().unwrap_or_default();
            if let Some(actor) = self.actors.get(&choice.anchor.actor) {
                domain = format!("{domain}/{actor}");
            }
            let mut note = Note::new(&self.place, domain);
            note.decided = decided(&mut note);
            self.notes.push(note);
        }
    }

    /// Are choices to be told?
    pub(crate) fn takes_notes(&self) -> bool {
        self.records == Records::Notes
    }

    /// The run stands here.
    pub(crate) fn set_place(&mut self, place: Place) {
        self.place = place;
    }

    /// What the recorded choices were about, one for each; empty where notes are not kept.
    pub(crate) fn notes(&self) -> Vec<ChoiceNote> {
        self.notes.iter().map(Note::told).collect()
    }

    /// Says what the anchors of this actor stand for, in what is told of their choices.
    pub(crate) fn name_actor(&mut self, actor: u64, name: &str) {
        if !self.plain {
            self.actors.entry(actor).or_insert_with(|| name.to_owned());
        }
    }

    /// The names of the domains by their hashes; none in a run that neither records nor replays.
    pub fn domain_names(&self) -> impl Iterator<Item = (u64, &str)> {
        self.names.iter().map(|(hash, name)| (*hash, name.as_str()))
    }

    /// The non-default choices of this run so far, where recording is on.
    pub fn recorded(&self) -> &[Choice] {
        &self.recorded
    }

    /// Were there more choices than can be recorded? Then none is.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// In a replay, how many choices of the set have not come up.
    pub fn unused(&self) -> usize {
        match &self.source {
            Source::Seed => 0,
            Source::Set { set } => set.values().filter(|(_, used)| !used).count(),
        }
    }

    /// A stream of its own for an owner that keeps it: `fold` of the seed and the name.
    pub fn stream(&self, name: &str) -> Stream {
        Stream::keyed(self.seed, hash_bytes(name.as_bytes()))
    }
}

/// The domain of the picks among ready tasks.
pub const SCHED: u64 = fold(0x5CED, 1);
/// The domain of the stops before operations.
pub const STOPS: u64 = fold(SCHED, 2);

#[cfg(test)]
mod tests;
