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

impl Rest {
    pub(super) fn push(&mut self, later: Later) {
        self.later.push(later);
    }
}

/// The lane of a simulation that this thread made and does not run right now: between two runs, or
/// further up the stack. Nobody else can hold its baton (a lease stays on its thread), so its
/// cells are entered as in a run.
pub(super) fn home(owner: u64) -> Option<&'static Lane> {
    if here::is_locked() {
        return None;
    }
    Lane::of_id(owner).filter(|lane| lane.is_home_of(owner))
}

/// Opens a section that is not biased, for the simulation `me`; the lane is returned where this thread drives the owner.
#[cold]
#[inline(never)]
pub(super) fn enter(
    owner: &AtomicU64,
    me: u64,
    site: &'static Location<'static>,
    kind: &'static str,
) -> (Option<&'static Lane>, Box<Rest>) {
    let place = here::place();
    if here::is_locked() || place.lane.is_some_and(|lane| lane.bias.is_busy()) {
        entered_twice(site)
    }
    let mut rest = Box::<Rest>::default();
    let mut slow = Slow::enter(owner, me, &OUTSIDE, |id| {
        &Lane::of_id(id).expect("invariant: lanes are never freed").bias
    });
    let locked = here::lock();
    let lane = match &mut slow {
        Slow::Own { .. } => Lane::of_id(me),
        Slow::Outside { .. } => None,
        Slow::Foreign { gate, .. } => {
            let owner_lane = Lane::of_id(owner.load(Relaxed));
            if let Some(lane) = owner_lane {
                lane.note(gate, Use::Section, kind, Some(site));
            }
            None
        }
    };
    rest.held = Some((slow, locked));
    (lane, rest)
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
