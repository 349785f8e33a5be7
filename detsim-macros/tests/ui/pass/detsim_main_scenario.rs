//! A program that is a scenario.

#[path = "../../fake/runtime.rs"]
mod fake;

#[detsim_macros::main(crate = "crate::fake")]
fn main(sim: &mut fake::Sim) {
    assert_eq!(sim.steps, 0);
    assert!(fake::spec().calls.is_empty());
}
