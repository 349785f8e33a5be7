//! Scenarios of the kernel that end badly, through the attribute. The harness skips them unless asked.

#![expect(clippy::print_stdout, reason = "what a test prints is part of what is tested")]

use std::future::pending;
use std::time::Duration;

use detsim::__private::{Spec, run_async, scenario};
use detsim::{Failure, Sim, SimTime, context, sleep_until, yield_now};

#[detsim::test(seeds = 30)]
#[ignore = "run by the tests beside it"]
fn passes(sim: &mut Sim) -> Result<(), Failure> {
    drop(sim.spawn("sleeper", sleep_until(SimTime::from_secs(1))));
    sim.run()?;
    assert!(sim.now() >= SimTime::from_secs(1));
    println!("hash {:?}", sim.hash());
    Ok(())
}

#[detsim::test(seeds = 30)]
#[ignore = "run by the tests beside it"]
fn deadlocks(sim: &mut Sim) {
    let is_bad = sim.seed() % 10 == 4;
    drop(sim.node("n1").spawn("waiter", async move {
        if is_bad {
            pending::<()>().await;
        }
    }));
    sim.run().unwrap();
}

#[detsim::test(seeds = 30)]
#[ignore = "run by the tests beside it"]
fn deadlocks_and_returns_it(sim: &mut Sim) -> Result<(), Failure> {
    drop(sim.spawn("waiter", pending::<()>()));
    if sim.seed() == 4 { sim.run().map(drop) } else { Ok(()) }
}

#[detsim::test(seeds = 30)]
#[ignore = "run by the tests beside it"]
fn a_task_panics(sim: &mut Sim) -> Result<(), Failure> {
    let seed = sim.seed();
    drop(sim.spawn("bad", async move { assert!(seed != 4, "balance is {}", seed * 100) }));
    sim.run().map(drop)
}

#[detsim::test(seeds = 30)]
#[should_panic(expected = "balance is 400")]
#[ignore = "run by the tests beside it"]
fn a_task_panics_as_expected(sim: &mut Sim) {
    let seed = sim.seed();
    drop(sim.spawn("bad", async move { assert!(seed != 4, "balance is {}", seed * 100) }));
    sim.run().unwrap();
}

/// The failure of the run is what the test wants; that the test fails has another reason.
#[detsim::test(seeds = 2)]
#[ignore = "run by the tests beside it"]
fn fails_for_its_own_reason(sim: &mut Sim) {
    drop(sim.spawn("waiter", pending::<()>()));
    assert!(matches!(sim.run(), Err(Failure::Deadlock(_))));
    assert_eq!(sim.seed(), 0, "seeds differ");
}

#[detsim::test(seeds = 3, max_steps = 1000)]
#[ignore = "run by the tests beside it"]
fn never_ends(sim: &mut Sim) -> Result<(), Failure> {
    drop(sim.spawn("spinner", async {
        loop {
            yield_now().await;
        }
    }));
    sim.run().map(drop)
}

#[test]
#[ignore = "run by the tests beside it"]
fn an_async_function() {
    let path = concat!(module_path!(), "::an_async_function");
    run_async(Spec::new(path, file!(), line!()).seeds(6), || async {
        let seed = context::sim().map(|sim| sim.seed());
        match seed {
            Some(2) => pending().await,
            Some(3) => Err("three".to_owned()),
            _ => Ok(()),
        }
    });
}

#[test]
#[ignore = "run by the tests beside it"]
fn spins_in_one_poll() {
    let path = concat!(module_path!(), "::spins_in_one_poll");
    let spec = Spec::new(path, file!(), line!()).seeds(3).stuck_after(Duration::from_millis(300));
    scenario(spec, |sim| {
        let is_bad = sim.seed() == 1;
        drop(sim.spawn("miner", async move {
            if is_bad {
                loop {
                    std::hint::spin_loop();
                }
            }
        }));
        sim.run().map(drop)
    });
}

#[detsim::test(seeds = 3)]
#[ignore = "run by the tests beside it"]
fn a_drop_panics(sim: &mut Sim) -> Result<(), Failure> {
    struct Bad(bool);
    impl Drop for Bad {
        fn drop(&mut self) {
            assert!(!self.0, "panic in drop");
        }
    }
    let bad = Bad(sim.seed() == 1);
    drop(sim.spawn("holder", async move {
        let _bad = bad;
        pending::<()>().await;
    }));
    sim.run_for(Duration::from_secs(1)).map(drop)
}

#[detsim::test(seeds = 2)]
#[ignore = "run by the tests beside it"]
fn logs(sim: &mut Sim) -> Result<(), Failure> {
    tracing::info!("before");
    drop(sim.node("n1").spawn("writer", async {
        sleep_until(SimTime::from_millis(1500)).await;
        tracing::info!("from inside");
        assert!(context::sim().is_some_and(|sim| sim.seed() == 0), "shown");
    }));
    sim.run().map(drop)
}
