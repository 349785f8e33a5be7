//! The attributes of detsim: `test` and `main`, and what the tokio shim exports under the same names.
//!
//! Not a crate to depend on: users meet these as `detsim::test`, `detsim::main`, `tokio::test` and
//! `tokio::main`. It owns their arguments, their error messages and their expansion. It knows neither
//! the simulator nor tokio, only the few paths that an expansion calls:
//!
//! | attribute on | calls |
//! |---|---|
//! | `async fn` | `::tokio::__detsim::{test, main}(Spec, function)` |
//! | `fn(sim: &mut Sim)` | `::detsim::__private::{scenario, main}(Spec, closure)` |

#![forbid(unsafe_code)]

mod args;
mod errors;
mod expand;
mod function;

use std::fmt;

use proc_macro::TokenStream;

/// What an attribute makes of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Test,
    Main,
}

impl Role {
    /// The attribute's name, and that of the function which an expansion calls.
    fn entry(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Main => "main",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry())
    }
}

/// Runs a test under thousands of schedules.
///
/// The function is an `async fn`, which runs on the simulated tokio, or takes `sim: &mut Sim`, which
/// makes it a scenario of the kernel alone. Either returns `()` or a `Result`; a panic or an `Err`
/// fails the seed. It is an ordinary test: `cargo test`, nextest and an editor run it by its name, and
/// `#[should_panic]`, `#[ignore]` and every other attribute keep their meaning.
///
/// # Arguments
///
/// | argument | meaning |
/// |---|---|
/// | `seeds = 5000` | how many seeds to run, at least 1 |
/// | `strategy = "random"` | the scheduler: `"random"` or `"fifo"` |
/// | `max_steps = 100000` | the steps after which a run is stopped as endless, at least 1 |
/// | `preempt = "ops"` | where a task may lose its turn: at every operation, or `"await"` |
/// | `start_paused = true` | whether the clock stands still until the test waits for it (async only) |
/// | `flavor = "multi_thread"` | the runtime: `"current_thread"` or `"multi_thread"` (async only) |
/// | `leaks = "fail"` | whether a task that is alive when the test ends fails it; `"ignore"`, as tokio does, otherwise |
/// | `crash = "posix"` | what a loss of power may leave on every disk: `"prefix"`, `"ext4_ordered"`, `"metadata_log"`, `"posix"`, `"no_barrier"`; or `"exhaustive"`, which walks it: seed `n` loses its power at the `n`th set of survivors |
/// | `minimize` | cut a failing run down to the choices that matter, at the end of the sweep |
/// | `crate = "path"` | the crate to call, where it is not named `tokio` (async) or `detsim` |
///
/// # Examples
///
/// ```standalone_crate
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/doctest.rs"));
/// # pub use detsim_macros::test;
/// # fn main() {}
/// #[detsim::test(seeds = 5000)]
/// async fn a_reply_arrives() {
///     assert_eq!(ask().await, "reply");
/// }
///
/// #[detsim::test(seeds = 100, strategy = "fifo")]
/// fn the_worker_ends(sim: &mut Sim) -> Result<(), Failure> {
///     sim.spawn("worker", async { assert_eq!(ask().await, "reply") });
///     assert_eq!(sim.run()?.completed, 1);
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// A function of another shape, and arguments that do not exist, are given twice or have a value of
/// the wrong kind, are compile errors; all of them are reported together.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::detsim(Role::Test, args.into(), item.into()).into()
}

/// Runs a program's entry point once, simulated.
///
/// Takes the functions and the arguments of [`test`](macro@test), with `seed = 847291`, the seed of
/// the one run, instead of `seeds`. The function returns what `main` may return.
///
/// # Examples
///
/// ```standalone_crate
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/doctest.rs"));
/// # pub use detsim_macros::main;
/// #[detsim::main(seed = 847291)]
/// async fn main() {
///     assert_eq!(ask().await, "reply");
/// }
/// ```
///
/// # Errors
///
/// As for [`test`](macro@test).
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::detsim(Role::Main, args.into(), item.into()).into()
}

/// Runs an async test on the simulated tokio.
///
/// Takes tokio's own arguments: `flavor`, `worker_threads`, `start_paused`, `unhandled_panic`, `name`
/// and `crate`, checks them as tokio does, and refuses them in tokio's words.
///
/// # Examples
///
/// ```standalone_crate
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/doctest.rs"));
/// # pub use detsim_macros::tokio_test as test;
/// # fn main() {}
/// #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
/// async fn a_reply_arrives() {
///     assert_eq!(ask().await, "reply");
/// }
/// ```
///
/// # Errors
///
/// What `tokio::test` refuses is a compile error.
#[proc_macro_attribute]
pub fn tokio_test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::tokio(Role::Test, args.into(), item.into()).into()
}

/// Makes an async function a plain one that runs on the simulated tokio.
///
/// Takes tokio's own arguments, as [`tokio_test`](macro@tokio_test) does. The function need not be
/// the program's `main`: it may have parameters, a receiver and generics.
///
/// # Examples
///
/// ```standalone_crate
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/doctest.rs"));
/// # pub use detsim_macros::tokio_main as main;
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() {
///     assert_eq!(ask().await, "reply");
/// }
/// ```
///
/// # Errors
///
/// What `tokio::main` refuses is a compile error.
#[proc_macro_attribute]
pub fn tokio_main(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::tokio(Role::Main, args.into(), item.into()).into()
}
