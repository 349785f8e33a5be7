//! The ports that connections of a host have, and keep for a while.
//!
//! Owns: [`PortEnds`]: which ports connections have, by whom they are shared, and TIME_WAIT. Does not
//! own: ports that sockets are bound to. Invariants: a port that a connect chose is taken for the same
//! two addresses alone, and so serves any number of peers; what ended in TIME_WAIT is kept for a minute, on
//! loopback against another connect for a second.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use detsim_executor::SimTime;

/// Ends of connections, by their ports.
#[derive(Debug, Default)]
pub(super) struct PortEnds {
    live: BTreeMap<u16, Live>,
    kept: BTreeMap<u16, Vec<Kept>>,
}

/// A connection whose port a connect chose: from which address, and to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    from: IpAddr,
    to: (IpAddr, u16),
}

/// How many ends of connections have a port, how many of them do not share it (`SO_REUSEADDR`), and which
/// of them chose it.
#[derive(Debug, Default)]
struct Live {
    all: usize,
    firm: usize,
    outgoing: Vec<Outgoing>,
}

/// Until when a port is kept, whether it is shared meanwhile, and by which connection that chose it: all
/// others are one.
#[derive(Clone, Copy, Debug)]
struct Kept {
    until: SimTime,
    shares: bool,
    outgoing: Option<Outgoing>,
}

/// How long a port is kept by the end that closed first.
const TIME_WAIT: Duration = Duration::from_secs(60);
/// After how much of that a connect on loopback takes it nevertheless (`tcp_tw_reuse` as it is by default).
const REUSED_AFTER: Duration = Duration::from_secs(1);

impl PortEnds {
    /// Has no connection this port, nor keeps it?
    pub(super) fn is_free(&self, port: u16, now: SimTime) -> bool {
        let kept = self.kept.get(&port).is_some_and(|kept| kept.iter().any(|k| k.until > now));
        !kept && !self.live.contains_key(&port)
    }

    /// May this connection choose the port?
    pub(super) fn admits(&self, port: u16, outgoing: Outgoing, now: SimTime) -> bool {
        let lives = self.live.get(&port).is_none_or(|live| live.admits(outgoing));
        let kept = self.kept.get(&port).map_or(&[][..], |kept| kept);
        lives && kept.iter().all(|kept| kept.admits(outgoing, now))
    }

    /// Is the port another's who does not share it with who binds it?
    pub(super) fn clashes(&self, port: u16, shares: bool, now: SimTime) -> bool {
        let lives = self.live.get(&port).is_some_and(|live| live.firm > 0 || !shares);
        let clashes = |kept: &Kept| kept.until > now && !(kept.shares && shares);
        lives || self.kept.get(&port).is_some_and(|kept| kept.iter().any(clashes))
    }

    /// One more end has this port, and shares it or not.
    pub(super) fn add(&mut self, port: u16, shares: bool, outgoing: Option<Outgoing>) {
        let live = self.live.entry(port).or_default();
        live.all += 1;
        live.firm += usize::from(!shares);
        if let Some(outgoing) = outgoing {
            live.outgoing.push(outgoing);
            self.recycle(port, outgoing);
        }
    }

    /// A connection has begun where one like it waited.
    fn recycle(&mut self, port: u16, outgoing: Outgoing) {
        if let Some(kept) = self.kept.get_mut(&port) {
            kept.retain(|kept| kept.outgoing != Some(outgoing));
            if kept.is_empty() {
                self.kept.remove(&port);
            }
        }
    }

    /// One less.
    pub(super) fn remove(&mut self, port: u16, shares: bool, outgoing: Option<Outgoing>) {
        let Some(live) = self.live.get_mut(&port) else { return };
        live.all -= 1;
        live.firm -= usize::from(!shares);
        let at = live.outgoing.iter().position(|own| Some(*own) == outgoing);
        if let Some(at) = at {
            live.outgoing.swap_remove(at);
        }
        if live.all == 0 {
            self.live.remove(&port);
        }
    }

    /// It closed first: the port is kept for a while.
    pub(super) fn keep(
        &mut self,
        port: u16,
        shares: bool,
        outgoing: Option<Outgoing>,
        now: SimTime,
    ) {
        let kept = self.kept.entry(port).or_default();
        kept.retain(|kept| kept.until > now);
        let firm = kept.iter().any(|kept| kept.outgoing == outgoing && !kept.shares);
        kept.retain(|kept| kept.outgoing != outgoing);
        kept.push(Kept { until: now + TIME_WAIT, shares: shares && !firm, outgoing });
    }

    /// The ports that are kept, and for how long.
    pub(super) fn waiting(&self, now: SimTime) -> impl Iterator<Item = (u16, Duration)> + '_ {
        self.kept.iter().filter_map(move |(port, kept)| {
            let until = kept.iter().map(|kept| kept.until).max()?;
            (until > now).then(|| (*port, until - now))
        })
    }

    /// Has any connection a port?
    pub(super) fn is_used(&self) -> bool {
        !self.live.is_empty()
    }
}

impl Outgoing {
    /// A connection between these addresses.
    pub(crate) fn new(from: IpAddr, to: SocketAddr) -> Self {
        Self { from: from.to_canonical(), to: (to.ip().to_canonical(), to.port()) }
    }

    fn is_loopback(&self) -> bool {
        self.from.is_loopback() || self.to.0.is_loopback()
    }
}

impl Live {
    fn admits(&self, outgoing: Outgoing) -> bool {
        self.outgoing.len() == self.all && !self.outgoing.contains(&outgoing)
    }
}

impl Kept {
    fn admits(&self, outgoing: Outgoing, now: SimTime) -> bool {
        let is_old = || self.until <= now + (TIME_WAIT - REUSED_AFTER);
        match self.outgoing {
            _ if self.until <= now => true,
            None => false,
            Some(own) => own != outgoing || (own.is_loopback() && is_old()),
        }
    }
}
