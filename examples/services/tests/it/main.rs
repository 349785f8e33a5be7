//! The services, swept.
//!
//! Under `--cfg detsim` each `#[detsim::test]` sweeps its seeds, on a network that does whatever the seed has
//! in store; without it, it is one run on tokio over loopback. The long sweeps are ignored; they are run
//! by hand: `RUSTFLAGS="--cfg detsim" cargo test -p services --release -- --ignored sweeps`.

#[cfg(detsim)]
mod planted;
mod scenarios;
mod world;

use services::Bug;

#[detsim::test(seeds = 200)]
async fn a_chat_passes_on_what_was_said() {
    scenarios::chat(Bug::None).await;
}

#[detsim::test(seeds = 200)]
async fn every_call_is_answered() {
    scenarios::rpc(Bug::None).await;
}

#[detsim::test(seeds = 200)]
async fn every_request_is_answered_in_order() {
    scenarios::http(Bug::None).await;
}

#[detsim::test(seeds = 200)]
async fn every_vote_is_counted_once() {
    scenarios::gossip(Bug::None).await;
}

mod sweeps {
    use super::{Bug, scenarios};

    #[detsim::test(seeds = 2000)]
    #[ignore = "long: 2,000 seeds"]
    async fn chat() {
        scenarios::chat(Bug::None).await;
    }

    #[detsim::test(seeds = 2000)]
    #[ignore = "long: 2,000 seeds"]
    async fn rpc() {
        scenarios::rpc(Bug::None).await;
    }

    #[detsim::test(seeds = 2000)]
    #[ignore = "long: 2,000 seeds"]
    async fn http() {
        scenarios::http(Bug::None).await;
    }

    #[detsim::test(seeds = 2000)]
    #[ignore = "long: 2,000 seeds"]
    async fn gossip() {
        scenarios::gossip(Bug::None).await;
    }
}
