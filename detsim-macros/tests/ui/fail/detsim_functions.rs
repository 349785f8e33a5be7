//! Functions that `#[detsim::test]` and `#[detsim::main]` refuse.

#[path = "../../fake/runtime.rs"]
mod fake;

use fake::Sim;

#[detsim_macros::test(crate = "crate::fake")]
fn neither_async_nor_a_scenario() {}

#[detsim_macros::test(crate = "crate::fake")]
async fn async_with_a_parameter(_: &mut Sim, _: u64) {}

#[detsim_macros::test(crate = "crate::fake")]
fn scenario_with_more(_: &mut Sim, _: u64, _: &str) {}

#[detsim_macros::test(crate = "crate::fake")]
fn scenario_of_something_else(_: u64) {}

#[detsim_macros::test(crate = "crate::fake")]
async fn generic<'a, T>()
where
    T: Copy,
{
}

#[detsim_macros::test(crate = "crate::fake")]
async unsafe extern "C" fn qualified() {}

#[detsim_macros::test(crate = "crate::fake")]
const fn constant(_: &mut Sim) {}

struct Cluster;

impl Cluster {
    #[detsim_macros::test(crate = "crate::fake")]
    async fn method(&self) {}
}

#[detsim_macros::test(crate = "crate::fake")]
#[test]
#[core::prelude::v1::test]
async fn a_test_already() {}

#[detsim_macros::test(seeds = 0, strategy = "fast", crate = "crate::fake")]
#[test]
fn all_at_once<T>() {}

#[detsim_macros::test]
struct NotAFunction;

#[detsim_macros::main(crate = "crate::fake")]
fn main() {}
