//! Tests of the module above.

use super::*;

fn ready(slot: u32) -> Ready {
    Ready { slot, task: u64::from(slot), op: OpKind::Start, object: 0 }
}

const START: Pick = Pick { current: None, is_yield: true };

fn drain(policy: &mut Policy) -> Vec<u32> {
    std::iter::from_fn(|| policy.pick(START)).collect()
}

fn filled(strategy: Strategy, seed: u64) -> Policy {
    let mut policy = Policy::default();
    policy.reset(strategy, Stream::new(seed));
    (0..8).for_each(|slot| policy.ready(slot, || ready(slot)));
    policy
}

#[test]
fn every_strategy_picks_each_task_once() {
    for (name, strategy) in Strategy::ALL {
        let mut policy = filled(strategy, 5);
        assert_eq!(policy.len(), 8, "{name}");
        policy.remove(3);
        let mut picked = drain(&mut policy);
        picked.sort_unstable();
        assert_eq!(picked, [0, 1, 2, 4, 5, 6, 7], "{name}");
        assert_eq!(policy.pick(START), None, "{name}");
    }
}

#[test]
fn fifo_keeps_the_order_and_never_preempts() {
    let mut policy = filled(Strategy::Fifo, 5);
    assert_eq!(policy.preempt_after(), None);
    assert_eq!(policy.default_pick(START), Some(0));
    assert_eq!(drain(&mut policy), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn random_depends_on_the_seed_alone() {
    let order = |seed| drain(&mut filled(Strategy::Random, seed));
    assert_eq!(order(1), order(1));
    let orders: std::collections::BTreeSet<_> = (0..50).map(order).collect();
    assert!(orders.len() > 45, "{} orders of 50 seeds", orders.len());
}

#[test]
fn the_default_is_the_same_for_all_strategies() {
    for (name, strategy) in Strategy::ALL {
        let mut policy = filled(strategy, 1);
        let stopped = Pick { current: Some(5), is_yield: false };
        assert_eq!(policy.default_pick(stopped), Some(0), "{name}");
        policy.remove(0);
        policy.ready(0, || ready(0));
        assert_eq!(policy.default_pick(START), Some(1), "{name}");
    }
}

#[test]
fn names_are_read_back_and_others_refused() {
    for (name, strategy) in Strategy::ALL {
        assert_eq!(name.parse(), Ok(strategy));
        assert_eq!(strategy.to_string(), name);
    }
    let error = "pct".parse::<Strategy>().unwrap_err();
    assert_eq!(error, "\"pct\" is no strategy; there are: random, fifo");
}

#[test]
fn a_scheduler_of_ones_own_fits() {
    let mut policy = Policy::default();
    policy.set_other(Box::new(Fifo::default()));
    policy.ready(2, || ready(2));
    assert_eq!(policy.pick(START), Some(2));
}
