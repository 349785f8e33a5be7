//! What a scenario sets on all links, or on one.
//!
//! Owns: the setters of [`Network`] and [`LinkSettings`], and their checks. Does not own: what a
//! setting does (`link.rs`). A setting of the network applies to every link, those included that
//! were set by themselves before: the last call wins.

use std::fmt;
use std::time::Duration;

use detsim_executor::{NodeId, Ratio};

use crate::link::{LinkConfig, Order};
use crate::links::known;
use crate::network::Network;

impl<M> Network<M> {
    /// How long messages that are sent from now on take, on every link: between `min` and `max`,
    /// both included, evenly drawn.
    ///
    /// # Panics
    /// Where `min > max`, or `max` is longer than 584 years.
    #[track_caller]
    pub fn set_delay_range(&self, min: Duration, max: Duration) {
        self.set(&delay_range(min, max));
    }

    /// The rate, in `0.0..=1.0`, at which each link loses messages. It is applied twice, when a
    /// message is sent and when it is due, so that both kinds of loss come about: a rate of 0.1
    /// loses 19 messages of 100.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_drop_rate(&self, rate: f64) {
        self.set(&drop_rate(rate));
    }

    /// The rate, in `0.0..=1.0`, at which each link makes a copy of a message, with a latency of
    /// its own.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_duplicate_rate(&self, rate: f64)
    where
        M: Clone,
    {
        self.shared.copy.set(Some(M::clone));
        self.set(&duplicate_rate(rate));
    }

    /// How often a message takes 2 to 100 times as long as it would, on every link: the tail of the
    /// latency.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_tail_rate(&self, rate: f64) {
        self.set(&tail_rate(rate));
    }

    /// In which order each link delivers the messages that are sent from now on.
    #[track_caller]
    pub fn set_order(&self, order: Order) {
        self.set(&move |config| config.order = order);
    }

    /// The settings of one link, `from` -> `to`.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::{Sim, SimTime};
    /// use detsim_net::Network;
    /// use std::time::Duration;
    /// let sim = Sim::new(7);
    /// let (a, b) = (sim.node("a").id(), sim.node("b").id());
    /// let network = Network::new(&sim);
    /// network.register(b, |_, ()| ());
    /// network.link(a, b).set_delay_range(Duration::from_secs(1), Duration::from_secs(1));
    /// network.send(a, b, ());
    /// assert_eq!(sim.run().unwrap().now, SimTime::from_secs(1));
    /// ```
    pub fn link(&self, from: NodeId, to: NodeId) -> LinkSettings<'_, M> {
        LinkSettings { network: self, ends: (from, to) }
    }

    #[track_caller]
    fn set(&self, change: &dyn Fn(&mut LinkConfig)) {
        self.with(|wire, kernel| wire.links.configure_all(kernel, change));
    }
}

/// The settings of one directed link, from [`Network::link`].
pub struct LinkSettings<'a, M> {
    network: &'a Network<M>,
    ends: (NodeId, NodeId),
}

impl<M> LinkSettings<'_, M> {
    /// As [`Network::set_delay_range`].
    ///
    /// # Panics
    /// Where `min > max`, or `max` is longer than 584 years, or an end is no node.
    #[track_caller]
    pub fn set_delay_range(&self, min: Duration, max: Duration) {
        self.set(&delay_range(min, max));
    }

    /// As [`Network::set_drop_rate`].
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`, or an end is no node.
    #[track_caller]
    pub fn set_drop_rate(&self, rate: f64) {
        self.set(&drop_rate(rate));
    }

    /// As [`Network::set_duplicate_rate`].
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`, or an end is no node.
    #[track_caller]
    pub fn set_duplicate_rate(&self, rate: f64)
    where
        M: Clone,
    {
        self.network.shared.copy.set(Some(M::clone));
        self.set(&duplicate_rate(rate));
    }

    /// As [`Network::set_tail_rate`].
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`, or an end is no node.
    #[track_caller]
    pub fn set_tail_rate(&self, rate: f64) {
        self.set(&tail_rate(rate));
    }

    /// As [`Network::set_order`].
    ///
    /// # Panics
    /// Where an end is no node.
    #[track_caller]
    pub fn set_order(&self, order: Order) {
        self.set(&move |config| config.order = order);
    }

    #[track_caller]
    fn set(&self, change: &dyn Fn(&mut LinkConfig)) {
        known(self.network.with(|wire, kernel| wire.links.configure(kernel, self.ends, change)));
    }
}

#[track_caller]
pub(crate) fn delay_range(min: Duration, max: Duration) -> impl Fn(&mut LinkConfig) {
    assert!(min <= max, "detsim: the delay range {min:?}..={max:?} is empty; its end comes first");
    let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).ok();
    let (Some(min_ns), Some(max_ns)) = (nanos(min), nanos(max)) else {
        panic!("detsim: a delay of {max:?} is longer than virtual time, which ends after 584 years")
    };
    move |config| (config.latency_ns_min, config.latency_ns_max) = (min_ns, max_ns)
}

#[track_caller]
pub(crate) fn drop_rate(rate: f64) -> impl Fn(&mut LinkConfig) {
    let loss = Ratio::from_rate("the drop rate", rate);
    move |config| config.loss = loss
}

#[track_caller]
pub(crate) fn tail_rate(rate: f64) -> impl Fn(&mut LinkConfig) {
    let tail = Ratio::from_rate("the tail rate", rate);
    move |config| config.tail = tail
}

#[track_caller]
pub(crate) fn bandwidth(bytes_per_second: Option<u64>) -> impl Fn(&mut LinkConfig) {
    assert!(
        bytes_per_second != Some(0),
        "detsim: a link of 0 bytes in a second carries nothing; cut it with a partition"
    );
    move |config| config.bandwidth = bytes_per_second.unwrap_or(0)
}

#[track_caller]
pub(crate) fn duplicate_rate(rate: f64) -> impl Fn(&mut LinkConfig) {
    let duplicate = Ratio::from_rate("the duplicate rate", rate);
    move |config| config.duplicate = duplicate
}

impl<M> fmt::Debug for LinkSettings<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkSettings").field("ends", &self.ends).finish_non_exhaustive()
    }
}
