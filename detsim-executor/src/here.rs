//! Where this thread stands: the thread-locals of the kernel.
//!
//! Owns: its [`Place`] (`words.rs`), the id and lane of the simulation that this thread drives (the *baton*), and what
//! tells that the thread is in a section of another kind: a mark for those that hold a lock, and
//! the last simulation of its own whose cell it entered without driving it. Does not own: who may
//! take the baton (`bound/lease.rs`, and `baton.rs`: the only callers of [`replace`]).
//!
//! Invariants: an id stands in at most one thread's `HERE`; the lane is set exactly where the id is
//! not [`NOWHERE`]; nothing here has a destructor or a lazy initialiser, so that it can be read at
//! any time, in the destructors of a thread's other locals too.

mod words;

use std::cell::Cell;

use crate::attend::Finds;
use crate::baton::Seat;
pub(crate) use crate::bound::protocol::NOWHERE;
use crate::bound::protocol::UNBOUND;
use crate::lane::Lane;

/// What a thread that drives a simulation knows about itself.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The owner id of the simulation, or [`NOWHERE`].
    pub(crate) sim: u64,
    /// Its lane; `None` exactly where `sim` is [`NOWHERE`].
    pub(crate) lane: Option<&'static Lane>,
    /// The word of the task that is being polled, until it yields; 0 otherwise.
    pub(crate) polled: u64,
}

struct Here {
    locked: Cell<bool>,
    home: Cell<u64>,
    /// The seat of a pooled thread, and the lane it is for.
    seat: Cell<Option<(u64, &'static Seat)>>,
    /// What runs is a closure that may block its thread.
    may_block: Cell<bool>,
    /// What runs is the kernel's own business with the system.
    outside: Cell<bool>,
    /// The simulation whose business it is what this thread asks the system for, outside of any.
    attended: Cell<Option<Finds>>,
    /// The program has started this thread, in a run.
    started: Cell<bool>,
    /// The number of the task whose result is being dropped with its handle.
    dropping: Cell<Option<u32>>,
}

const _: () = assert!(!std::mem::needs_drop::<Here>());

thread_local! {
    static HERE: Here = const {
        Here {
            locked: Cell::new(false),
            home: Cell::new(UNBOUND),
            seat: Cell::new(None),
            may_block: Cell::new(false),
            outside: Cell::new(false),
            attended: Cell::new(None),
            started: Cell::new(false),
            dropping: Cell::new(None),
        }
    };
}

/// The simulation that this thread drives.
#[inline]
pub(crate) fn place() -> Place {
    words::with(|words| Place {
        sim: words.sim.get(),
        lane: words.lane.get(),
        polled: words.polled.get(),
    })
}

/// Puts another place here and returns the one before. For `Lease::drive` and `baton.rs`.
pub(crate) fn replace(place: Place) -> Place {
    words::with(|words| words.replace(place))
}

/// The task of this word is polled from now on. For the run loop alone.
#[inline]
pub(crate) fn begin_poll(word: u64) {
    words::with(|words| words.polled.set(word));
}

/// The poll is over; true where its task has yielded. For the run loop alone.
#[inline]
pub(crate) fn end_poll() -> bool {
    words::with(|words| words.polled.get() == 0)
}

/// The task of this word lets the others run: it is ready again when its poll is over. False where
/// it is not the one that is being polled, or has yielded already.
#[inline]
pub(crate) fn yield_poll(word: u64) -> bool {
    words::with(|words| {
        let yields = words.polled.get() == word;
        if yields {
            words.polled.set(0);
        }
        yields
    })
}

/// A number of this thread that no other living thread has. Only ever compared.
pub(crate) fn token() -> u64 {
    HERE.with(|here| std::ptr::from_ref(here).addr() as u64)
}

/// Whether this thread is inside a section that holds a lock: the next one would deadlock.
pub(crate) fn is_locked() -> bool {
    HERE.with(|here| here.locked.get())
}

/// Whether this thread is inside a section of any kind.
pub(crate) fn is_in_section() -> bool {
    is_locked()
        || place().lane.is_some_and(|lane| lane.bias.is_busy())
        || home_of(HERE.with(|here| here.home.get())).is_some_and(|lane| lane.bias.is_busy())
}

/// The lane of a simulation that this thread made, whether it runs right now or not. Nobody else
/// can hold its baton: a lease stays on its thread.
pub(crate) fn home_of(id: u64) -> Option<&'static Lane> {
    Lane::of_id(id).filter(|lane| lane.bias.is_home_of(id, token()))
}

