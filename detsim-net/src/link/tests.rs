//! Tests of the module above.

use super::*;

fn config() -> LinkConfig {
    LinkConfig { latency_ns_min: 10, latency_ns_max: 19, ..LinkConfig::default() }
}

fn link(config: LinkConfig) -> (Link, Choices) {
    let mut choices = Choices::default();
    (Link::new("net/n1/n2", config, &mut choices), choices)
}

fn launches(config: LinkConfig, n: usize) -> Vec<Launch> {
    let (mut link, mut choices) = link(config);
    (0..n).map(|_| link.launch(SimTime::ZERO, Load::UNSIZED, &mut choices)).collect()
}

fn latencies(launches: &[Launch]) -> Vec<u64> {
    launches.iter().map(|launch| launch.at.as_nanos()).collect()
}

fn count(launches: &[Launch], is_it: fn(Fate) -> bool) -> usize {
    launches.iter().filter(|launch| is_it(launch.fate)).count()
}

#[test]
fn latencies_are_even_over_the_range_and_reach_both_ends() {
    let latencies = latencies(&launches(config(), 10_000));
    for latency in 10..=19 {
        let share = latencies.iter().filter(|l| **l == latency).count();
        assert!((850..1_150).contains(&share), "{latency} ns: {share} of 10000");
    }
    assert!(latencies.iter().all(|latency| (10..=19).contains(latency)));
}

#[test]
fn a_fixed_latency_draws_nothing() {
    let (mut link, mut choices) = link(LinkConfig { latency_ns_max: 10, ..config() });
    let mut untouched = Choices::default();
    let domain = untouched.domain("net/n1/n2");
    assert_eq!(
        link.launch(SimTime::from_nanos(5), Load::UNSIZED, &mut choices).at,
        SimTime::from_nanos(15)
    );
    let word = |choices: &mut Choices| choices.draw(domain, Anchor::default(), u64::MAX, 0);
    assert_eq!(word(&mut choices), word(&mut untouched));
}

#[test]
fn the_widest_range_is_a_range() {
    let all = LinkConfig { latency_ns_min: 0, latency_ns_max: u64::MAX, ..config() };
    assert!(latencies(&launches(all, 50)).iter().any(|latency| *latency > 1 << 62));
}

#[test]
fn faults_come_at_their_rates_and_shift_no_latency() {
    let rate = Ratio::new(1, 10);
    let clean = launches(config(), 10_000);
    let faulty = launches(LinkConfig { loss: rate, duplicate: rate, ..config() }, 10_000);
    assert_eq!(count(&clean, |fate| fate != Fate::Carried), 0);
    let lost = count(&faulty, |fate| fate == Fate::Lost);
    let doubled = count(&faulty, |fate| matches!(fate, Fate::Doubled(_)));
    assert!((900..1_100).contains(&lost), "{lost}");
    assert!((800..1_000).contains(&doubled), "{doubled}");
    // Until the first copy, which draws a latency of its own.
    let first = faulty.iter().position(|l| matches!(l.fate, Fate::Doubled(_))).unwrap();
    assert_eq!(latencies(&clean)[..first], latencies(&faulty)[..first]);
}

#[test]
fn losses_at_delivery_are_of_their_own() {
    let (link, mut choices) = link(LinkConfig { loss: Ratio::new(1, 10), ..config() });
    let passage = |ordinal| Passage { ordinal, is_copy: false };
    let lost = (0..10_000).filter(|n| link.loses(passage(*n), &mut choices)).count();
    assert!((900..1_100).contains(&lost), "{lost}");
    let (link, mut choices) = self::link(config());
    assert!((0..100).all(|n| !link.loses(passage(n), &mut choices)));
}

#[test]
fn first_in_first_out_where_it_is_asked_for() {
    let duplicate = Ratio::new(1, 10);
    let any = launches(config(), 1_000);
    assert!(!any.is_sorted_by_key(|launch| launch.at));
    let fifo = launches(LinkConfig { order: Order::Fifo, duplicate, ..config() }, 1_000);
    let mut arrivals = Vec::new();
    for launch in fifo {
        arrivals.push(launch.at);
        if let Fate::Doubled(at) = launch.fate {
            arrivals.push(at);
        }
    }
    assert!(arrivals.len() > 1_050 && arrivals.is_sorted());
}

