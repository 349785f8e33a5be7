//! Everything that can go wrong in a run, drawn at once.
//!
//! Owns: [`Environment`]. Does not own: any fault: those of links are `detsim-net`'s, those of disks
//! `detsim-fs`'s, those of nodes the kernel's, and each of them draws from a stream of its own.

use detsim_executor::{NodeFaults, Sim};
use detsim_fs::{DiskConfig, Disks};
use detsim_net::{Net, NetFaults};

/// What a seed has in store for a run: on its links, on its disks, and for its nodes and their clocks.
///
/// Each family of faults is in for half of the seeds or less, at an intensity of the seed's; which choices are
/// drawn say [`Net::draw_faults`], [`Disks::draw_faults`] and [`Sim::draw_node_faults`]. A program is
/// right if it bears all of it: what it promised holds throughout, and it is of use again after
/// [`heal`](Self::heal).
///
/// # Examples
/// ```
/// use detsim::{Environment, Sim};
/// use std::time::Duration;
/// let sim = Sim::new(7);
/// let db = sim.node("db");
/// // What is to come back after a crash begins here.
/// db.on_start(|| drop(detsim::context::spawn("serve", std::future::pending::<()>())));
/// let environment = Environment::draw(&sim);
/// sim.run_for(Duration::from_secs(60)).unwrap();
/// environment.heal();
/// assert!(db.is_up());
/// ```
#[derive(Debug)]
#[must_use = "it is in force until `heal`, or until the run is over"]
pub struct Environment {
    sim: Sim,
    /// What goes wrong on the links.
    pub net: NetFaults,
    /// What goes wrong with the disks.
    pub disks: DiskConfig,
    /// What goes wrong with the nodes.
    pub nodes: NodeFaults,
    /// What the disks were like before.
    disks_before: DiskConfig,
}

impl Environment {
    /// Draws everything that goes wrong from the seed, and puts it in force. Another run of the seed draws
    /// the same.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn draw(sim: &Sim) -> Self {
        let disks = Disks::of(sim);
        let disks_before = disks.defaults();
        Self {
            net: Net::of(sim).draw_faults(),
            disks: disks.draw_faults(),
            nodes: sim.draw_node_faults(),
            sim: sim.clone(),
            disks_before,
        }
    }

    /// Nothing goes wrong from now on: links are open and quick, disks as they were set up before, nodes
    /// that were stopped are up again and clocks right; a node whose power went at a call of its disk comes
    /// up a few seconds later. What is under way goes on from where it is, and what the scenario itself has cut or
    /// stopped stays so.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn heal(self) {
        Net::of(&self.sim).set_faults(&NetFaults::default());
        Disks::of(&self.sim).set_all(self.disks_before);
        self.sim.set_node_faults(&NodeFaults::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_draws_all_of_it_and_one_ends_all_of_it() {
        let mut seen = [false; 3];
        for seed in 0..20 {
            let sim = Sim::new(seed);
            let node = sim.node("n1");
            let before = Disks::of(&sim).volume(node.id(), |volume| volume.config());
            let drawn = Environment::draw(&sim);
            let all = [
                drawn.net != NetFaults::default(),
                drawn.disks != DiskConfig::default(),
                drawn.nodes != NodeFaults::default(),
            ];
            seen.iter_mut().zip(all).for_each(|(seen, is_in)| *seen |= is_in);
            drawn.heal();
            assert_eq!(
                node.clock_offset(),
                detsim_executor::Skew::Ahead(std::time::Duration::ZERO)
            );
            assert_eq!(Disks::of(&sim).volume(node.id(), |volume| volume.config()), before);
        }
        assert_eq!(seen, [true; 3]);
    }
}
