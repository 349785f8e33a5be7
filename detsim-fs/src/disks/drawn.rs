//! The faults that a seed has in store for its disks.
//!
//! Owns: which families of faults there are, and at which intensities. Does not own: how a family is drawn
//! (`detsim_executor`), or what a fault does (`disk.rs`). Faults that nothing reports, and drives that lie
//! about syncs, are never drawn: a program without checksums cannot bear the former, and none the latter.

use std::time::Duration;

use detsim_executor::{Choices, Families};

use super::Disks;
use super::config::{DiskConfig, DiskFaults, DiskLatency, PowerLoss};
use crate::volume::CrashProfile::{self, Ext4Ordered, MetadataLog, Posix, Prefix};
use crate::volume::VolumeConfig;

/// What a loss of power may leave, each by its share of twenty.
const PROFILES: [(CrashProfile, u64); 4] =
    [(Ext4Ordered, 7), (Posix, 7), (MetadataLog, 4), (Prefix, 2)];

impl Disks {
    /// Draws what goes wrong with the disks of this run from the seed, puts it in force on all of them and
    /// returns it. Another run of the seed draws the same; each family of faults is in for half of the
    /// seeds or less: slow calls, stalls, short reads and writes, `EINTR`, `EIO` of reads, writes and
    /// syncs, a disk that fills up, and power that goes at calls of nodes, which then start again. The
    /// profile of what that leaves is drawn too. Faults that nothing reports are not.
    ///
    /// # Examples
    /// A node that does not begin by itself ([`Node::on_start`](detsim_executor::Node::on_start)) has no
    /// use for losses of power:
    /// ```
    /// use detsim_executor::Sim;
    /// use detsim_fs::{DiskConfig, Disks, PowerLoss};
    /// let sim = Sim::new(7);
    /// let disks = Disks::of(&sim);
    /// let drawn = disks.draw_faults();
    /// disks.set_all(DiskConfig { power: PowerLoss::default(), ..drawn });
    /// ```
    #[track_caller]
    pub fn draw_faults(&self) -> DiskConfig {
        let own = self.state.borrow().defaults.volume;
        let drawn = self.sim.with(|kernel| draw(kernel.choices(), own));
        self.set_all(drawn);
        drawn
    }

    /// Sets up all disks: those that there are, and those that are made from now on.
    ///
    /// # Panics
    /// Where a rate is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_all(&self, config: DiskConfig) {
        self.set_defaults(config);
        let known: Vec<_> = self.state.borrow().disks.keys().copied().collect();
        known.into_iter().for_each(|node| self.set_config(node, config));
    }
}

fn draw(choices: &mut Choices, own: VolumeConfig) -> DiskConfig {
    let mut family = Families::of(choices, "env/disk/faults");
    let is_small = family.is_in("capacity") && family.is_in("capacity");
    let capacity = 1 << (16 + family.below("capacity", 11));
    let writeback_ns_max = 1 << (28 + family.below("writeback", 6));
    DiskConfig {
        volume: VolumeConfig {
            profile: profile(family.below("profile", 20)),
            capacity: if is_small { capacity } else { own.capacity },
            writeback_ns_max,
            ..own
        },
        latency: latency(&mut family),
        faults: faults(&mut family),
        power: power(&mut family),
        exhaustive: false,
    }
}

fn profile(mut drawn: u64) -> CrashProfile {
    for (profile, share) in PROFILES {
        if drawn < share {
            return profile;
        }
        drawn -= share;
    }
    unreachable!("invariant: the shares add up to twenty")
}

fn latency(family: &mut Families<'_>) -> DiskLatency {
    let usual = DiskLatency::default();
    DiskLatency {
        read: family.duration("read latency", 12..26).unwrap_or(usual.read),
        write: family.duration("write latency", 12..26).unwrap_or(usual.write),
        sync: family.duration("sync latency", 18..29).unwrap_or(usual.sync),
    }
}

