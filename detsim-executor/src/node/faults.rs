//! What goes wrong with nodes, and how often.
//!
//! Owns: [`NodeFaults`], which families of faults the seed draws one from, and the way in from [`Sim`]. Does
//! not own: when one comes and whom it strikes (`trouble.rs`), or what it does to a node (`sim/node.rs`).

use std::time::Duration;

use super::trouble::Trouble;
use crate::choice::Choices;
use crate::families::Families;
use crate::sim::Sim;

/// What goes wrong with the nodes of a run, and how often. The default is nothing.
///
/// Gaps are mean times from the end of one fault of a kind to the next; `None` is never. A node is down, or
/// paused, for 2^k ms with a k of 0 to 14, or for half to twice as long as one of the timers that are armed
/// then; after that it is restarted, or goes on. Only nodes that begin by themselves
/// ([`Node::on_start`](crate::Node::on_start)) are stopped; pauses and clocks strike all nodes, but never
/// what belongs to no node. All of it stands in the trace.
///
/// # Examples
/// ```
/// use detsim_executor::{NodeFaults, Sim};
/// use std::time::Duration;
/// let sim = Sim::new(7);
/// let db = sim.node("db");
/// db.on_start(|| drop(detsim_executor::context::spawn("serve", std::future::pending::<()>())));
/// sim.set_node_faults(&NodeFaults {
///     crash_gap: Some(Duration::from_secs(5)),
///     ..NodeFaults::default()
/// });
/// sim.run_for(Duration::from_secs(60)).unwrap();
/// // All is well again.
/// sim.set_node_faults(&NodeFaults::default());
/// assert!(db.is_up());
/// // Or whatever the seed has in store:
/// let drawn = sim.draw_node_faults();
/// # drop(drawn);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFaults {
    /// A node loses its power.
    pub crash_gap: Option<Duration>,
    /// The process of a node dies.
    pub kill_gap: Option<Duration>,
    /// The process of a node dies, and begins again at once, as under a supervisor.
    pub restart_gap: Option<Duration>,
    /// A node stands still while time goes on, as a machine that is being moved.
    pub pause_gap: Option<Duration>,
    /// The date of a node jumps.
    pub step_gap: Option<Duration>,
    /// How far it jumps at most, forward or back.
    pub step_max: Duration,
    /// How far the date of each node is off at most, from the beginning.
    pub offset_max: Duration,
    /// How many microseconds the clock of each node gains or loses in a second, at most.
    pub drift_ppm_max: u32,
    /// How many nodes are down or paused at once, at most; unless said, less than half of those that begin
    /// by themselves, and one where there are less than five.
    pub down_max: Option<usize>,
}

impl NodeFaults {
    /// What the seed has in store.
    fn draw(choices: &mut Choices) -> Self {
        let mut family = Families::of(choices, "env/nodes/faults");
        let has_drift = family.is_in("clock drift");
        let drift_ppm = [20, 100, 200, 500][family.below("clock drift", 4) as usize];
        Self {
            crash_gap: family.duration("crashes", 28..35),
            kill_gap: family.duration("kills", 28..35),
            restart_gap: family.duration("restarts", 28..35),
            pause_gap: family.duration("pauses", 28..35),
            step_gap: family.duration("clock steps", 29..36),
            step_max: Duration::from_secs(2),
            offset_max: family.duration("clock offsets", 20..29).unwrap_or_default(),
            drift_ppm_max: if has_drift { drift_ppm } else { 0 },
            down_max: None,
        }
    }
}

impl Sim {
    /// Draws what goes wrong with the nodes of this run from the seed, puts it in force and returns it.
    /// Another run of the seed draws the same; each family of faults is in for half of the seeds.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn draw_node_faults(&self) -> NodeFaults {
        let faults = self.with(|kernel| NodeFaults::draw(kernel.choices()));
        self.set_node_faults(&faults);
        faults
    }

    /// Puts this in force on all nodes, those included that are made later, and ends what was in force: the
    /// nodes that it had stopped are up again when this returns, and the clocks that it had set are right.
    ///
    /// # Panics
    /// Where a drift would be of a second in a second or more, or the simulation has ended.
    #[track_caller]
    pub fn set_node_faults(&self, faults: &NodeFaults) {
        assert!(
            faults.drift_ppm_max < 1_000_000,
            "detsim: a clock that drifts by {} ppm may stand still; give less than 1000000",
            faults.drift_ppm_max
        );
        Trouble::of(self).set(faults);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type IsIn<'a> = &'a dyn Fn(&NodeFaults) -> bool;

    #[test]
    fn every_family_is_in_for_about_half_of_the_seeds() {
        let drawn = |seed| Sim::new(seed).draw_node_faults();
        let all: Vec<NodeFaults> = (0..1_000).map(drawn).collect();
        let families: [(&str, IsIn<'_>); 7] = [
            ("crashes", &|f| f.crash_gap.is_some()),
            ("kills", &|f| f.kill_gap.is_some()),
            ("restarts", &|f| f.restart_gap.is_some()),
            ("pauses", &|f| f.pause_gap.is_some()),
            ("steps", &|f| f.step_gap.is_some()),
            ("offsets", &|f| f.offset_max > Duration::ZERO),
            ("drift", &|f| f.drift_ppm_max > 0),
        ];
        for (name, is_in) in families {
            let share = all.iter().filter(|f| is_in(f)).count();
            assert!((430..570).contains(&share), "{name}: {share} of 1000");
        }
        assert_eq!(drawn(3), drawn(3));
    }
}
