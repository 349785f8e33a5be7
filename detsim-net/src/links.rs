//! The table of directed links.
//!
//! Owns: one [`Link`] for each ordered pair of nodes that ever sent, made at the first use, the settings
//! that a new one begins with, and cutting and opening sets of them. Does not own: what a link does (`link.rs`) or who uses it.
//! Invariant: the place of a link never changes.

use detsim_executor::event::{NetEvent, SetId};
use detsim_executor::{Event, Kernel, NodeId};

use crate::link::{Link, LinkConfig, Partition};

/// A link with its ends.
#[derive(Debug)]
struct Directed {
    link: Link,
    from: NodeId,
    to: NodeId,
}

/// All links of a network.
#[derive(Debug, Default)]
pub(crate) struct Links {
    defaults: LinkConfig,
    /// What the link from a node to itself is like, where that is no link like others.
    loopback: Option<LinkConfig>,
    list: Vec<Directed>,
    /// By sender and receiver, a link's place in `list`, or [`NO_LINK`].
    places: Vec<Vec<u32>>,
}

/// A node that was never made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unknown(pub(crate) NodeId);

const NO_LINK: u32 = u32::MAX;

/// The place of a link, once it has been asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way(u32);

impl Default for Way {
    fn default() -> Self {
        Self(NO_LINK)
    }
}

impl Links {
    /// Links of which those from a node to itself are like this, whatever is set on all.
    pub(crate) fn with_loopback(loopback: LinkConfig) -> Self {
        Self { loopback: Some(loopback), ..Self::default() }
    }

    /// The place of a link.
    ///
    /// # Errors
    /// Where an end is no node of this simulation.
    #[inline]
    pub(crate) fn place(
        &mut self,
        kernel: &mut Kernel,
        from: NodeId,
        to: NodeId,
    ) -> Result<u32, Unknown> {
        let row = self.places.get(usize::from(from.0));
        match row.and_then(|row| row.get(usize::from(to.0))) {
            Some(&place) if place != NO_LINK => Ok(place),
            _ => self.connect(kernel, from, to),
        }
    }

    /// As [`Self::place`], asked for again and again, of hosts.
    #[inline(always)]
    pub(crate) fn place_of(
        &mut self,
        kernel: &mut Kernel,
        way: &mut Way,
        (from, to): (NodeId, NodeId),
    ) -> u32 {
        if way.0 == NO_LINK {
            let place = self.place(kernel, from, to);
            way.0 = place.expect("invariant: a host is a node of this simulation");
        }
        way.0
    }

    #[cold]
    fn connect(&mut self, kernel: &mut Kernel, from: NodeId, to: NodeId) -> Result<u32, Unknown> {
        check(kernel, from)?;
        check(kernel, to)?;
        let (row, column) = (usize::from(from.0), usize::from(to.0));
        self.places.resize(self.places.len().max(row + 1), Vec::new());
        let row = &mut self.places[row];
        row.resize(row.len().max(column + 1), NO_LINK);
        row[column] = self.list.len() as u32;
        let name = link_name(kernel, from, to);
        let config = self.loopback.filter(|_| from == to).unwrap_or(self.defaults);
        let link = Link::new(&name, config, kernel.choices());
        self.list.push(Directed { link, from, to });
        Ok(self.list.len() as u32 - 1)
    }