fn faults(family: &mut Families<'_>) -> DiskFaults {
    const RARE: [f64; 4] = [0.0001, 0.0005, 0.002, 0.01];
    const SHORT: [f64; 4] = [0.05, 0.1, 0.25, 0.5];
    DiskFaults {
        read_error_rate: family.rate("read errors", &RARE),
        write_error_rate: family.rate("write errors", &RARE),
        sync_error_rate: family.rate("sync errors", &[0.001, 0.005, 0.02, 0.05]),
        short_read_rate: family.rate("short reads", &SHORT),
        short_write_rate: family.rate("short writes", &SHORT),
        interrupt_rate: family.rate("interruptions", &[0.01, 0.05, 0.2]),
        stall_rate: family.rate("stalls", &RARE),
        stall: Duration::from_nanos(1 << (27 + family.below("stalls", 8))),
        ..DiskFaults::default()
    }
}

fn power(family: &mut Families<'_>) -> PowerLoss {
    PowerLoss {
        rate: family.rate("power", &[0.0002, 0.001, 0.004, 0.01]),
        back_after: Duration::from_nanos(1 << (20 + family.below("power", 13))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::Sim;

    type IsIn<'a> = &'a dyn Fn(&DiskConfig) -> bool;

    fn drawn(seed: u64) -> DiskConfig {
        Disks::of(&Sim::new(seed)).draw_faults()
    }

    #[test]
    fn every_family_is_in_for_its_share_of_the_seeds_and_no_silent_one() {
        let all: Vec<DiskConfig> = (0..1_000).map(drawn).collect();
        let share = |is_in: IsIn<'_>| all.iter().filter(|config| is_in(config)).count();
        let usual = DiskLatency::default();
        let families: [(&str, IsIn<'_>); 11] = [
            ("read errors", &|c| c.faults.read_error_rate > 0.0),
            ("write errors", &|c| c.faults.write_error_rate > 0.0),
            ("sync errors", &|c| c.faults.sync_error_rate > 0.0),
            ("short reads", &|c| c.faults.short_read_rate > 0.0),
            ("short writes", &|c| c.faults.short_write_rate > 0.0),
            ("interruptions", &|c| c.faults.interrupt_rate > 0.0),
            ("stalls", &|c| c.faults.stall_rate > 0.0),
            ("power", &|c| c.power.rate > 0.0),
            ("read latency", &|c| c.latency.read != usual.read),
            ("sync latency", &|c| c.latency.sync != usual.sync),
            ("capacity", &|c| c.volume.capacity < u64::MAX),
        ];
        for (name, is_in) in families {
            let wanted = if name == "capacity" { 180..320 } else { 430..570 };
            let share = share(is_in);
            assert!(wanted.contains(&share), "{name}: {share} of 1000");
        }
        for (profile, share_of_20) in PROFILES {
            let share = share(&|c| c.volume.profile == profile) as u64;
            assert!(share.abs_diff(share_of_20 * 50) < 60, "{profile:?}: {share} of 1000");
        }
        let lies = |f: &DiskFaults| {
            [f.bit_rot_rate, f.lost_sync_rate, f.lost_write_rate, f.misdirected_write_rate]
        };
        assert!(all.iter().all(|c| lies(&c.faults) == [0.0; 4] && c.faults.stale_read_rate == 0.0));
        assert_eq!(drawn(3), drawn(3));
    }

    #[test]
    fn what_is_drawn_is_in_force_on_every_disk() {
        let sim = Sim::new(5);
        let (disks, early) = (Disks::of(&sim), sim.node("early"));
        disks.volume(early.id(), |_| ());
        let drawn = disks.draw_faults();
        let late = sim.node("late");
        for node in [early.id(), late.id()] {
            assert_eq!(disks.volume(node, |volume| volume.config()), drawn.volume);
        }
        assert_eq!(disks.call(early.id(), |call| call.disk.config), drawn);
    }
}
