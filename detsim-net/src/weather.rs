//! What goes wrong on the links by itself.
//!
//! Owns: when an incident begins and ends, drawn from the stream `env/net`, whom it strikes and how, drawn
//! from `env/net/whom`; and what is in force at a moment. Does not own: what a link does with it, or what a
//! scenario says of links, which is theirs beside it ([`crate::links`]).
//!
//! # Invariants
//! - Nothing is due on account of the weather alone: incidents are drawn up to now when a packet asks. So
//!   hours without traffic cost nothing, and a run that is stuck is seen to be stuck.
//! - When an incident that nobody saw began and ended is drawn all the same, so that when later ones come
//!   does not depend on who sends when; whom it would have struck is not.
//! - Nothing strikes the way from a node to itself. At most one incident of a kind is on.

mod draws;
mod incident;

use std::cell::LazyCell;

use detsim_executor::rng::fold;
use detsim_executor::{Anchor, Choices, Domain, Kernel, NodeId, Ratio, SimTime};

use self::draws::Draws;
use self::incident::{Effect, Incident};
use crate::link::Partition;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Weather {
    /// Of when they come, and of whom they strike.
    domains: Option<[Domain; 2]>,
    kinds: [Schedule; 4],
    incidents: Vec<Incident>,
    /// Until then everything is as it is.
    next_change: SimTime,
}

/// When incidents of one kind come.
#[derive(Clone, Copy, Debug)]
struct Schedule {
    kind: Kind,
    /// The mean time from the end of one to the next; 0 where there are none.
    gap_ns: u64,
    next: SimTime,
    drawn: u32,
}

/// What comes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sides that do not hear each other.
    Partition,
    /// One link that holds everything, to let it go in a burst.
    Jam,
    /// Half of the nodes fall silent one after the other, and come back one after the other.
    Swizzle,
    /// One link that takes many times as long.
    Slow,
}

/// What is in force on one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Force {
    pub(crate) cut: Option<Partition>,
    pub(crate) slowness: u32,
    /// When a link that holds opens again.
    pub(crate) held_until: Option<SimTime>,
}

impl Force {
    pub(crate) const NONE: Self = Self { cut: None, slowness: 1, held_until: None };
}

/// How often an incident that could come does.
const COMES: Ratio = Ratio::new(15, 16);

impl Weather {
    /// Fair: nothing happens.
    pub(crate) fn fair() -> Self {
        let kinds = [Kind::Partition, Kind::Jam, Kind::Swizzle, Kind::Slow];
        Self {
            domains: None,
            kinds: kinds.map(|kind| Schedule { kind, gap_ns: 0, next: SimTime::MAX, drawn: 0 }),
            incidents: Vec::new(),
            next_change: SimTime::MAX,
        }
    }

    /// From now on incidents come with these mean gaps, in the order of the kinds; 0 for none. Those
    /// that are on end.
    pub(crate) fn set(&mut self, kernel: &mut Kernel, gaps_ns: [u64; 4]) {
        self.incidents.iter_mut().for_each(|incident| incident.ends = SimTime::ZERO);
        self.retire(kernel);
        let now = kernel.now();
        let [domain, whom] = ["env/net", "env/net/whom"].map(|name| kernel.choices().domain(name));
        self.domains = Some([domain, whom]);
        for (schedule, gap_ns) in self.kinds.iter_mut().zip(gaps_ns) {
            schedule.gap_ns = gap_ns;
            schedule.next = schedule.after(now, domain, kernel.choices());
        }
        self.look_ahead();
    }

    /// What is in force on the link from one host to another at this moment, of all `hosts` there are.
    #[inline]
    pub(crate) fn force(
        &mut self,
        kernel: &mut Kernel,
        (from, to): (NodeId, NodeId),
        hosts: impl FnOnce() -> Vec<NodeId>,
    ) -> Force {
        match self.is_calm(kernel.now()) || from == to {
            true => Force::NONE,
            false => self.force_now(kernel, (from, to), hosts),
        }
    }

    /// Is nothing in force on any link, as far as has been drawn?
    #[inline]
    pub(crate) fn is_calm(&self, now: SimTime) -> bool {
        now < self.next_change && self.incidents.is_empty()
    }

