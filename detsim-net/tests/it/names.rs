//! Each fault of lookups fires, changes something, and stands in the trace.

use std::net::IpAddr;
use std::time::Duration;

use detsim_executor::NodeId;
use detsim_executor::event::{LookupFault, NetEvent};
use detsim_net::{Lookup, Net};

use crate::probes::has;
use crate::tcp::Pair;

#[test]
fn lookups_fail_at_their_rate() {
    let failures = |rate| {
        let pair = Pair::new(1);
        pair.net.set_lookup_failure_rate(rate);
        let failed = pair.run(async {}, async {
            let sockets = detsim_net::Sockets::current().unwrap();
            let lookups = (0..200).map(|_| sockets.lookup("server").unwrap().addresses);
            lookups.filter(|found| *found == Err(detsim_net::LookupError::TryAgain)).count()
        });
        (failed, has(&pair, |event| matches!(event, NetEvent::LookupFailed { .. })))
    };
    assert_eq!(failures(0.0), (0, false));
    let (failed, fired) = failures(0.2);
    assert!(fired && (20..60).contains(&failed), "{failed}");
    assert_eq!(failures(1.0), (200, true));
}

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// What 200 lookups of a name give, and whether the fault stands in the trace.
fn lookups(name: &'static str, fault: LookupFault, set: fn(&Net)) -> (Vec<Lookup>, bool) {
    let pair = Pair::new(1);
    set(&pair.net);
    let found = pair.run(async {}, async move {
        let sockets = detsim_net::Sockets::current().unwrap();
        (0..200).map(|_| sockets.lookup(name).unwrap()).collect::<Vec<_>>()
    });
    let wanted = |event| matches!(event, NetEvent::LookupFaulted { fault: f, .. } if f == fault);
    (found, has(&pair, wanted))
}

#[test]
fn lookups_lag_at_their_rate() {
    let slow = |found: &[Lookup]| found.iter().filter(|l| l.takes.as_millis() > 50).count();
    let (found, fired) = lookups("server", LookupFault::Lagged, |_| ());
    assert_eq!((slow(&found), fired), (0, false));
    let (found, fired) = lookups("server", LookupFault::Lagged, |net| net.set_lookup_lag_rate(0.2));
    assert!(fired && (20..60).contains(&slow(&found)), "{}", slow(&found));
    assert!(found.iter().any(|lookup| lookup.takes > Duration::from_secs(3)));
    assert!(found.iter().all(|lookup| lookup.takes <= Duration::from_secs(8)));
}

#[test]
fn a_name_that_was_changed_is_answered_as_before() {
    let (old, new) = (["10.7.0.1"], ["10.7.0.2"]);
    let (found, fired) = lookups("db.test", LookupFault::Stale, |net| {
        net.set_name("db.test", ips(&["10.7.0.1"]));
        net.set_name("db.test", ips(&["10.7.0.2"]));
        net.set_lookup_stale_rate(0.3);
    });
    let answers = |wanted: &[&str]| {
        let wanted = ips(wanted);
        found.iter().filter(|lookup| lookup.addresses.as_ref() == Ok(&wanted)).count()
    };
    assert!(fired && (30..90).contains(&answers(&old)), "{}", answers(&old));
    assert_eq!(answers(&old) + answers(&new), 200);
}

#[test]
fn a_node_that_moved_is_looked_for_where_it_was() {
    let (found, fired) = lookups("server", LookupFault::Stale, |net| {
        net.set_addresses(NodeId(2), ips(&["10.7.0.2"]));
        net.set_lookup_stale_rate(1.0);
    });
    let before = ips(&["10.0.0.2", "fd00::2"]);
    assert!(fired && found.iter().all(|lookup| lookup.addresses.as_ref() == Ok(&before)));
}

#[test]
fn a_name_that_is_new_was_not_there_before() {
    let (found, fired) = lookups("new.test", LookupFault::Stale, |net| {
        net.set_name("new.test", ips(&["10.7.0.2"]));
        net.set_lookup_stale_rate(1.0);
    });
    let unknown = Err(detsim_net::LookupError::Unknown);
    assert!(fired && found.iter().all(|lookup| lookup.addresses == unknown));
}

#[test]
fn several_addresses_come_in_several_orders() {
    let (found, fired) = lookups("many.test", LookupFault::Reordered, |net| {
        net.set_name("many.test", ips(&["10.7.0.1", "10.7.0.2", "10.7.0.3"]));
        net.set_lookup_reorder_rate(0.5);
    });
    let mut firsts: Vec<IpAddr> =
        found.iter().map(|lookup| lookup.addresses.as_ref().unwrap()[0]).collect();
    firsts.sort();
    firsts.dedup();
    assert!(fired && firsts.len() == 3, "{firsts:?}");
    assert!(found.iter().all(|lookup| lookup.addresses.as_ref().unwrap().len() == 3));
}
