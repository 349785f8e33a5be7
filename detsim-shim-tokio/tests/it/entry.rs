//! What the attributes expand to.

use detsim_shim_tokio as tokio;
use tokio::task::yield_now;
use tokio::time::{Duration, Instant, sleep};

/// An attribute's expansion in an edition of its own name for the shim.
pub(crate) mod shim {
    pub(crate) use detsim_shim_tokio::__detsim;
}

#[tokio::test(crate = "shim")]
async fn a_test_runs_in_a_simulation() {
    let start = Instant::now();
    sleep(Duration::from_secs(3600)).await;
    assert!(start.elapsed() >= Duration::from_secs(3600));
}

#[tokio::test(crate = "shim")]
async fn a_test_may_return_a_result() -> Result<(), String> {
    tokio::spawn(async { 1 }).await.map(drop).map_err(|error| error.to_string())
}

#[tokio::test(crate = "shim")]
#[should_panic = "seeds passed"]
async fn a_test_may_fail() {
    yield_now().await;
    assert_eq!(1 + 1, 3);
}

struct Counter {
    count: u32,
}

impl Counter {
    #[tokio::main(crate = "shim")]
    async fn count_and_borrow(&mut self) -> &u32 {
        yield_now().await;
        self.count += 1;
        &self.count
    }
}

#[test]
fn a_main_may_borrow() {
    let mut counter = Counter { count: 1 };
    assert_eq!(*counter.count_and_borrow(), 2);
}

#[test]
#[should_panic = "DEADLOCK"]
fn a_main_that_is_stuck_says_so() {
    #[tokio::main(crate = "shim")]
    async fn stuck() {
        std::future::pending::<()>().await;
    }
    stuck();
}
