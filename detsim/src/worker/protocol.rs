//! What parent and worker say to each other, and what a child leaves for its worker.
//!
//! Owns: three kinds of message as plain data, and their bytes. Every message is a frame: its
//! length (u32), the version of the protocol (u16), its kind (u8), its fields, all little-endian.
//! Does not own: the connection, nor what the messages mean (`parent.rs`, `serve.rs`, `judge.rs`).
//! Invariants: no input whatever makes decoding panic or allocate more than the input is long, and
//! a [`Request`] is encoded, decoded and answered without allocating, because a frozen worker does.

#[cfg(test)]
mod tests;

use crate::hook::Note;
use crate::outcome::{Failed, Keeps, Kind, RunOutcome, Verdict};

/// Raised with every change of a message; a worker and its parent are the same binary, so two
/// versions meet only where something is badly wrong, and then they say so.
pub(crate) const VERSION: u16 = 2;

/// The longest frame that a parent accepts: a whole output, record and recording, with room to
/// spare.
pub(crate) const FRAME_BYTES_MAX: usize = 160 << 20;

/// The longest set of choices that a worker takes: about 300,000 of them.
pub(crate) const SET_BYTES_MAX: usize = 16 << 20;

/// How a worker runs the seeds of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A fork of the frozen worker for each.
    Fork,
    /// One after the other in the worker, each on a thread of its own.
    InProcess,
}

/// Which outputs a worker sends back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// Those of failing seeds.
    Failing,
    /// All.
    All,
    /// None.
    None,
}

/// "Run these seeds, and answer each with a [`Ran`]." The bytes of the set of choices follow, where
/// there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) mode: Mode,
    pub(crate) outputs: Outputs,
    pub(crate) keeps: Keeps,
    /// The choices to take: a `Vec<Choice>` in as many bytes; `None`: the seed's own.
    pub(crate) set_bytes: Option<u32>,
    pub(crate) first: u64,
    pub(crate) count: u64,
}

/// "I am frozen and ready", the first frame of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    /// The kernel's id of the thread that forks, which is the one to pin.
    pub(crate) thread: i32,
    /// Whether addresses are the same in every worker.
    pub(crate) addresses_repeat: bool,
    /// [`crate::spec::Spec::id`] of the test that the worker serves.
    pub(crate) test: u64,
}

/// The fixed part of what a worker says of one seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RanHead {
    pub(crate) seed: u64,
    /// What `waitpid` said; 0 for a seed that ran in the worker.
    pub(crate) status: i32,
    /// Processor time that the seed took, its fork included.
    pub(crate) busy_ns: u64,
    /// The lengths of the four parts that follow.
    pub(crate) note_bytes: u32,
    pub(crate) record_bytes: u32,
    pub(crate) recording_bytes: u32,
    pub(crate) output_bytes: u32,
}

/// Everything that a worker says of one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) head: RanHead,
    /// The last panic of the run, an encoded [`Note`], or empty.
    pub(crate) note: Vec<u8>,
    /// An encoded [`Record`], or empty where the run left none.
    pub(crate) record: Vec<u8>,
    /// An encoded [`crate::recording::Recording`], or empty where none was asked for.
    pub(crate) recording: Vec<u8>,
    /// What it printed.
    pub(crate) output: Vec<u8>,
}

/// What a run leaves behind in the memory that it shares with its worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// It came to its end.
    Ended(RunOutcome),
    /// The watchdog stopped it.
    Stuck(Stuck),
}

/// What the watchdog saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    /// Steps of the kernel when they stopped coming.
    pub(crate) steps: u64,
    /// Processor time burnt since then, in thousandths of the wall time since then.
    pub(crate) busy_permille: u64,
    pub(crate) wall_ms: u64,
    /// The task that was being polled, or empty.
    pub(crate) task: String,
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

const REQUEST: u8 = 1;
const HELLO: u8 = 2;
const RAN: u8 = 3;
const ENDED: u8 = 4;
const STUCK: u8 = 5;
const NOTE: u8 = 6;

/// Length, version and kind.
const HEAD_BYTES: usize = 4 + 2 + 1;

