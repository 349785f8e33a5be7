//! What a scenario says of single links under sockets, and of all of them at once.
//!
//! Owns: [`NetLink`], slow links and bandwidths, and [`NetFaults`] in force. Does not own: what a link
//! does with it (`link.rs`) or what comes by itself (`weather.rs`).

use std::fmt;
use std::time::Duration;

use detsim_executor::{NodeId, Ratio};

use super::{Cut, Net, World};
use crate::faults::NetFaults;
use crate::link::LinkConfig;
use crate::links::known;
use crate::node_set::NodeSet;
use crate::settings::{bandwidth, delay_range, drop_rate, duplicate_rate, tail_rate};

impl Net {
    /// The settings of one link, `from` -> `to`.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::Sim;
    /// use detsim_net::Net;
    /// let sim = Sim::new(7);
    /// let [phone, server] = ["phone", "server"].map(|name| sim.node(name).id());
    /// // The way up is narrow.
    /// Net::of(&sim).link(phone, server).set_bandwidth(Some(64_000));
    /// ```
    pub fn link(&self, from: NodeId, to: NodeId) -> NetLink<'_> {
        NetLink { net: self, ends: (from, to) }
    }

    /// How often a packet takes 2 to 100 times as long as it would, on every link.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_tail_rate(&self, rate: f64) {
        self.set(&tail_rate(rate));
    }

    /// How many bytes every link takes in a second, headers included; `None` for any number. What is
    /// sent faster queues up at the sender.
    ///
    /// # Panics
    /// Where it is 0.
    #[track_caller]
    pub fn set_bandwidth(&self, bytes_per_second: Option<u64>) {
        self.set(&bandwidth(bytes_per_second));
    }

    /// Makes every link between the nodes of `a` and those of `b`, both ways, take `factor` times as
    /// long, for what is sent until the guard is dropped or the links are healed.
    ///
    /// # Panics
    /// Where `factor` is 0, or a node was never made.
    #[track_caller]
    pub fn slow(&self, a: impl NodeSet, b: impl NodeSet, factor: u32) -> Cut {
        self.slow_one_way(&a, &b, factor);
        self.slow_one_way(&b, &a, factor);
        Cut { net: self.clone(), sides: [a.ids().to_vec(), b.ids().to_vec()] }
    }

    /// Makes every link from the nodes of `from` to those of `to` take `factor` times as long, for what
    /// is sent until they are healed.
    ///
    /// # Panics
    /// Where `factor` is 0, or a node was never made.
    #[track_caller]
    pub fn slow_one_way(&self, from: impl NodeSet, to: impl NodeSet, factor: u32) {
        assert!(factor > 0, "detsim: a link 0 times as slow is none; 1 is its own speed");
        known(
            self.with(|world, kernel| world.ways.links.slow(kernel, from.ids(), to.ids(), factor)),
        );
    }

    /// Draws what goes wrong in this run from the seed, puts it in force and returns it. Another run of
    /// the seed draws the same; each family of faults is in for half of the seeds or less.
    #[track_caller]
    pub fn draw_faults(&self) -> NetFaults {
        let faults = self.with(|_, kernel| NetFaults::draw(kernel.choices()));
        self.set_faults(&faults);
        faults
    }

    /// Puts this in force on every link, in place of what was set on them, and ends what came by
    /// itself. Partitions of the scenario stay.
    ///
    /// # Panics
    /// Where a rate is no number in `0.0..=1.0`, the delays are no range, or the bandwidth or the buffers are 0.
    #[track_caller]
    pub fn set_faults(&self, faults: &NetFaults) {
        let change = every(faults);
        let reset = Ratio::from_rate("the reset rate", faults.reset_rate);
        let short = faults.short_rate.map(|rate| Ratio::from_rate("the rate of short calls", rate));
        let failure = Ratio::from_rate("the failure rate", faults.lookup_failure_rate);
        let lag = Ratio::from_rate("the lag rate", faults.lookup_lag_rate);
        let stale = Ratio::from_rate("the stale rate", faults.lookup_stale_rate);
        let reorder = Ratio::from_rate("the reorder rate", faults.lookup_reorder_rate);
        let buffers = faults.buffer_bytes.map(|bytes| bytes as usize);
        assert!(
            buffers != Some(0),
            "detsim: a connection with buffers of 0 bytes carries nothing; give one byte or more"
        );
        let gaps = [faults.partition_gap, faults.jam_gap, faults.swizzle_gap, faults.slow_gap];
        let gap_ns = |gap: Option<Duration>| gap.map_or(0, |gap| (gap.as_nanos() as u64).max(1));
        self.with(|world, kernel| {
            world.ways.links.configure_all(kernel, &change);
            world.resets = reset;
            world.buffers = buffers;
            world.queues = faults.queue_bytes.map(|bytes| bytes as usize);
            world.shorts.set(short);
            (world.names.failure, world.names.lag) = (failure, lag);
            (world.names.stale, world.names.reorder) = (stale, reorder);
            world.ways.weather.set(kernel, gaps.map(gap_ns));
            world.release(kernel);
        });
    }
}

/// What these faults are to a link.
#[track_caller]
fn every(faults: &NetFaults) -> impl Fn(&mut LinkConfig) {
    let delays = delay_range(faults.delay_min, faults.delay_max);
    let (drops, copies) = (drop_rate(faults.drop_rate), duplicate_rate(faults.duplicate_rate));
    let (tail, width) = (tail_rate(faults.tail_rate), bandwidth(faults.bandwidth));
    move |config| {
        delays(config);
        drops(config);
        copies(config);
        tail(config);
        width(config);
    }
}

/// The settings of one directed link under sockets, from [`Net::link`].
pub struct NetLink<'a> {
    net: &'a Net,
    ends: (NodeId, NodeId),
}

impl NetLink<'_> {
    /// As [`Net::set_delay_range`].
    ///
    /// # Panics
    /// Where `min > max`, or `max` is longer than 584 years, or an end is no node.
    #[track_caller]
    pub fn set_delay_range(&self, min: Duration, max: Duration) {
        self.set(&delay_range(min, max));
    }

    /// As [`Net::set_tail_rate`].
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`, or an end is no node.
    #[track_caller]
    pub fn set_tail_rate(&self, rate: f64) {
        self.set(&tail_rate(rate));
    }

    /// As [`Net::set_bandwidth`].
    ///
    /// # Panics
    /// Where it is 0, or an end is no node.
    #[track_caller]
    pub fn set_bandwidth(&self, bytes_per_second: Option<u64>) {
        self.set(&bandwidth(bytes_per_second));
    }

    /// As [`Net::set_drop_rate`].
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`, or an end is no node.
    #[track_caller]
    pub fn set_drop_rate(&self, rate: f64) {
        self.set(&drop_rate(rate));
    }

    /// As [`Net::set_duplicate_rate`].
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`, or an end is no node.
    #[track_caller]
    pub fn set_duplicate_rate(&self, rate: f64) {
        self.set(&duplicate_rate(rate));
    }

    #[track_caller]
    fn set(&self, change: &dyn Fn(&mut LinkConfig)) {
        let set = |world: &mut World, kernel: &mut detsim_executor::Kernel| {
            world.ways.links.configure(kernel, self.ends, change)
        };
        known(self.net.with(set));
    }
}

impl fmt::Debug for NetLink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetLink").field("ends", &self.ends).finish_non_exhaustive()
    }
}
