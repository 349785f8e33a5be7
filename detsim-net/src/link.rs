//! One directed link.
//!
//! Owns: how long a message takes from one node to another, whether it is lost or comes twice, and
//! whether the link is cut. Does not own: messages, queues, or who listens. A link is told what is
//! sent and what is due, and answers; the same link carries the messages of a network and the
//! segments of a socket.
//!
//! # Determinism
//! The link `net/n1/n2` draws latencies from the stream of that name, and each fault from a stream
//! of its own below it (`net/n1/n2/loss`), so a rate that is changed shifts no latency. A choice is
//! anchored at the link and the number of the message on it. Defaults: least latency, no fault.

use detsim_executor::rng::{fold, hash_bytes};
use detsim_executor::{Anchor, Choices, Domain, Ratio, SimTime};

/// In which order a link delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As latencies have it: a message may overtake another.
    #[default]
    Any,
    /// First in, first out: a message that would overtake another arrives right behind it.
    Fifo,
}

/// What a cut link does to a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// Loses it.
    #[default]
    Drop,
    /// Keeps it until the link opens; then all that was kept comes in one burst, in order.
    Hold,
}

/// What can be set on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkConfig {
    pub(crate) latency_ns_min: u64,
    pub(crate) latency_ns_max: u64,
    /// Applied twice: at send and at delivery.
    pub(crate) loss: Ratio,
    pub(crate) duplicate: Ratio,
    pub(crate) order: Order,
    /// How often a latency is of the tail: 2 to 100 times what was drawn.
    pub(crate) tail: Ratio,
    /// Bytes in a second; 0 where there is no bound.
    pub(crate) bandwidth: u64,
}

impl Default for LinkConfig {
    /// A local network without faults: 0.1 to 1 ms.
    fn default() -> Self {
        Self {
            latency_ns_min: 100_000,
            latency_ns_max: 1_000_000,
            loss: Ratio::NEVER,
            duplicate: Ratio::NEVER,
            order: Order::Any,
            tail: Ratio::NEVER,
            bandwidth: 0,
        }
    }
}

/// One directed link.
///
/// # Invariants
/// `faults` is there as soon as a rate of `config` is above 0. `is_plain` follows from all other fields.
#[derive(Debug)]
pub(crate) struct Link {
    sig: u64,
    latency: Domain,
    faults: Option<FaultDomains>,
    config: LinkConfig,
    cut: Option<Partition>,
    /// How many times as long a message takes.
    slowness: u32,
    sent: u32,
    /// When what was sent so far will have left, where there is a bandwidth.
    busy_until: SimTime,
    /// When the last message will arrive, where order is kept.
    last_arrival: SimTime,
    /// It does nothing to a message but take its time: see [`Self::launch_plainly`].
    is_plain: bool,
}

#[derive(Clone, Copy, Debug)]
struct FaultDomains {
    loss_at_send: Domain,
    loss_at_delivery: Domain,
    duplicate: Domain,
    tail: Domain,
}

/// What a link is given to carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// With headers; 0 where nobody knows.
    pub(crate) bytes: usize,
    /// How many times as long it takes, beside what the link does by itself.
    pub(crate) slowness: u32,
}

impl Load {
    /// A message of unknown size.
    pub(crate) const UNSIZED: Self = Self { bytes: 0, slowness: 1 };
}

/// Which message of a link: its number, and whether it is the copy that a duplication made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) ordinal: u32,
    pub(crate) is_copy: bool,
}

/// What becomes of a message that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) ordinal: u32,
    /// When it arrives, or would.
    pub(crate) at: SimTime,
    pub(crate) fate: Fate,
    /// Its latency is of the tail.
    pub(crate) lags: bool,
}

/// What a link does to a message at send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Carries it.
    Carried,
    /// Loses it: the link is cut.
    Cut,
    /// Carries it, and a copy that arrives then.
    Doubled(SimTime),
    /// Loses it, as its rate has it.
    Lost,
}

