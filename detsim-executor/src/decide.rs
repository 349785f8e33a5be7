//! The scheduler's decisions in a run that is recorded or replayed.
//!
//! Owns: how a pick and a stop become choices: their anchors, their defaults, and what is noted of
//! them. Does not own: the plain run, which comes nowhere near this file ([`crate::kernel`]).
//! Invariant: recording changes no decision; a replay of all recorded choices takes each of them
//! again, because the default depends on nothing but the order in which tasks became ready.

use crate::block::{Object, OpKind};
use crate::choice::{Anchor, Choice, Decided, Place, SCHED, STOPS};
use crate::kernel::Kernel;
use crate::stack::Stack;
use crate::task::Slot;

impl Kernel {
    /// Takes the next task to run: the set's, the policy's or the default one.
    #[cold]
    pub(crate) fn pick_slow(&mut self) -> Option<u32> {
        let at = self.moment();
        if self.failure.is_some() {
            return None;
        }
        if self.choices.is_plain() {
            return self.policy.pick(at);
        }
        let default = self.policy.default_pick(at)?;
        let actor = at.current.and_then(|slot| Some((slot, self.tasks.get(slot)?.sig)));
        let anchor = actor.map_or(Anchor::default(), |(slot, sig)| {
            let cold = self.tasks.cold_mut(slot);
            cold.picks += 1;
            Anchor { actor: sig, ordinal: cold.picks }
        });
        let occurrence = self.choices.occurrence(SCHED, anchor);
        let picked = match self.choices.replayed(SCHED, anchor, occurrence) {
            None => self.policy.pick(at)?,
            Some(wanted) => {
                let slot = wanted.and_then(|sig| self.ready_slot(sig)).unwrap_or(default);
                self.policy.remove(slot);
                slot
            }
        };
        self.note_pick(anchor, occurrence, picked, default);
        Some(picked)
    }

    fn note_pick(&mut self, anchor: Anchor, occurrence: u32, picked: u32, default: u32) {
        let sig = |slot| self.tasks.get(slot).map_or(0, |s: &Slot| s.sig);
        let choice = Choice {
            domain: SCHED,
            anchor,
            occurrence,
            picked: sig(picked),
            default: sig(default),
        };
        let told = self.choices.takes_notes().then(|| {
            self.place_choices();
            let shown = |slot| self.shown_task(self.tag_of(slot));
            Decided::Ran { task: shown(picked), instead_of: shown(default) }
        });
        self.choices.note(choice, |_| told.unwrap_or_default());
    }

    fn ready_slot(&self, sig: u64) -> Option<u32> {
        let mut living = self.tasks.living();
        let is_ready = |s: &Slot| s.sig == sig && s.queued && self.runs(s);
        living.find(|(i, s)| is_ready(s) && !self.deferred.has(*i)).map(|(i, _)| i)
    }

    /// Is the current task stopped before this operation? `own`: it waits with its own waker, so
    /// that it can be.
    pub(crate) fn stop_choice(
        &mut self,
        anchor: Anchor,
        drawn: bool,
        own: bool,
        object: &Object,
        kind: OpKind,
    ) -> bool {
        if self.choices.is_plain() {
            return drawn && own;
        }
        let occurrence = self.choices.occurrence(STOPS, anchor);
        let wanted = match self.choices.replayed(STOPS, anchor, occurrence) {
            None => drawn,
            Some(value) => value == Some(1),
        };
        if self.choices.is_replay() {
            // Every operation asks: the set, not a count, says where to stop.
            if let Some(slot) = self.tasks.get_mut(self.current_index()) {
                slot.stop_at = 0;
            }
        }
        let stops = wanted && own;
        self.place_choices();
        let choice =
            Choice { domain: STOPS, anchor, occurrence, picked: u64::from(stops), default: 0 };
        self.choices.note(choice, |note| {
            note.stack = Some(Stack::capture());
            Decided::Stopped { op: kind.word().to_owned(), object: object.shown() }
        });
        stops
    }

    /// Tells the choices where the run stands, for what is noted of the next one.
    #[cold]
    pub(crate) fn place_choices(&mut self) {
        if !self.choices.takes_notes() {
            return;
        }
        let place = Place {
            at: self.now(),
            step: self.steps(),
            events: self.events(),
            task: self.shown_task(self.current_tag()),
        };
        self.choices.set_place(place);
    }
}
