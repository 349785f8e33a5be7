//! What goes wrong on a network, and how often.
//!
//! Owns: [`NetFaults`], and which families of faults the seed draws one from, at which intensities. Does not
//! own: how a family is drawn (`detsim_executor`), or what brings the faults about (`link.rs`, `weather.rs`,
//! `dns.rs`).

use std::time::Duration;

use detsim_executor::{Choices, Families};

/// What goes wrong on the links under sockets, and how often. The default is a local network on which
/// nothing does, but that calls are short now and then.
///
/// Rates are probabilities in `0.0..=1.0`, for each packet unless said otherwise. Gaps are mean times from
/// the end of one incident to the beginning of the next; `None` is never. Incidents last 2^k ms for a k of
/// 0 to 14, or half to twice as long as one of the timers that are armed then. Loopback is spared.
///
/// # Examples
/// ```
/// use detsim_executor::Sim;
/// use detsim_net::{Net, NetFaults};
/// use std::time::Duration;
/// let sim = Sim::new(7);
/// let net = Net::of(&sim);
/// net.set_faults(&NetFaults {
///     drop_rate: 0.1,
///     partition_gap: Some(Duration::from_secs(10)),
///     ..NetFaults::default()
/// });
/// // Or whatever the seed has in store:
/// let drawn = net.draw_faults();
/// # drop(drawn);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NetFaults {
    /// The least time that a packet takes.
    pub delay_min: Duration,
    /// The most, but for what follows.
    pub delay_max: Duration,
    /// How often a packet takes 2 to 100 times as long.
    pub tail_rate: f64,
    /// Bytes that each link takes in a second; `None` for any number.
    pub bandwidth: Option<u64>,
    /// How often a packet is lost at either end of its way. A connection loses time by it.
    pub drop_rate: f64,
    /// Bytes that a connection between hosts buffers at each end, where its program has set no size: what the
    /// reader has not read and what the writer has written ahead. `None` is what Linux usually comes to,
    /// 256 KiB; with less, writers wait for readers.
    pub buffer_bytes: Option<u32>,
    /// Bytes that a socket of UDP queues of what other hosts send, where its program has set no size, each
    /// datagram with what it costs beside its own. `None` is Linux's default, 208 KiB; with less, who does not
    /// keep up loses the newest. A datagram always fits in an empty queue.
    pub queue_bytes: Option<u32>,
    /// How often a datagram comes twice.
    pub duplicate_rate: f64,
    /// How often sending a segment resets its connection.
    pub reset_rate: f64,
    /// How often a read or a write of a connection takes less than it could. Unless said it is as the seed
    /// has it, from one in 256 to one in four, and never not at all: a program that does not bear that is
    /// wrong on any network.
    pub short_rate: Option<f64>,
    /// How often a lookup of a name fails.
    pub lookup_failure_rate: f64,
    /// How often it takes long: 62.5 ms to 8 s.
    pub lookup_lag_rate: f64,
    /// How often it is answered with what the name stood for before its last change.
    pub lookup_stale_rate: f64,
    /// How often another address of several comes first.
    pub lookup_reorder_rate: f64,
    /// Partitions of the nodes: one is cut off, two sides, one way, two sides with a bridge; what is sent
    /// across is lost, held or slow.
    pub partition_gap: Option<Duration>,
    /// One link holds everything, and lets it go in a burst.
    pub jam_gap: Option<Duration>,
    /// Half of the nodes are cut off, one after the other, and come back, one after the other.
    pub swizzle_gap: Option<Duration>,
    /// One link takes 2 to 100 times as long.
    pub slow_gap: Option<Duration>,
}

impl Default for NetFaults {
    fn default() -> Self {
        Self {
            delay_min: Duration::from_micros(100),
            delay_max: Duration::from_millis(1),
            tail_rate: 0.0,
            bandwidth: None,
            drop_rate: 0.0,
            buffer_bytes: None,
            queue_bytes: None,
            duplicate_rate: 0.0,
            reset_rate: 0.0,
            short_rate: None,
            lookup_failure_rate: 0.0,
            lookup_lag_rate: 0.0,
            lookup_stale_rate: 0.0,
            lookup_reorder_rate: 0.0,
            partition_gap: None,
            jam_gap: None,
            swizzle_gap: None,
            slow_gap: None,
        }
    }
}