impl Link {
    /// An open link of this name, such as `net/n1/n2`.
    pub(crate) fn new(name: &str, config: LinkConfig, choices: &mut Choices) -> Self {
        let mut link = Self {
            sig: hash_bytes(name.as_bytes()),
            latency: choices.domain(name),
            faults: None,
            config,
            cut: None,
            slowness: 1,
            sent: 0,
            busy_until: SimTime::ZERO,
            last_arrival: SimTime::ZERO,
            is_plain: false,
        };
        link.configure(name, config, choices);
        link
    }

    /// Changes the settings; messages on their way keep the latency that they have.
    pub(crate) fn configure(&mut self, name: &str, config: LinkConfig, choices: &mut Choices) {
        self.config = config;
        let rates = [config.loss, config.duplicate, config.tail];
        let faultless = rates.into_iter().all(Ratio::is_never);
        if self.faults.is_none() && !faultless {
            let mut domain = |fault| choices.domain(&format!("{name}/{fault}"));
            self.faults = Some(FaultDomains {
                loss_at_send: domain("loss"),
                loss_at_delivery: domain("loss-at-delivery"),
                duplicate: domain("duplicate"),
                tail: domain("tail"),
            });
        }
        self.settle();
    }

    /// Something about the link has changed.
    fn settle(&mut self) {
        let LinkConfig { loss, duplicate, tail, order, bandwidth, .. } = self.config;
        let never = [loss, duplicate, tail].into_iter().all(Ratio::is_never);
        let calm = never && order == Order::Any && bandwidth == 0;
        self.is_plain = calm && !self.is_hurt();
    }

    /// Does it nothing to a message but take its time?
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The settings.
    pub(crate) fn config(&self) -> LinkConfig {
        self.config
    }

    /// The name of the link, hashed.
    #[inline]
    pub(crate) fn sig(&self) -> u64 {
        self.sig
    }

    /// Whether the link is cut, and what it does then.
    #[inline]
    pub(crate) fn cut(&self) -> Option<Partition> {
        self.cut
    }

    /// Cuts the link.
    pub(crate) fn set_cut(&mut self, rule: Partition) {
        self.cut = Some(rule);
        self.settle();
    }

    /// Opens the link, at its own speed.
    pub(crate) fn heal(&mut self) {
        (self.cut, self.slowness) = (None, 1);
        self.settle();
    }

    /// Is it cut, or slow?
    pub(crate) fn is_hurt(&self) -> bool {
        self.cut.is_some() || self.slowness > 1
    }

    /// Makes the link take this many times as long.
    pub(crate) fn set_slowness(&mut self, slowness: u32) {
        self.slowness = slowness;
        self.settle();
    }

    /// The number of a message that is sent.
    #[inline(always)]
    pub(crate) fn count(&mut self) -> u32 {
        let ordinal = self.sent;
        self.sent = ordinal.wrapping_add(1);
        ordinal
    }

    /// What [`Self::launch`] does on a plain link: the number of the message, and when it arrives.
    #[inline(always)]
    pub(crate) fn launch_plainly(&mut self, now: SimTime, choices: &mut Choices) -> (u32, SimTime) {
        let ordinal = self.count();
        let passage = Passage { ordinal, is_copy: false };
        (ordinal, after(now, self.draw_latency_ns(passage, choices)))
    }

    /// A message is sent.
    #[inline]
    pub(crate) fn launch(&mut self, now: SimTime, load: Load, choices: &mut Choices) -> Launch {
        if self.is_plain && load.slowness <= 1 {
            let (ordinal, at) = self.launch_plainly(now, choices);
            return Launch { ordinal, at, fate: Fate::Carried, lags: false };
        }
        let ordinal = self.count();
        let passage = Passage { ordinal, is_copy: false };
        // Drawn for a message that is lost too: a partition or a rate shifts no latency.
        let mut latency_ns = self.draw_latency_ns(passage, choices);
        let tail = self.draw_tail(passage, choices);
        let slowness = u64::from(tail) * u64::from(self.slowness) * u64::from(load.slowness);
        if slowness > 1 {
            latency_ns = latency_ns.saturating_mul(slowness);
        }
        let at = after(self.leave(now, load), latency_ns);
        let lags = tail > 1;
        let fate = match (self.cut, self.faults) {
            (Some(Partition::Drop), _) => Fate::Cut,
            (_, None) => Fate::Carried,
            (_, Some(faults)) => self.draw_fate(ordinal, now, faults, choices),
        };
        if self.config.order == Order::Fifo {
            return self.line_up(Launch { ordinal, at, fate, lags });
        }
        Launch { ordinal, at, fate, lags }
    }

