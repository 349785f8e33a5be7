//! Every kernel, swept: the cure is clean, and the bug is found, told and cut down.

#[cfg(detsim)]
mod figures;
#[cfg(detsim)]
mod found;
#[cfg(detsim)]
mod others;
#[cfg(detsim)]
mod repeats;

/// The sweeps: `fixed::<name>` over thousands of seeds, and `buggy::<name>`, which fails on purpose.
macro_rules! kernels {
    ($($name:ident)*) => {
        /// The names of all of them.
        #[cfg(detsim)]
        const KERNELS: &[&str] = &[$(stringify!($name)),*];

        mod fixed {
            $(
                #[detsim::test(seeds = 2000)]
                async fn $name() {
                    kernels::$name::fixed().await;
                }
            )*
        }

        mod buggy {
            $(
                #[detsim::test(seeds = 200)]
                #[ignore = "fails on purpose"]
                async fn $name() {
                    kernels::$name::buggy().await;
                }
            )*
        }
    };
}

kernels! {
    ab_ba
    abort_mid_transfer
    check_then_wait
    framed_select
    permit_leak_on_cancel
    relock
    req_resp_full
    ring3
    rw_recursive_read
    send_under_lock
    toctou_await
}

/// What is asked of each service, and where, as its own tests have it.
#[cfg(detsim)]
#[path = "../../../services/tests/it/scenarios.rs"]
mod scenarios;
#[cfg(detsim)]
#[path = "../../../services/tests/it/world.rs"]
#[expect(dead_code, reason = "the services' own tests need all of it")]
mod world;