/// Notes that this thread enters a cell of a simulation that it made and does not run right now.
pub(crate) fn set_home(id: u64) {
    HERE.with(|here| here.home.set(id));
}

/// Marks this thread as inside such a section.
pub(crate) fn lock() -> Locked {
    HERE.with(|here| here.locked.set(true));
    Locked
}

/// The mark; dropping it takes it away.
pub(crate) struct Locked;

impl Drop for Locked {
    fn drop(&mut self) {
        HERE.with(|here| here.locked.set(false));
    }
}

/// The seat of this pooled thread, and the index of its lane.
pub(crate) fn seat() -> Option<(u64, &'static Seat)> {
    HERE.with(|here| here.seat.get())
}

/// Makes this a pooled thread of a lane.
pub(crate) fn set_seat(lane: u64, seat: &'static Seat) {
    HERE.with(|here| here.seat.set(Some((lane, seat))));
}

/// Whether what runs may block its thread.
pub(crate) fn may_block() -> bool {
    HERE.with(|here| here.may_block.get())
}

/// Says whether what runs may block its thread; what was so before.
pub(crate) fn set_may_block(may_block: bool) -> bool {
    HERE.with(|here| here.may_block.replace(may_block))
}

/// Whether what this thread asks the system for is the kernel's own business, not the program's.
pub fn is_outside() -> bool {
    HERE.with(|here| here.outside.get())
}

/// See [`Here::attended`].
pub(crate) fn attended() -> Option<Finds> {
    HERE.with(|here| here.attended.get())
}

/// See [`Here::attended`]; what it was before.
pub(crate) fn set_attended(find: Option<Finds>) -> Option<Finds> {
    HERE.with(|here| here.attended.replace(find))
}

/// Whether the program has started this thread itself, in a run: nothing else ever runs on it.
#[inline]
pub fn is_started() -> bool {
    HERE.with(|here| here.started.get())
}

/// What a thread is to the run that it is in.
pub(crate) struct Standing {
    seat: Option<(u64, &'static Seat)>,
    may_block: bool,
    started: bool,
}

impl Standing {
    /// Of one that visits the run of a lane.
    pub(crate) fn visitor(lane: u64, seat: &'static Seat) -> Self {
        Self { seat: Some((lane, seat)), may_block: true, started: true }
    }
}

/// This thread is that from now on; what it was before.
pub(crate) fn stand(standing: Standing) -> Standing {
    let Standing { seat, may_block, started } = standing;
    HERE.with(|here| Standing {
        seat: here.seat.replace(seat),
        may_block: here.may_block.replace(may_block),
        started: here.started.replace(started),
    })
}

/// See [`Here::dropping`].
pub(crate) fn dropping() -> Option<u32> {
    HERE.with(|here| here.dropping.get())
}

/// See [`Here::dropping`]; what it was before.
pub(crate) fn set_dropping(number: Option<u32>) -> Option<u32> {
    HERE.with(|here| here.dropping.replace(number))
}

/// Notes that it has.
pub(crate) fn set_started() {
    HERE.with(|here| here.started.set(true));
}

/// Marks what this thread does from now on as the simulator's own business with the system: a lock that
/// it shares with threads outside of the run is waited for as the system does it, and no part of the run.
#[must_use = "the mark is gone when it is dropped"]
pub fn outside() -> OutsideMark {
    OutsideMark(HERE.with(|here| here.outside.replace(true)))
}

/// The mark of [`outside`]; dropping it brings back what was before.
#[derive(Debug)]
pub struct OutsideMark(bool);

impl Drop for OutsideMark {
    fn drop(&mut self) {
        HERE.with(|here| here.outside.set(self.0));
    }
}
