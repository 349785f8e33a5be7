//! What the compiler finds wrong in a function is shown where the user wrote it.

#[path = "../../fake/runtime.rs"]
mod fake;

use fake::Sim;

#[detsim_macros::main(crate = "crate::fake")]
async fn wrong_value() -> Result<(), String> {
    Ok(5)
}

#[detsim_macros::main(crate = "crate::fake")]
async fn missing_value() -> Result<(), String> {
    let _work = 1;
}

#[detsim_macros::main(crate = "crate::fake")]
fn not_an_output(_: &mut Sim) -> u32 {
    5
}

#[detsim_macros::main(crate = "crate::fake")]
fn not_the_simulation(_: &mut String) {}

fn main() {}
