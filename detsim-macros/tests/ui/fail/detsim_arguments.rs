//! Arguments that `#[detsim::test]` and `#[detsim::main]` refuse: every one, at its place.

#[path = "../../fake/runtime.rs"]
mod fake;

#[detsim_macros::test(seed = 1, stratgey = "fifo", timeout = 5, a::b = 1, crate = "crate::fake")]
async fn unknown() {}

#[detsim_macros::main(seeds = 5000, crate = "crate::fake")]
async fn a_main_runs_one_seed() {}

#[detsim_macros::test(seeds, strategy("fifo"), flavor, crate = "crate::fake")]
async fn without_value() {}

#[detsim_macros::test(
    seeds = "5000",
    strategy = fifo,
    max_steps = -1,
    preempt = true,
    start_paused = 1,
    flavor = 1.5,
    crate = crate::fake,
)]
async fn of_the_wrong_kind() {}

#[detsim_macros::test(seeds = 0, max_steps = 18446744073709551616, crate = "crate::fake")]
async fn out_of_range() {}

#[detsim_macros::test(seeds = 5000u32, max_steps = 1e6, crate = "crate::fake")]
async fn not_plain_integers() {}

#[detsim_macros::test(
    strategy = "rnadom",
    preempt = "never",
    flavor = "current_threads",
    crate = "not a path"
)]
async fn unknown_words() {}

#[detsim_macros::test(seeds = 1, seeds = 2, crate = "crate::fake", crate = "crate::fake")]
async fn twice() {}

#[detsim_macros::test(flavor = "multi_thread", start_paused = true, crate = "crate::fake")]
async fn paused_on_many_threads() {}

#[detsim_macros::test(start_paused = true, flavor = "current_thread", crate = "crate::fake")]
fn runtime_of_a_scenario(_: &mut fake::Sim) {}

#[detsim_macros::test(seeds = , crate = "crate::fake")]
async fn syntax() {}

#[detsim_macros::test(crash = "ext4", crate = "crate::fake")]
async fn unknown_profile() {}

#[detsim_macros::main(crash = "exhaustive", crate = "crate::fake")]
async fn a_main_walks_nothing() {}

fn main() {}