impl NetFaults {
    /// What the seed has in store.
    pub(crate) fn draw(choices: &mut Choices) -> Self {
        let queue_bytes = Self::draw_queue(choices);
        let mut family = Families::of(choices, "env/net/faults");
        let has_jams = family.is_in("jams");
        let has_small_buffers = family.is_in("buffers") && family.is_in("buffers");
        // A window of 2,304 bytes costs fifty times the events of none: few seeds have that.
        let buffer_bytes = match family.below("buffers", 16) {
            15 => 2_304,
            14 => 4_608,
            7..=13 => 16_384,
            _ => 65_536,
        };
        Self {
            delay_min: family.duration("delay", 10..35).unwrap_or(Duration::from_micros(100)),
            delay_max: Duration::ZERO,
            tail_rate: family.rate("tail", &[0.0005, 0.001, 0.005, 0.02]),
            bandwidth: family.duration("bandwidth", 14..27).map(|d| d.as_nanos() as u64),
            drop_rate: family.rate("loss", &[0.001, 0.005, 0.02, 0.05, 0.1, 0.15]),
            buffer_bytes: has_small_buffers.then_some(buffer_bytes),
            queue_bytes,
            duplicate_rate: family.rate("duplicates", &[0.01, 0.05, 0.1, 0.25, 0.5]),
            reset_rate: family.rate("resets", &[0.0002, 0.001, 0.005, 0.02]),
            short_rate: None,
            lookup_failure_rate: family.rate("lookups", &[0.05, 0.2, 0.5]),
            lookup_lag_rate: family.rate("slow-lookups", &[0.05, 0.2, 0.5]),
            lookup_stale_rate: family.rate("stale-names", &[0.2, 0.5, 0.9]),
            lookup_reorder_rate: family.rate("turned-names", &[0.2, 0.5]),
            partition_gap: family.duration("partitions", 29..36),
            jam_gap: family.duration("jams", 30..36).filter(|_| has_jams),
            swizzle_gap: family.duration("swizzle", 31..36).filter(|_| has_jams),
            slow_gap: family.duration("slow", 30..36),
        }
        .with_spread(&mut family)
    }

    /// Of a stream of its own: what else the seed has in store is the same with it and without.
    fn draw_queue(choices: &mut Choices) -> Option<u32> {
        let mut family = Families::of(choices, "env/net/queues");
        let is_small = family.is_in("queues") && family.is_in("queues");
        let bytes = [2_304, 4_608, 16_384, 65_536][family.below("queues", 4) as usize];
        is_small.then_some(bytes)
    }

    /// The delays spread from the least to as much again, or up to ten times of it.
    fn with_spread(mut self, family: &mut Families<'_>) -> Self {
        let times = 2 + family.below("spread", 9) as u32;
        self.delay_max = self.delay_min * times;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type IsIn<'a> = &'a dyn Fn(&NetFaults) -> bool;

    fn drawn(seed: u64) -> NetFaults {
        let sim = detsim_executor::Sim::new(seed);
        sim.with(|kernel| NetFaults::draw(kernel.choices()))
    }

    #[test]
    fn every_family_is_in_for_about_half_of_the_seeds() {
        let all: Vec<NetFaults> = (0..1_000).map(drawn).collect();
        let share = |is_in: IsIn<'_>| all.iter().filter(|f| is_in(f)).count();
        let families: [(&str, IsIn<'_>); 16] = [
            ("delay", &|f| f.delay_min != Duration::from_micros(100)),
            ("tail", &|f| f.tail_rate > 0.0),
            ("bandwidth", &|f| f.bandwidth.is_some()),
            ("loss", &|f| f.drop_rate > 0.0),
            ("buffers", &|f| f.buffer_bytes.is_some()),
            ("queues", &|f| f.queue_bytes.is_some()),
            ("duplicates", &|f| f.duplicate_rate > 0.0),
            ("resets", &|f| f.reset_rate > 0.0),
            ("lookups", &|f| f.lookup_failure_rate > 0.0),
            ("slow-lookups", &|f| f.lookup_lag_rate > 0.0),
            ("stale-names", &|f| f.lookup_stale_rate > 0.0),
            ("turned-names", &|f| f.lookup_reorder_rate > 0.0),
            ("partitions", &|f| f.partition_gap.is_some()),
            ("jams", &|f| f.jam_gap.is_some()),
            ("swizzle", &|f| f.swizzle_gap.is_some()),
            ("slow", &|f| f.slow_gap.is_some()),
        ];
        for (name, is_in) in families {
            let wanted = if matches!(name, "jams" | "swizzle" | "buffers" | "queues") {
                180..320
            } else {
                430..570
            };
            let share = share(is_in);
            assert!(wanted.contains(&share), "{name}: {share} of 1000");
        }
        assert!(all.iter().all(|f| f.delay_min <= f.delay_max));
        assert_eq!(drawn(3), drawn(3));
    }
}
