//! What the compiler finds wrong in an async function of tokio's.

#[path = "../../fake/runtime.rs"]
mod fake;

#[detsim_macros::tokio_main(crate = "crate::fake")]
async fn wrong_value() -> Result<(), String> {
    Ok(5)
}

#[detsim_macros::tokio_main(crate = "crate::fake")]
async fn missing_value() -> Result<(), String> {
    let _work = 1;
}

#[detsim_macros::tokio_main(crate = "crate::fake")]
async fn extra_value() {
    return 5;
}

#[detsim_macros::tokio_main(crate = "crate::nowhere")]
async fn wrong_crate() {}

fn main() {}