    /// When the last byte of a message is on the link: behind those that were sent before it.
    #[inline]
    fn leave(&mut self, now: SimTime, load: Load) -> SimTime {
        if self.config.bandwidth == 0 {
            return now;
        }
        let (bytes, bandwidth) = (load.bytes as u64, self.config.bandwidth);
        // What one packet has is few bytes: a division of two words takes many times as long.
        let ns = match bytes.checked_mul(1_000_000_000) {
            Some(all) => all / bandwidth,
            None => (u128::from(bytes) * 1_000_000_000 / u128::from(bandwidth)) as u64,
        };
        self.busy_until = after(self.busy_until.max(now), ns);
        self.busy_until
    }

    /// How many times as long as drawn a message takes, by the tail of the latency.
    #[inline]
    fn draw_tail(&self, passage: Passage, choices: &mut Choices) -> u32 {
        match self.faults {
            Some(faults) if !self.config.tail.is_never() => {
                let anchor = self.anchor(passage);
                let lags = choices.happens(faults.tail, anchor, self.config.tail);
                if lags { 2 + choices.draw(faults.tail, anchor, 99, 0) as u32 } else { 1 }
            }
            _ => 1,
        }
    }

    /// A message is due at an open link: is it lost on its last yard?
    #[inline]
    pub(crate) fn loses(&self, passage: Passage, choices: &mut Choices) -> bool {
        self.faults.is_some_and(|faults| {
            choices.happens(faults.loss_at_delivery, self.anchor(passage), self.config.loss)
        })
    }

    /// Puts a message behind those that are on their way, and its copy right behind it.
    fn line_up(&mut self, launch: Launch) -> Launch {
        let Launch { at, fate, .. } = launch;
        let at = at.max(self.last_arrival);
        let fate = match fate {
            Fate::Doubled(copy_at) => Fate::Doubled(copy_at.max(at)),
            fate => fate,
        };
        match fate {
            Fate::Carried => self.last_arrival = at,
            Fate::Doubled(copy_at) => self.last_arrival = copy_at,
            Fate::Cut | Fate::Lost => {}
        }
        Launch { at, fate, ..launch }
    }

    fn draw_fate(
        &self,
        ordinal: u32,
        now: SimTime,
        faults: FaultDomains,
        choices: &mut Choices,
    ) -> Fate {
        let LinkConfig { loss, duplicate, .. } = self.config;
        let anchor = self.anchor(Passage { ordinal, is_copy: false });
        let lost = choices.happens(faults.loss_at_send, anchor, loss);
        let doubled = choices.happens(faults.duplicate, anchor, duplicate);
        match (lost, doubled) {
            (true, _) => Fate::Lost,
            (false, false) => Fate::Carried,
            (false, true) => {
                let latency_ns = self.draw_latency_ns(Passage { ordinal, is_copy: true }, choices);
                Fate::Doubled(after(now, latency_ns))
            }
        }
    }

    #[inline(always)]
    fn draw_latency_ns(&self, passage: Passage, choices: &mut Choices) -> u64 {
        let LinkConfig { latency_ns_min: min, latency_ns_max: max, .. } = self.config;
        if min == max {
            return min;
        }
        let bound = (max - min).saturating_add(1);
        min + choices.draw(self.latency, self.anchor(passage), bound, 0)
    }

    #[inline]
    fn anchor(&self, passage: Passage) -> Anchor {
        let actor = if passage.is_copy { fold(self.sig, 1) } else { self.sig };
        Anchor { actor, ordinal: passage.ordinal }
    }
}

#[inline]
fn after(now: SimTime, latency_ns: u64) -> SimTime {
    SimTime::from_nanos(now.as_nanos().saturating_add(latency_ns))
}

#[cfg(test)]
mod tests;
