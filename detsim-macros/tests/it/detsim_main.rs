//! `#[detsim::main]`, here on functions that are not the program's `main`: `ui/pass` has one that is.

use expect_test::expect;

use crate::fake::{self, Sim};

#[detsim_macros::main(seed = 0, strategy = "fifo", flavor = "multi_thread", crate = "crate::fake")]
async fn program() -> Result<Vec<String>, String> {
    Ok(fake::spec().calls)
}

#[detsim_macros::main(seed = 18446744073709551615, crate = "crate::fake")]
fn scenario(sim: &mut Sim) -> Result<(), String> {
    Err(format!("{:?} after {} steps", fake::spec().calls, sim.steps))
}

#[test]
fn the_output_is_passed_through() {
    expect![[r#"
        (
            Ok(
                [
                    "seed(0)",
                    "strategy(fifo)",
                    "flavor(multi_thread)",
                ],
            ),
            Err(
                "[\"seed(18446744073709551615)\"] after 0 steps",
            ),
        )
    "#]]
    .assert_debug_eq(&(program(), scenario()));
}

#[test]
fn the_spec_names_the_function() {
    scenario().unwrap_err();
    assert_eq!(fake::spec().name, concat!(module_path!(), "::scenario"));
}
