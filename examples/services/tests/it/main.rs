//! The services, swept.
//!
//! Under `--cfg detsim` each `#[detsim::test]` sweeps its seeds, in an environment that does whatever the seed has
//! in store to links, nodes and clocks; without it, it is one run on tokio over loopback. The long sweeps are ignored; they are run
//! by hand: `RUSTFLAGS="--cfg detsim" cargo test -p services --release -- --ignored sweeps`.

#[cfg(detsim)]
mod planted;
mod scenarios;
mod world;

use services::Bug;
use world::Weather;

#[detsim::test(seeds = 200)]
async fn a_chat_passes_on_what_was_said() {
    scenarios::chat(Bug::None, Weather::Rough).await;
}

#[detsim::test(seeds = 200)]
async fn every_payment_is_made_once() {
    scenarios::rpc(Bug::None, Weather::Rough).await;
}

#[detsim::test(seeds = 200)]
async fn every_request_is_answered_in_order_and_whole() {
    scenarios::http(Bug::None, Weather::Rough).await;
}

#[detsim::test(seeds = 200)]
async fn every_vote_is_counted_once() {
    scenarios::gossip(Bug::None, Weather::Rough).await;
}

mod sweeps {
    use super::{Bug, Weather, scenarios};

    #[detsim::test(seeds = 2000)]
    #[ignore = "long: 2,000 seeds"]
    async fn chat() {
        scenarios::chat(Bug::None, Weather::Rough).await;
    }

    #[detsim::test(seeds = 2000)]
    #[ignore = "long: 2,000 seeds"]
    async fn rpc() {
        scenarios::rpc(Bug::None, Weather::Rough).await;
    }

    #[detsim::test(seeds = 2000)]
    #[ignore = "long: 2,000 seeds"]
    async fn http() {
        scenarios::http(Bug::None, Weather::Rough).await;
    }

    #[detsim::test(seeds = 2000)]
    #[ignore = "long: 2,000 seeds"]
    async fn gossip() {
        scenarios::gossip(Bug::None, Weather::Rough).await;
    }
}
