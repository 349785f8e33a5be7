//! The limit on simulations, in a process of its own: it takes them all.

use detsim_executor::{Sim, message_of};

#[test]
fn more_simulations_than_lanes() {
    let mut sims: Vec<Sim> = (0..4094).map(Sim::new).collect();
    let panic = std::panic::catch_unwind(|| drop(Sim::new(0))).expect_err("no lane is left");
    let message = message_of(&*panic);
    assert!(message.starts_with("detsim: more than 4094 simulations alive at once"), "{message}");
    sims.swap_remove(17);
    sims.push(Sim::new(0));
}