impl Request {
    pub(crate) const BYTES: usize = HEAD_BYTES + 4 + 4 + 8 + 8;

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let mut out = Writer::new(&mut bytes);
        out.head(REQUEST, Self::BYTES);
        let has_set = u8::from(self.set_bytes.is_some());
        out.bytes(&[self.mode as u8, self.outputs as u8, self.keeps as u8, has_set]);
        out.u32(self.set_bytes.unwrap_or(0));
        out.u64(self.first);
        out.u64(self.count);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::frame(bytes, REQUEST)?;
        let mode = match from.u8()? {
            0 => Mode::Fork,
            1 => Mode::InProcess,
            _ => return Err(Malformed("unknown mode")),
        };
        let outputs = match from.u8()? {
            0 => Outputs::Failing,
            1 => Outputs::All,
            2 => Outputs::None,
            _ => return Err(Malformed("unknown outputs")),
        };
        let keeps = match from.u8()? {
            0 => Keeps::Verdict,
            1 => Keeps::Choices,
            2 => Keeps::Trace,
            3 => Keeps::All,
            _ => return Err(Malformed("unknown recording")),
        };
        let has_set = from.flag()?;
        let set_bytes = Some(from.u32()?).filter(|_| has_set);
        if set_bytes.is_some_and(|bytes| bytes as usize > SET_BYTES_MAX) {
            return Err(Malformed("a set of choices that is too long"));
        }
        let (first, count) = (from.u64()?, from.u64()?);
        from.end().map(|()| Self { mode, outputs, keeps, set_bytes, first, count })
    }
}

impl Hello {
    pub(crate) const BYTES: usize = HEAD_BYTES + 4 + 1 + 8;

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let mut out = Writer::new(&mut bytes);
        out.head(HELLO, Self::BYTES);
        out.u32(self.thread as u32);
        out.bytes(&[u8::from(self.addresses_repeat)]);
        out.u64(self.test);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::frame(bytes, HELLO)?;
        let thread = from.u32()? as i32;
        let hello = Self { thread, addresses_repeat: from.flag()?, test: from.u64()? };
        from.end().map(|()| hello)
    }
}

impl RanHead {
    pub(crate) const BYTES: usize = HEAD_BYTES + 2 * 8 + 5 * 4;

    /// The frame up to its four parts, whose bytes the sender writes after it.
    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let Self { note_bytes, record_bytes, recording_bytes, output_bytes, .. } = *self;
        let parts = [note_bytes, record_bytes, recording_bytes, output_bytes];
        let frame = Self::BYTES + parts.iter().map(|part| *part as usize).sum::<usize>();
        let mut out = Writer::new(&mut bytes);
        out.head(RAN, frame);
        out.u64(self.seed);
        out.u32(self.status as u32);
        out.u64(self.busy_ns);
        parts.into_iter().for_each(|part| out.u32(part));
        bytes
    }
}

impl Ran {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::frame(bytes, RAN)?;
        let head = RanHead {
            seed: from.u64()?,
            status: from.u32()? as i32,
            busy_ns: from.u64()?,
            note_bytes: from.u32()?,
            record_bytes: from.u32()?,
            recording_bytes: from.u32()?,
            output_bytes: from.u32()?,
        };
        let note = from.bytes(head.note_bytes as usize)?.to_vec();
        let record = from.bytes(head.record_bytes as usize)?.to_vec();
        let recording = from.bytes(head.recording_bytes as usize)?.to_vec();
        let output = from.bytes(head.output_bytes as usize)?.to_vec();
        from.end().map(|()| Self { head, note, record, recording, output })
    }
}

impl Record {
    /// The bytes of an outcome, at most `bytes_max`: a report that does not fit is cut.
    pub(crate) fn encode_ended(outcome: &RunOutcome, bytes_max: usize) -> Vec<u8> {
        let mut out = vec![0; HEAD_BYTES];
        let kind = match &outcome.verdict {
            Verdict::Pass => 0,
            Verdict::Fail(failed) => failed.kind as u8,
        };
        out.push(kind);
        for word in [outcome.hash, outcome.steps, outcome.events, outcome.sim_time_ns] {
            out.extend(word.to_le_bytes());
        }
        if let Verdict::Fail(failed) = &outcome.verdict {
            push_texts(&mut out, &failed.signature, &failed.report, bytes_max);
        }
        finish(out, ENDED)
    }

    /// The fixed part of a stuck record, ready to be filled in by a signal handler; the name of the
    /// task follows it as bare bytes, counted in by `task_bytes`.
    pub(crate) fn encode_stuck(
        steps: u64,
        busy_permille: u64,
        wall_ms: u64,
        task_bytes: usize,
    ) -> [u8; STUCK_BYTES] {
        let mut bytes = [0; STUCK_BYTES];
        let mut out = Writer::new(&mut bytes);
        out.head(STUCK, STUCK_BYTES + task_bytes);
        out.u64(steps);
        out.u64(busy_permille);
        out.u64(wall_ms);
        bytes
    }

    /// Whether the bytes are the record of a run that passed; without decoding, for a worker.
    pub(crate) fn is_pass(bytes: &[u8]) -> bool {
        matches!(bytes.get(HEAD_BYTES - 1..=HEAD_BYTES), Some([ENDED, 0]))
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        match bytes.get(HEAD_BYTES - 1) {
            Some(&ENDED) => Self::decode_ended(bytes).map(Self::Ended),
            Some(&STUCK) => Self::decode_stuck(bytes).map(Self::Stuck),
            _ => Err(Malformed("unknown record")),
        }
    }

