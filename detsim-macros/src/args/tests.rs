//! What both vocabularies make of arguments. That each error stands at its place is for the UI tests.

use expect_test::{Expect, expect};
use quote::ToTokens;

use super::{Settings, detsim, tokio};
use crate::Role;
use crate::errors::Errors;
use crate::function::Shape;

fn report(settings: &Settings, errors: &[String]) -> String {
    let root = settings.root.iter().map(|root| format!("crate {}", root.to_token_stream()));
    let calls = settings.calls.iter().map(|call| call.to_token_stream().to_string());
    let errors = errors.iter().map(|error| format!("error: {error}"));
    root.chain(calls).chain(errors).map(|line| line + "\n").collect()
}

#[track_caller]
fn check_detsim(role: Role, shape: Shape, args: &str, expected: Expect) {
    let mut errors = Errors::default();
    let args = args.parse().expect("arguments that are tokens");
    let settings = detsim::read(role, Some(shape), args, &mut errors);
    expected.assert_eq(&report(&settings, &errors.messages()));
}

#[track_caller]
fn check_tokio(role: Role, args: &str, expected: Expect) {
    let args = args.parse().expect("arguments that are tokens");
    let report = match tokio::read(role, args) {
        Ok(settings) => report(&settings, &[]),
        Err(error) => report(&Settings::default(), &[error.to_string()]),
    };
    expected.assert_eq(&report);
}

#[test]
fn no_arguments_are_no_calls() {
    check_detsim(Role::Test, Shape::Async, "", expect![""]);
    check_detsim(Role::Main, Shape::Scenario, "", expect![""]);
    check_tokio(Role::Test, "", expect![""]);
    check_tokio(Role::Main, "", expect![""]);
}

#[test]
fn each_argument_of_a_test_is_a_call() {
    check_detsim(
        Role::Test,
        Shape::Async,
        r#"seeds = 1, strategy = "fifo", max_steps = 18446744073709551615, preempt = "await",
           start_paused = false, flavor = "multi_thread", crate = "a::b","#,
        expect![[r#"
            crate a :: b
            . seeds (1)
            . strategy ("fifo")
            . max_steps (18446744073709551615)
            . preempt ("await")
            . start_paused (false)
            . flavor ("multi_thread")
        "#]],
    );
}

#[test]
fn each_argument_of_a_main_is_a_call() {
    check_detsim(
        Role::Main,
        Shape::Async,
        r#"crate = "::a", seed = 0xff, flavor = "current_thread", start_paused = true"#,
        expect![[r#"
            crate :: a
            . seed (0xff)
            . flavor ("current_thread")
            . start_paused (true)
        "#]],
    );
}

#[test]
fn minimize_may_be_bare_or_have_a_value() {
    check_detsim(
        Role::Test,
        Shape::Async,
        "minimize",
        expect![[r#"
        . minimize (true)
    "#]],
    );
    check_detsim(
        Role::Test,
        Shape::Scenario,
        "minimize = false",
        expect![[r#"
        . minimize (false)
    "#]],
    );
    check_detsim(
        Role::Test,
        Shape::Async,
        "minimize(2), seeds = 1",
        expect![[r#"
        . seeds (1)
        error: `minimize` needs a value, such as `minimize = true`
    "#]],
    );
}

#[test]
fn a_crash_is_a_profile_and_in_a_test_a_walk() {
    check_detsim(
        Role::Test,
        Shape::Async,
        r#"crash = "exhaustive""#,
        expect![[r#"
            . crash ("exhaustive")
        "#]],
    );
    check_detsim(
        Role::Main,
        Shape::Scenario,
        r#"crash = "posix""#,
        expect![[r#"
            . crash ("posix")
        "#]],
    );
    check_detsim(
        Role::Main,
        Shape::Scenario,
        r#"crash = "exhaustive""#,
        expect![[r#"
            error: `crash` cannot be "exhaustive"; it is one of "prefix", "ext4_ordered", "metadata_log", "posix", "no_barrier"
        "#]],
    );
}

#[test]
fn what_is_right_is_kept_beside_what_is_wrong() {
    check_detsim(
        Role::Test,
        Shape::Scenario,
        r#"seeds = 0, strategy = "random", flavour = "x", max_steps = 7, start_paused = true"#,
        expect![[r#"
            . strategy ("random")
            . max_steps (7)
            error: `seeds` takes an integer of at least 1, as in `seeds = 5000`
            error: unknown argument `flavour` (did you mean `flavor`?); `#[detsim::test]` takes `seeds`, `strategy`, `max_steps`, `preempt`, `start_paused`, `flavor`, `crash`, `leaks`, `minimize`, `crate`
            error: `start_paused` has no meaning here: a `fn(sim: &mut Sim)` runs on the kernel, without a tokio runtime
        "#]],
    );
}

#[test]
fn the_first_of_two_counts() {
    check_detsim(
        Role::Test,
        Shape::Async,
        "seeds = 1, seeds = 2",
        expect![[r#"
            . seeds (1)
            error: `seeds` is given twice
        "#]],
    );
    check_detsim(
        Role::Test,
        Shape::Async,
        "seeds = 0, seeds = 2",
        expect![[r#"
            error: `seeds` takes an integer of at least 1, as in `seeds = 5000`
            error: `seeds` is given twice
        "#]],
    );
}

#[test]
fn a_clock_that_is_not_paused_suits_any_flavor() {
    check_detsim(
        Role::Test,
        Shape::Async,
        r#"flavor = "multi_thread", start_paused = false"#,
        expect![[r#"
            . flavor ("multi_thread")
            . start_paused (false)
        "#]],
    );
}

#[test]
fn each_argument_of_tokio_is_a_call() {
    check_tokio(
        Role::Main,
        r#"flavor = "multi_thread", worker_threads = 0x10_usize, name = "n", crate = "::a""#,
        expect![[r#"
            crate :: a
            . flavor ("multi_thread")
            . worker_threads (16)
            . runtime_name ("n")
        "#]],
    );
    check_tokio(
        Role::Test,
        r#"START_PAUSED = true, unhandled_panic = "ignore""#,
        expect![[r#"
            . start_paused (true)
            . unhandled_panic ("ignore")
        "#]],
    );
}

#[test]
fn a_tokio_main_is_multi_thread_and_a_test_is_not() {
    check_tokio(
        Role::Main,
        "worker_threads = 2",
        expect![[r#"
            . worker_threads (2)
        "#]],
    );
    check_tokio(
        Role::Test,
        "worker_threads = 2",
        expect![[r#"
            error: The `worker_threads` option requires the `multi_thread` runtime flavor. Use `#[tokio::test(flavor = "multi_thread")]`
        "#]],
    );
    check_tokio(
        Role::Main,
        "start_paused = true",
        expect![[r#"
            error: The `start_paused` option requires the `current_thread` runtime flavor. Use `#[tokio::main(flavor = "current_thread")]`
        "#]],
    );
}

#[test]
fn of_tokios_errors_only_the_first_is_reported() {
    check_tokio(
        Role::Test,
        "worker_threads = 0, flavor = 1, foo = 2",
        expect![[r#"
            error: `worker_threads` may not be 0.
        "#]],
    );
}
