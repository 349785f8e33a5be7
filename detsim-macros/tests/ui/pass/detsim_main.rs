//! A program whose entry point is simulated.

#[path = "../../fake/runtime.rs"]
mod fake;

#[detsim_macros::main(seed = 847291, crate = "crate::fake")]
async fn main() -> Result<(), String> {
    assert_eq!(fake::spec().calls, ["seed(847291)"]);
    Ok(())
}
