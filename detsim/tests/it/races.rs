//! Races whose smallest cause is known. The harness skips them unless asked.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use detsim::{Failure, Network, Sim, yield_now};

use crate::lock::Lock;
use crate::minimize::fresh_path;

/// Two tasks take two locks in opposite orders, among `noise` tasks that have nothing to do with it.
fn opposite_orders(sim: &Sim, noise: u32, rounds: u32) -> Result<(), Failure> {
    let (a, b) = (Lock::new(), Lock::new());
    for (name, first, second) in [("ab", &a, &b), ("ba", &b, &a)] {
        let (first, second) = (Rc::clone(first), Rc::clone(second));
        drop(sim.spawn(name, async move {
            yield_now().await;
            first.take().await;
            second.take().await;
            second.give_back();
            first.give_back();
        }));
    }
    for index in 0..noise {
        let own = Lock::new();
        drop(sim.spawn(format!("noise-{index}"), async move {
            for _ in 0..rounds {
                own.take().await;
                own.give_back();
                yield_now().await;
            }
        }));
    }
    sim.run().map(drop)
}

#[detsim::test(seeds = 400)]
#[ignore = "run by the tests beside it"]
fn two_locks(sim: &mut Sim) -> Result<(), Failure> {
    opposite_orders(sim, 0, 0)
}

#[detsim::test(seeds = 400)]
#[ignore = "run by the tests beside it"]
fn two_locks_among_noise(sim: &mut Sim) -> Result<(), Failure> {
    opposite_orders(sim, 20, 150)
}

/// Two tasks take turns, and more of them where a file says so: what an edit would do.
#[detsim::test(seeds = 50)]
#[ignore = "run by the tests beside it"]
fn an_edited_race(sim: &mut Sim) -> Result<(), Failure> {
    let edits = usize::from(fresh_path("edited").join("edit").is_file());
    for index in 0..edits {
        drop(sim.spawn(format!("edit-{index}"), async {}));
    }
    opposite_orders(sim, 1, 2)
}

/// Two tasks and two locks, as a file says: in opposite orders; so, with another task `edit` and other
/// lines before them; `mended`; or `rewritten`, without the second task.
#[detsim::test(seeds = 50)]
#[ignore = "run by the tests beside it"]
fn a_race_over_time(sim: &mut Sim) -> Result<(), Failure> {
    let program = std::fs::read_to_string(fresh_path("regressions").join("program"));
    match program.as_deref().map(str::trim) {
        Ok("edited") => {
            drop(sim.spawn("edit", async { yield_now().await }));
            takers(sim, true, 2)
        }
        Ok("mended") => takers(sim, false, 2),
        Ok("rewritten") => takers(sim, true, 0),
        _ => takers(sim, true, 2),
    }
}

fn takers(sim: &Sim, crosses: bool, count: usize) -> Result<(), Failure> {
    let (a, b) = (Lock::new(), Lock::new());
    let takers = [("ab", &a, &b), if crosses { ("ba", &b, &a) } else { ("ba", &a, &b) }];
    for (name, first, second) in takers.into_iter().take(count) {
        let (first, second) = (Rc::clone(first), Rc::clone(second));
        drop(sim.spawn(name, async move {
            first.take().await;
            second.take().await;
            second.give_back();
            first.give_back();
        }));
    }
    sim.run().map(drop)
}

/// A request is sent once and never again: a lost message is an answer that never comes.
#[detsim::test(seeds = 200)]
#[ignore = "run by the tests beside it"]
fn a_lost_request(sim: &mut Sim) -> Result<(), Failure> {
    let network: Network<u32> = Network::new(sim);
    network.set_delay_range(Duration::from_millis(1), Duration::from_millis(9));
    network.set_drop_rate(0.05);
    let (client, server) = (sim.node("client").id(), sim.node("server").id());
    let answers = Rc::new(Cell::new(0));
    let (counted, replies) = (Rc::clone(&answers), network.clone());
    network.register(client, move |_, _| counted.set(counted.get() + 1));
    network.register(server, move |from, n| replies.send(server, from, n));
    for n in 0..10 {
        network.send(client, server, n);
    }
    sim.run()?;
    assert_eq!(answers.get(), 10, "answers are missing");
    Ok(())
}

/// Two tasks read a counter, let others run, and write it back.
#[detsim::test(seeds = 200, minimize)]
#[ignore = "run by the tests beside it"]
fn a_lost_update(sim: &mut Sim) -> Result<(), Failure> {
    let (lock, count) = (Lock::new(), Rc::new(Cell::new(0)));
    for name in ["left", "right"] {
        let (lock, count) = (Rc::clone(&lock), Rc::clone(&count));
        drop(sim.spawn(name, async move {
            for _ in 0..3 {
                let seen = count.get();
                lock.take().await;
                count.set(seen + 1);
                lock.give_back();
                yield_now().await;
            }
        }));
    }
    sim.run()?;
    assert_eq!(count.get(), 6, "an update was lost");
    Ok(())
}