    fn decode_ended(bytes: &[u8]) -> Result<RunOutcome, Malformed> {
        let mut from = Reader::frame(bytes, ENDED)?;
        let kind = from.u8()?;
        let [hash, steps, events, sim_time_ns] =
            [from.u64()?, from.u64()?, from.u64()?, from.u64()?];
        let verdict = if kind == 0 {
            Verdict::Pass
        } else {
            let kind = Kind::from_number(kind).ok_or(Malformed("unknown verdict"))?;
            Verdict::Fail(Failed { kind, signature: from.text()?, report: from.text()? })
        };
        let outcome = RunOutcome { verdict, hash, steps, events, sim_time_ns, recording: None };
        from.end().map(|()| outcome)
    }

    fn decode_stuck(bytes: &[u8]) -> Result<Stuck, Malformed> {
        let mut from = Reader::frame(bytes, STUCK)?;
        let [steps, busy_permille, wall_ms] = [from.u64()?, from.u64()?, from.u64()?];
        let task = String::from_utf8_lossy(from.0).into_owned();
        Ok(Stuck { steps, busy_permille, wall_ms, task })
    }
}

/// The length of the fixed part of a stuck record.
pub(crate) const STUCK_BYTES: usize = HEAD_BYTES + 3 * 8;

impl Note {
    /// The bytes of a note, at most `bytes_max`: a message that does not fit is cut.
    pub(crate) fn encode(&self, bytes_max: usize) -> Vec<u8> {
        let mut out = vec![0; HEAD_BYTES];
        push_texts(&mut out, &self.site, &self.message, bytes_max);
        finish(out, NOTE)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::frame(bytes, NOTE)?;
        let note = Self { site: from.text()?, message: from.text()? };
        from.end().map(|()| note)
    }
}

/// Appends two texts, of which the second is the one to cut where there is no room for both.
fn push_texts(out: &mut Vec<u8>, first: &str, second: &str, bytes_max: usize) {
    push_text(out, first, bytes_max.saturating_sub(TEXT_HEAD_BYTES));
    push_text(out, second, bytes_max);
}

/// The length in front of a text.
const TEXT_HEAD_BYTES: usize = 4;

/// Appends a text and its length, cut at a character so that `out` stays within `bytes_max`.
fn push_text(out: &mut Vec<u8>, text: &str, bytes_max: usize) {
    let room = bytes_max.saturating_sub(out.len() + TEXT_HEAD_BYTES);
    let cut = (0..=text.len().min(room)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    out.extend((cut as u32).to_le_bytes());
    out.extend(&text.as_bytes()[..cut]);
}

/// Writes the head of a frame that was built behind room for it.
fn finish(mut frame: Vec<u8>, kind: u8) -> Vec<u8> {
    let length = frame.len();
    Writer::new(&mut frame).head(kind, length);
    frame
}

/// Fills a slice from its start. Every caller has sized the slice for what it writes.
struct Writer<'a>(&'a mut [u8]);

impl<'a> Writer<'a> {
    fn new(bytes: &'a mut [u8]) -> Self {
        Self(bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let (to, rest) = std::mem::take(&mut self.0).split_at_mut(bytes.len());
        to.copy_from_slice(bytes);
        self.0 = rest;
    }

    fn u32(&mut self, word: u32) {
        self.bytes(&word.to_le_bytes());
    }

    fn u64(&mut self, word: u64) {
        self.bytes(&word.to_le_bytes());
    }

    fn head(&mut self, kind: u8, frame_bytes: usize) {
        self.u32(frame_bytes as u32);
        self.bytes(&VERSION.to_le_bytes());
        self.bytes(&[kind]);
    }
}

/// Takes a slice apart from its start.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The fields of a frame of this kind, whose length must be that of `bytes`.
    fn frame(bytes: &'a [u8], kind: u8) -> Result<Self, Malformed> {
        let mut from = Self(bytes);
        if from.u32()? as usize != bytes.len() {
            return Err(Malformed("length differs from what the frame says"));
        }
        let version = u16::from_le_bytes(from.array()?);
        if version != VERSION {
            return Err(Malformed("another version of the protocol"));
        }
        if from.u8()? != kind {
            return Err(Malformed("another kind of message"));
        }
        Ok(from)
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Malformed("cut short"))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes(N)?.try_into().map_err(|_| Malformed("cut short"))
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("a flag that is neither 0 nor 1")),
        }
    }

    fn text(&mut self) -> Result<String, Malformed> {
        let count = self.u32()? as usize;
        let bytes = self.bytes(count)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| Malformed("text that is not UTF-8"))
    }

    fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed("more bytes than fields")) }
    }
}
