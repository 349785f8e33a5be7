//! The rare parts of a section: entered under a lock, or with more to do once it is left.
//!
//! Owns: what a plain biased section does not need. Nothing here is generic, so that it is compiled
//! once. Does not own: the protocol, nor the cell. Invariant: user code (a foreign waker's `wake` or
//! `drop`) runs after the section and its lock are gone.

use std::panic::Location;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Waker;

use super::escape::Use;
use super::protocol::{Outside, Slow};
use crate::here::{self, Locked};
use crate::lane::{Gate, Lane};

static OUTSIDE: Mutex<Outside> = Mutex::new(Outside);

/// What is left to do when a section is left.
#[derive(Default)]
pub(super) struct Rest {
    /// The section goes first, then the mark of this thread.
    held: Option<(Slow<'static, Gate>, Locked)>,
    later: Vec<Later>,
}

/// A foreign waker that the section has done with.
pub(super) enum Later {
    Wake(Waker),
    Drop(Waker),
}

/// Opens a section where the plain way is closed. The lane is returned where this thread is the one
/// that drives the owner; with a lane and nothing else, the section is biased.
#[cold]
#[inline(never)]
pub(super) fn enter(
    owner: &AtomicU64,
    site: &'static Location<'static>,
    kind: fn() -> &'static str,
) -> (Option<&'static Lane>, Option<Box<Rest>>) {
    if here::is_in_section() {
        entered_twice(site)
    }
    let id = owner.load(Relaxed);
    let Some(lane) = here::home_of(id) else {
        return enter_locked(owner, here::place().sim, site, kind);
    };
    // A simulation that this thread made and does not run right now: between two runs, or further up
    // the stack. Its cells are entered as in a run.
    here::set_home(id);
    if lane.bias.is_busy() {
        entered_twice(site)
    }
    match lane.bias.enter() {
        true => (Some(lane), None),
        false => enter_locked(owner, id, site, kind),
    }
}

/// Opens a section under a lock, for the simulation `me`.
fn enter_locked(
    owner: &AtomicU64,
    me: u64,
    site: &'static Location<'static>,
    kind: fn() -> &'static str,
) -> (Option<&'static Lane>, Option<Box<Rest>>) {
    let mut rest = Box::<Rest>::default();
    let mut slow = Slow::enter(owner, me, &OUTSIDE, |id| {
        &Lane::of_id(id).expect("invariant: lanes are never freed").bias
    });
    let locked = here::lock();
    let lane = match &mut slow {
        Slow::Own { .. } => Lane::of_id(me),
        Slow::Outside { .. } => None,
        Slow::Foreign { gate, .. } => {
            if let Some(lane) = Lane::of_id(owner.load(Relaxed)) {
                lane.note(gate, Use::Section, kind(), Some(site));
            }
            None
        }
    };
    rest.held = Some((slow, locked));
    (lane, Some(rest))
}

/// Adds to what is to be done after the section; `first` and `rest` are that so far.
#[cold]
#[inline(never)]
pub(super) fn put_off(
    later: Later,
    first: Option<Waker>,
    rest: Option<Box<Rest>>,
) -> (Option<Waker>, Option<Box<Rest>>) {
    match (later, first, rest) {
        (Later::Wake(waker), None, None) => (Some(waker), None),
        (later, first, rest) => {
            let mut rest = rest.unwrap_or_default();
            rest.later.push(later);
            (first, Some(rest))
        }
    }
}

/// Ends a section of any kind, then does what was put off.
#[cold]
#[inline(never)]
pub(super) fn leave(lane: Option<&'static Lane>, rest: Option<Box<Rest>>, first: Option<Waker>) {
    let Rest { held, later } = rest.map_or_else(Rest::default, |rest| *rest);
    match (held, lane) {
        (Some(held), _) => drop(held),
        (None, Some(lane)) => lane.bias.leave(),
        (None, None) => {}
    }
    first.into_iter().for_each(Waker::wake);
    for later in later {
        match later {
            Later::Wake(waker) => waker.wake(),
            Later::Drop(waker) => drop(waker),
        }
    }
}

#[cold]
#[inline(never)]
pub(super) fn entered_twice(site: &'static Location<'static>) -> ! {
    panic!("detsim bug: object created at {site} entered twice")
}
