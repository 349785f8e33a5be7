//! `#[detsim::test]` on async functions and on scenarios.

use crate::assert_calls;
use crate::fake::{self, Sim};

#[detsim_macros::test(crate = "crate::fake")]
async fn a_bare_attribute_asks_for_nothing() {
    assert_calls(&[]);
}

#[detsim_macros::test(
    seeds = 5000,
    strategy = "random",
    max_steps = 1_000,
    preempt = "await",
    start_paused = true,
    flavor = "current_thread",
    crash = "exhaustive",
    crate = "crate::fake"
)]
async fn every_argument_is_passed_on_in_order() {
    assert_calls(&[
        "seeds(5000)",
        "strategy(random)",
        "max_steps(1000)",
        "preempt(await)",
        "start_paused(true)",
        "flavor(current_thread)",
        "crash(exhaustive)",
    ]);
}

const NAMED_AT: u32 = line!() + 2;
#[detsim_macros::test(crate = "crate::fake")]
async fn the_spec_says_which_test_this_is() {
    let spec = fake::spec();
    assert_eq!(spec.name, concat!(module_path!(), "::the_spec_says_which_test_this_is"));
    assert_eq!((spec.file, spec.line), (file!(), NAMED_AT));
}

/// A worker is this binary again, told to run the one test of that name.
#[detsim_macros::test(crate = "crate::fake")]
async fn r#match() {
    let thread = std::thread::current();
    let test = thread.name().expect("a thread named after the test");
    assert_eq!(fake::spec().name, format!("{}::{test}", env!("CARGO_CRATE_NAME")));
    assert!(test.ends_with("::r#match"), "{test}");
}

#[detsim_macros::test(crate = "crate::fake")]
async fn a_result_may_be_ok() -> Result<(), std::num::ParseIntError> {
    let number: u32 = "7".parse()?;
    assert_eq!(number, 7);
    Ok(())
}

#[detsim_macros::test(crate = "crate::fake")]
#[should_panic = "the test returned an error: \"no quorum\""]
async fn an_err_fails_the_test() -> Result<(), &'static str> {
    Err("no quorum")
}

#[should_panic(expected = "lost an update")]
#[detsim_macros::test(crate = "crate::fake")]
async fn should_panic_is_kept_above_the_attribute() {
    panic!("lost an update");
}

#[detsim_macros::test(crate = "crate::fake")]
async fn inner_attributes_are_kept() {
    #![should_panic(expected = "inside")]
    panic!("inside");
}

#[detsim_macros::test(crate = "crate::fake")]
#[ignore = "it fails: this shows that the attribute is kept"]
async fn ignore_is_kept() {
    panic!("ran in spite of `#[ignore]`");
}

#[detsim_macros::test(crate = "crate::fake")]
async fn the_body_may_await_and_return_early() {
    if std::future::ready(true).await {
        return;
    }
    panic!("went on after `return`");
}

#[detsim_macros::test(
    crate = "crate::fake",
    seeds = 3,
    strategy = "fifo",
    preempt = "ops",
    leaks = "fail"
)]
fn a_scenario_is_given_the_simulation(sim: &mut Sim) {
    sim.steps += 1;
    assert_eq!(sim.steps, 1);
    assert_calls(&["seeds(3)", "strategy(fifo)", "preempt(ops)", "leaks(fail)"]);
}

#[detsim_macros::test(crate = "crate::fake")]
#[should_panic = "two leaders"]
fn a_scenario_may_return_an_err(_: &mut Sim) -> Result<(), String> {
    Err("two leaders".to_owned())
}

#[detsim_macros::test(crate = "crate::fake")]
fn sim(sim: &mut Sim) {
    assert_eq!(sim.steps, 0, "a scenario may have the name of its parameter");
}

mod shadowed {
    //! `test` itself may be ours; the one in an expansion is still the compiler's.
    use detsim_macros::test;

    #[test(crate = "crate::fake")]
    async fn the_built_in_test_is_not_looked_up_by_its_short_name() {
        crate::assert_calls(&[]);
    }
}

mod pedantic {
    //! Lints that generated code could trip over, for all that no user wrote it.
    #![deny(clippy::pedantic, clippy::unwrap_used, clippy::allow_attributes)]

    #[detsim_macros::test(crate = "crate::fake", seeds = 1)]
    async fn an_async_fn_without_await() {
        assert_eq!(crate::fake::spec().calls, ["seeds(1)"]);
    }

    #[detsim_macros::test(crate = "crate::fake")]
    fn scenario(sim: &mut crate::fake::Sim) {
        assert_eq!(sim.steps, 0);
    }
}

/// A macro's fragments arrive in invisible groups.
macro_rules! swept {
    ($name:ident, $seeds:expr, $strategy:literal, $sim:ty, $body:block) => {
        #[detsim_macros::test(seeds = $seeds, strategy = $strategy, crate = "crate::fake")]
        fn $name(_: $sim) {
            $body
        }
    };
}

swept!(arguments_may_come_from_a_macro, 12, "fifo", &mut Sim, {
    assert_calls(&["seeds(12)", "strategy(fifo)"]);
});