    #[inline(never)]
    fn force_now(
        &mut self,
        kernel: &mut Kernel,
        (from, to): (NodeId, NodeId),
        hosts: impl FnOnce() -> Vec<NodeId>,
    ) -> Force {
        let now = kernel.now();
        if now >= self.next_change {
            self.advance(kernel, hosts);
        }
        self.of_link(now, from, to)
    }

    fn of_link(&self, now: SimTime, from: NodeId, to: NodeId) -> Force {
        let mut force = Force::NONE;
        let on = self.incidents.iter().filter(|i| i.begins <= now && i.strikes(from, to));
        for incident in on {
            match incident.effect {
                Effect::Slow(slowness) => force.slowness *= slowness,
                Effect::Cut(Partition::Drop) => force.cut = Some(Partition::Drop),
                Effect::Cut(Partition::Hold) => {
                    force.cut.get_or_insert(Partition::Hold);
                    force.held_until = force.held_until.max(Some(incident.ends));
                }
            }
        }
        force
    }

    /// Draws everything that began by now.
    #[cold]
    fn advance(&mut self, kernel: &mut Kernel, hosts: impl FnOnce() -> Vec<NodeId>) {
        let now = kernel.now();
        let hosts = LazyCell::new(hosts);
        while let Some(at) = self.first_due(now) {
            let (kind, draws, times) = self.begin(kernel, at);
            if times.1 > now && hosts.len() > 1 {
                { draws }.incidents(kernel, kind, times, &hosts, &mut self.incidents);
            }
        }
        self.retire(kernel);
        for incident in &mut self.incidents {
            if incident.begins <= now && !incident.is_told {
                incident.is_told = true;
                incident.tell(kernel);
            }
        }
        self.look_ahead();
    }

    /// The kind of which one begins first, by now. In this order: they draw from one stream.
    fn first_due(&self, now: SimTime) -> Option<usize> {
        let first = (0..self.kinds.len()).min_by_key(|at| self.kinds[*at].next)?;
        (self.kinds[first].next <= now).then_some(first)
    }

    /// The next incident of a kind, with the draws for whom it strikes, when it begins and ends; and when
    /// the one after it comes. One that does not come ends where it begins.
    fn begin(&mut self, kernel: &mut Kernel, at: usize) -> (Kind, Draws, (SimTime, SimTime)) {
        let [domain, whom] = self.domains.expect("invariant: incidents come where a gap was set");
        let schedule = &mut self.kinds[at];
        let mut draw = schedule.draws(domain);
        let of_whom = schedule.draws(whom);
        schedule.drawn = schedule.drawn.wrapping_add(1);
        let begins = schedule.next;
        let comes = draw.happens(kernel.choices(), COMES);
        let ends = if comes { begins + draw.duration(kernel) } else { begins };
        schedule.next = schedule.after(ends, domain, kernel.choices());
        (schedule.kind, of_whom, (begins, ends))
    }

    /// Ends what is over.
    fn retire(&mut self, kernel: &mut Kernel) {
        let now = kernel.now();
        self.incidents.retain(|incident| {
            let is_over = incident.ends <= now;
            if is_over && incident.is_told {
                incident.tell_end(kernel);
            }
            !is_over
        });
    }

    fn look_ahead(&mut self) {
        let now_on = self.incidents.iter();
        let changes = now_on.map(|i| if i.is_told { i.ends } else { i.begins });
        let next = changes.chain(self.kinds.iter().map(|schedule| schedule.next)).min();
        self.next_change = next.unwrap_or(SimTime::MAX);
    }
}

impl Schedule {
    /// When the next one comes, counted from a moment.
    fn after(&self, from: SimTime, domain: Domain, choices: &mut Choices) -> SimTime {
        if self.gap_ns == 0 {
            return SimTime::MAX;
        }
        let bound = self.gap_ns.saturating_mul(2);
        let wait_ns = self.draws(domain).below(choices, bound, bound - 1);
        // Not at once again, whatever is drawn.
        SimTime::from_nanos(from.as_nanos().saturating_add(wait_ns + 1))
    }

    fn draws(&self, domain: Domain) -> Draws {
        let actor = fold(ACTOR, self.kind as u64);
        Draws { domain, anchor: Anchor { actor, ordinal: self.drawn } }
    }
}

/// Whose choices these are.
const ACTOR: u64 = 0x6e65_742f_656e_7600;

#[cfg(test)]
mod tests;
