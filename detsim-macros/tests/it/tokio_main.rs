//! `#[tokio::main]`, which goes on any async function: methods, parameters and generics included.

use crate::fake;

struct Counter<T> {
    total: T,
}

impl<T: Copy + std::ops::AddAssign> Counter<T> {
    #[detsim_macros::tokio_main(crate = "crate::fake")]
    async fn starting_at(total: T) -> Self {
        Self { total }
    }

    #[detsim_macros::tokio_main(crate = "crate::fake")]
    async fn add(&mut self, amount: T) -> &mut Self {
        self.total += amount;
        self
    }

    #[detsim_macros::tokio_main(crate = "crate::fake")]
    async fn into_total(mut self, (last, _): (T, &str)) -> T {
        self.total += last;
        self.total
    }
}

#[detsim_macros::tokio_main(crate = "crate::fake")]
async fn longest<'a, S: ?Sized + AsRef<str>>(first: &'a S, second: &'a S) -> &'a str {
    let (first, second) = (first.as_ref(), second.as_ref());
    if first.len() >= second.len() {
        return first;
    }
    second
}

#[detsim_macros::tokio_main(crate = "crate::fake")]
async fn digits(text: impl Into<String>) -> impl Iterator<Item = char> {
    text.into().into_bytes().into_iter().map(char::from).filter(char::is_ascii_digit)
}

#[detsim_macros::tokio_main(crate = "crate::fake")]
async fn stop() -> ! {
    panic!("stopped")
}

#[rustfmt::skip] // A body on one line is what `unused_braces` looks for.
#[detsim_macros::tokio_main(crate = "crate::fake")]
async fn name_of_spec() -> &'static str { fake::spec().name }

#[detsim_macros::tokio_main(
    flavor = "multi_thread",
    worker_threads = 2,
    name = "server",
    crate = "crate::fake"
)]
async fn calls() -> Vec<String> {
    fake::spec().calls
}

mod pedantic {
    //! Lints that generated code could trip over, for all that no user wrote it.
    #![deny(clippy::pedantic, clippy::unwrap_used, clippy::allow_attributes)]

    #[detsim_macros::tokio_main(crate = "crate::fake")]
    pub(super) async fn statement() {
        assert!(crate::fake::spec().calls.is_empty());
    }

    #[detsim_macros::tokio_main(crate = "crate::fake")]
    pub(super) async fn item() {
        #[expect(dead_code, reason = "an item is all that the body is")]
        fn unused() {}
    }

    #[detsim_macros::tokio_main(crate = "crate::fake")]
    pub(super) async fn diverging() -> Result<(), String> {
        panic!("stopped")
    }
}

#[test]
fn receivers_parameters_and_generics_are_in_reach() {
    let mut counter = Counter::starting_at(1);
    counter.add(2).add(3);
    assert_eq!(counter.into_total((4, "")), 10);
    assert_eq!(longest("ab", "abc"), "abc");
    assert_eq!(digits("a1b2").collect::<String>(), "12");
}

#[test]
#[should_panic = "stopped"]
fn a_function_may_never_return() {
    stop();
}

#[test]
#[should_panic = "stopped"]
fn a_function_may_diverge_whatever_it_returns() {
    pedantic::diverging().unwrap();
}

#[test]
fn the_spec_names_the_function_and_has_what_was_given() {
    assert_eq!(name_of_spec(), concat!(module_path!(), "::name_of_spec"));
    assert_eq!(calls(), ["flavor(multi_thread)", "worker_threads(2)", "runtime_name(server)"]);
}

#[test]
fn no_lint_blames_the_user_for_the_expansion() {
    pedantic::statement();
    pedantic::item();
}