#[test]
fn a_lost_message_holds_up_no_other() {
    let slow = LinkConfig { order: Order::Fifo, latency_ns_max: 10, ..config() };
    let (mut link, mut choices) = link(slow);
    link.set_cut(Partition::Drop);
    link.launch(SimTime::from_nanos(100), Load::UNSIZED, &mut choices);
    link.heal();
    assert_eq!(link.launch(SimTime::ZERO, Load::UNSIZED, &mut choices).at, SimTime::from_nanos(10));
}

#[test]
fn a_cut_link_loses_or_carries_what_is_to_be_held() {
    let (mut link, mut choices) = link(config());
    let mut fate = |cut| {
        match cut {
            Some(rule) => link.set_cut(rule),
            None => link.heal(),
        }
        link.launch(SimTime::ZERO, Load::UNSIZED, &mut choices).fate
    };
    assert_eq!(fate(Some(Partition::Drop)), Fate::Cut);
    assert_eq!(fate(Some(Partition::Hold)), Fate::Carried);
    assert_eq!(fate(None), Fate::Carried);
}

#[test]
fn defaults_are_the_least_latency_and_no_fault() {
    let (mut link, mut choices) =
        link(LinkConfig { loss: Ratio::ALWAYS, duplicate: Ratio::ALWAYS, ..config() });
    choices.replay(&[]);
    for ordinal in 0..10 {
        let launch = link.launch(SimTime::ZERO, Load::UNSIZED, &mut choices);
        let at = SimTime::from_nanos(10);
        assert_eq!(launch, Launch { ordinal, at, fate: Fate::Carried, lags: false });
        assert!(!link.loses(Passage { ordinal, is_copy: false }, &mut choices));
    }
}

#[test]
fn a_link_of_a_bandwidth_carries_one_message_after_the_other() {
    let config = LinkConfig { latency_ns_max: 10, bandwidth: 1_000, ..config() };
    let (mut link, mut choices) = link(config);
    let mut at = |now, bytes| {
        let load = Load { bytes, slowness: 1 };
        link.launch(SimTime::from_millis(now), load, &mut choices).at.as_nanos() - 10
    };
    assert_eq!([at(0, 100), at(0, 50), at(149, 1)], [100_000_000, 150_000_000, 151_000_000]);
    assert_eq!(at(500, 10), 510_000_000, "an idle link starts at once");
}

#[test]
fn slowness_multiplies_latencies_and_ends_with_a_heal() {
    let (mut link, mut choices) = link(LinkConfig { latency_ns_max: 10, ..config() });
    let mut at = |link: &mut Link, slowness| {
        let load = Load { bytes: 0, slowness };
        link.launch(SimTime::ZERO, load, &mut choices).at.as_nanos()
    };
    link.set_slowness(7);
    assert!(link.is_hurt());
    assert_eq!([at(&mut link, 1), at(&mut link, 3)], [70, 210]);
    link.heal();
    assert_eq!((at(&mut link, 1), link.is_hurt()), (10, false));
}

#[test]
fn the_tail_is_twice_to_a_hundred_times_as_long_and_shifts_no_other_latency() {
    let clean = launches(config(), 10_000);
    let tailed = launches(LinkConfig { tail: Ratio::new(1, 100), ..config() }, 10_000);
    let (mut lagging, mut most) = (0, 0);
    for (clean, tailed) in clean.iter().zip(&tailed) {
        let times = tailed.at.as_nanos() / clean.at.as_nanos();
        assert_eq!((tailed.lags, tailed.at.as_nanos()), (times > 1, times * clean.at.as_nanos()));
        (lagging, most) = (lagging + usize::from(tailed.lags), most.max(times));
    }
    assert!((70..130).contains(&lagging) && (80..=100).contains(&most), "{lagging}, {most}");
}