    /// The link in a place.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> &Link {
        &self.list[place as usize].link
    }

    /// The link in a place.
    #[inline]
    pub(crate) fn at_mut(&mut self, place: u32) -> &mut Link {
        &mut self.list[place as usize].link
    }

    /// Cuts the links from each of `from` to each of `to`.
    pub(crate) fn cut(
        &mut self,
        kernel: &mut Kernel,
        from: &[NodeId],
        to: &[NodeId],
        rule: Partition,
    ) -> Result<(), Unknown> {
        for (from, to) in pairs(from, to) {
            let place = self.place(kernel, from, to)?;
            self.at_mut(place).set_cut(rule);
        }
        let holds = rule == Partition::Hold;
        record_sets(kernel, from, to, |from, to| NetEvent::Partitioned { from, to, holds });
        Ok(())
    }

    /// Makes the links from each of `from` to each of `to` take this many times as long.
    pub(crate) fn slow(
        &mut self,
        kernel: &mut Kernel,
        from: &[NodeId],
        to: &[NodeId],
        factor: u32,
    ) -> Result<(), Unknown> {
        for (from, to) in pairs(from, to) {
            let place = self.place(kernel, from, to)?;
            self.at_mut(place).set_slowness(factor);
        }
        record_sets(kernel, from, to, |from, to| NetEvent::Slowed { from, to, factor });
        Ok(())
    }

    /// Opens the links from each of `from` to each of `to`; they have their own speed again.
    pub(crate) fn open(
        &mut self,
        kernel: &mut Kernel,
        from: &[NodeId],
        to: &[NodeId],
    ) -> Result<(), Unknown> {
        for (from, to) in pairs(from, to) {
            let place = self.place(kernel, from, to)?;
            self.at_mut(place).heal();
        }
        record_healed(kernel, from, to);
        Ok(())
    }

    /// Opens all links. Was one cut, or slow?
    pub(crate) fn open_all(&mut self, kernel: &mut Kernel) -> bool {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for directed in self.list.iter_mut().filter(|directed| directed.link.is_hurt()) {
            directed.link.heal();
            from.push(directed.from);
            to.push(directed.to);
        }
        if from.is_empty() {
            return false;
        }
        record_healed(kernel, &sorted(from), &sorted(to));
        true
    }

    /// Changes the settings of every link, present and future.
    pub(crate) fn configure_all(&mut self, kernel: &mut Kernel, change: &dyn Fn(&mut LinkConfig)) {
        change(&mut self.defaults);
        let apart = self.loopback.is_some();
        let links = self.list.iter_mut().filter(|link| !apart || link.from != link.to);
        links.for_each(|link| link.configure(kernel, change));
    }

    /// Changes the settings of one link.
    pub(crate) fn configure(
        &mut self,
        kernel: &mut Kernel,
        (from, to): (NodeId, NodeId),
        change: &dyn Fn(&mut LinkConfig),
    ) -> Result<(), Unknown> {
        let place = self.place(kernel, from, to)?;
        self.list[place as usize].configure(kernel, change);
        Ok(())
    }
}

impl Directed {
    fn configure(&mut self, kernel: &mut Kernel, change: &dyn Fn(&mut LinkConfig)) {
        let mut config = self.link.config();
        change(&mut config);
        let name = link_name(kernel, self.from, self.to);
        self.link.configure(&name, config, kernel.choices());
    }
}

/// Ends in a panic where a node is none of this simulation.
#[track_caller]
pub(crate) fn known<T>(result: Result<T, Unknown>) -> T {
    match result {
        Ok(value) => value,
        Err(Unknown(node)) => panic!(
            "detsim: there is no node {node} in this simulation; its id is of another one; make \
             nodes with `Sim::node`"
        ),
    }
}

/// Whether a node was ever made.
pub(crate) fn check(kernel: &Kernel, node: NodeId) -> Result<(), Unknown> {
    kernel.node_state(node).map(|_| ()).ok_or(Unknown(node))
}

fn link_name(kernel: &Kernel, from: NodeId, to: NodeId) -> String {
    format!("net/{}/{}", kernel.node_name(from), kernel.node_name(to))
}

/// Every pair of a sender and another receiver: nothing cuts a node off from itself.
fn pairs(from: &[NodeId], to: &[NodeId]) -> impl Iterator<Item = (NodeId, NodeId)> {
    from.iter().flat_map(|from| to.iter().map(|to| (*from, *to))).filter(|(from, to)| from != to)
}

fn record_healed(kernel: &mut Kernel, from: &[NodeId], to: &[NodeId]) {
    record_sets(kernel, from, to, |from, to| NetEvent::Healed { from, to });
}

/// Something has happened to the links between two sets of nodes.
pub(crate) fn record_sets(
    kernel: &mut Kernel,
    from: &[NodeId],
    to: &[NodeId],
    event: impl FnOnce(SetId, SetId) -> NetEvent,
) {
    kernel.record_with(|kernel| {
        let (from, to) = (kernel.trace_set(from), kernel.trace_set(to));
        Event::Net(event(from, to))
    });
}

fn sorted(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
