//! Faults of links, those that a scenario asks for and those that come by themselves: each fires, changes
//! something, and stands in the trace.

use std::time::Duration;

use detsim_executor::event::NetEvent;
use detsim_executor::{Event, SimTime, context};
use detsim_net::{NetFaults, Rule, Socket, Verdict};

use crate::probes::{datagrams, exchange, has};
use crate::tcp::{Pair, accept, connect, echo, listen, read, read_to_end, sleep, text, write};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// What 20 messages and their echoes take, 100 ms apart; how many milliseconds more than without faults.
fn talk(pair: &Pair) -> u64 {
    pair.run(echo(), async {
        sleep(MS).await;
        let begun = context::now();
        let socket = connect_at_last().await;
        for part in text(2_000).chunks(100) {
            write(&socket, part).await.unwrap();
            let mut back = vec![0; part.len()];
            let mut got = 0;
            while got < back.len() {
                got += read(&socket, &mut back[got..]).await.unwrap();
            }
            assert_eq!(back, part);
            sleep(100 * MS).await;
        }
        (context::now() - begun).as_millis() as u64 - 2_000
    })
}

async fn connect_at_last() -> Socket {
    loop {
        match connect().await {
            Ok(socket) => return socket,
            Err(error) => assert_eq!(error.raw_os_error(), Some(110)),
        }
    }
}

/// What a talk costs where these faults are, and whether their event is there, over some seeds.
fn costs(faults: &NetFaults, is_it: fn(NetEvent) -> bool) -> Vec<(u64, bool)> {
    let of_seed = |seed| {
        let pair = Pair::new(seed);
        pair.net.set_faults(faults);
        (talk(&pair), has(&pair, is_it))
    };
    (0..30).map(of_seed).collect()
}

/// The fault fires, and what it fires in takes longer than anything without it.
fn fires_and_costs(faults: &NetFaults, is_it: fn(NetEvent) -> bool) {
    let costs = costs(faults, is_it);
    let dear = costs.iter().filter(|(ms, fired)| *fired && *ms > 80).count();
    assert!(dear > 5, "{costs:?}");
    assert!(costs.iter().all(|(ms, fired)| *fired || *ms <= 80), "{costs:?}");
}

fn is_cut(event: NetEvent) -> bool {
    matches!(event, NetEvent::Partitioned { .. } | NetEvent::Slowed { .. })
}

#[test]
fn partitions_come_by_themselves() {
    let faults = NetFaults { partition_gap: Some(SECOND), ..NetFaults::default() };
    fires_and_costs(&faults, is_cut);
}

#[test]
fn a_jam_holds_one_way_and_lets_go() {
    let faults = NetFaults { jam_gap: Some(SECOND), ..NetFaults::default() };
    fires_and_costs(&faults, is_cut);
    let held = costs(&faults, |event| matches!(event, NetEvent::Held { .. }));
    assert!(held.iter().any(|(_, fired)| *fired));
    let healed = costs(&faults, |event| matches!(event, NetEvent::Healed { .. }));
    assert!(healed.iter().any(|(_, fired)| *fired));
}

#[test]
fn a_swizzle_silences_nodes_for_a_while() {
    let faults = NetFaults { swizzle_gap: Some(SECOND), ..NetFaults::default() };
    fires_and_costs(&faults, |event| matches!(event, NetEvent::Partitioned { holds: true, .. }));
}

#[test]
fn links_slow_down_by_themselves() {
    let faults = NetFaults { slow_gap: Some(SECOND), ..NetFaults::default() };
    fires_and_costs(&faults, |event| matches!(event, NetEvent::Slowed { .. }));
}

#[test]
fn the_tail_of_the_latency_is_long() {
    let faults = NetFaults { tail_rate: 0.05, ..NetFaults::default() };
    let costs = costs(&faults, |event| matches!(event, NetEvent::Lagged { .. }));
    assert!(costs.iter().any(|(ms, fired)| *fired && *ms > 80), "{costs:?}");
}

#[test]
fn a_slow_link_is_slow_until_its_guard_is_dropped() {
    let pair = Pair::new(1);
    let slow = pair.net.slow(pair.client, pair.server, 50);
    assert!(exchange(&pair).unwrap() > 50);
    assert!(has(&pair, |event| matches!(event, NetEvent::Slowed { factor: 50, .. })));
    let pair = Pair::new(1);
    drop(pair.net.slow(pair.client, pair.server, 50));
    assert!(exchange(&pair).unwrap() < 50);
    drop(slow);
}

/// How many milliseconds 100,000 bytes take from the client to the server.
fn upload(pair: &Pair) -> u64 {
    let server = pair.sim.node("server").spawn("server", async {
        let listener = listen();
        let socket = accept(&listener).await;
        assert_eq!(read_to_end(&socket).await.unwrap().len(), 100_000);
    });
    pair.run(async {}, async move {
        sleep(MS).await;
        let socket = connect().await.unwrap();
        write(&socket, &text(100_000)).await.unwrap();
        socket.shutdown().unwrap();
        server.await.unwrap();
    });
    pair.sim.now().as_millis()
}

#[test]
fn a_narrow_link_takes_a_second_for_what_it_carries_in_one() {
    assert!(upload(&Pair::new(1)) < 50);
    let pair = Pair::new(1);
    pair.net.set_bandwidth(Some(100_000));
    assert!((1_000..1_100).contains(&upload(&pair)));
    let pair = Pair::new(1);
    pair.net.link(pair.server, pair.client).set_bandwidth(Some(100_000));
    assert!(upload(&pair) < 50, "the other way is as wide as ever");
    let pair = Pair::new(1);
    pair.net.link(pair.client, pair.server).set_bandwidth(Some(100_000));
    assert!((1_000..1_100).contains(&upload(&pair)));
}

#[test]
fn one_link_has_settings_of_its_own() {
    let pair = Pair::new(1);
    let link = pair.net.link(pair.client, pair.server);
    link.set_delay_range(20 * MS, 20 * MS);
    link.set_tail_rate(0.0);
    link.set_duplicate_rate(1.0);
    assert!(exchange(&pair).unwrap() > 20);
    let pair = Pair::new(1);
    pair.net.link(pair.server, pair.client).set_drop_rate(1.0);
    assert_eq!(exchange(&pair), Err(110), "no SYN is ever answered");
}

#[test]
fn a_rule_that_doubles_doubles() {
    let pair = Pair::new(1);
    let rule = Rule::new(Verdict::Duplicate).to(pair.server).times(40);
    let _guard = pair.net.add_rule(rule);
    assert_eq!(datagrams(&pair).0, 240);
    assert!(has(&pair, |event| matches!(event, NetEvent::Duplicated { .. })));
}

#[test]
fn reads_and_writes_are_short_as_often_as_the_seed_has_it() {
    let shorts = |seed, rate: Option<f64>| {
        let pair = Pair::new(seed);
        pair.net.set_faults(&NetFaults { short_rate: rate, ..NetFaults::default() });
        exchange(&pair).unwrap();
        let trace = pair.sim.trace();
        let is_short = |event| matches!(event, Event::Net(NetEvent::Shortened { .. }));
        trace.moments.iter().filter(|moment| is_short(moment.event)).count()
    };
    let seeded: Vec<usize> = (0..40).map(|seed| shorts(seed, None)).collect();
    let few = seeded.iter().filter(|shorts| **shorts < 2).count();
    let many = seeded.iter().filter(|shorts| **shorts > 6).count();
    assert!(few > 5 && many > 5, "{seeded:?}");
    assert_eq!(shorts(3, None), seeded[3]);
    assert!((0..40).all(|seed| shorts(seed, Some(0.5)) > 6));
    assert_eq!(shorts(1, Some(0.0)), 0);
}

#[test]
fn faults_are_drawn_from_the_seed_and_an_exchange_survives_them() {
    let outcome = |seed| {
        let pair = Pair::new(seed);
        let faults = pair.net.draw_faults();
        let outcome = exchange(&pair);
        let trace = pair.sim.trace().to_string();
        (faults, outcome, trace)
    };
    let outcomes: Vec<_> = (0..100).map(outcome).collect();
    for (faults, outcome, _) in &outcomes {
        // A connect that no SYN gets through for is given up.
        let may_fail = faults.reset_rate > 0.0 || *outcome == Err(110);
        assert!(outcome.is_ok() || may_fail, "{faults:?}: {outcome:?}");
    }
    assert!(outcomes.iter().any(|(_, outcome, _)| outcome.is_err()));
    assert_eq!(outcome(17), outcomes[17]);
}

#[test]
fn faults_that_are_taken_back_are_gone() {
    let pair = Pair::new(1);
    let all = Some(MS);
    let faults = NetFaults { partition_gap: all, swizzle_gap: all, ..NetFaults::default() };
    pair.net.set_faults(&faults);
    pair.net.set_faults(&NetFaults::default());
    assert!(exchange(&pair).unwrap() < 50);
}

#[test]
fn weather_moves_no_clock_and_hides_no_deadlock() {
    let pair = Pair::new(1);
    let faults = NetFaults { partition_gap: Some(MS), jam_gap: Some(MS), ..NetFaults::default() };
    pair.net.set_faults(&faults);
    pair.sim.run_for(3_600 * SECOND).unwrap();
    assert_eq!(pair.sim.now(), SimTime::from_secs(3_600));
    let moments = pair.sim.trace().moments.len();
    assert!(moments < 10, "{moments} events of an hour without traffic");
    drop(pair.sim.node("server").spawn("server", async {
        let listener = listen();
        drop(accept(&listener).await);
    }));
    let failure = pair.sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "deadlock", "{failure}");
}

#[test]
fn a_burst_comes_when_a_jam_ends() {
    let pair = Pair::new(1);
    pair.net.set_faults(&NetFaults { jam_gap: Some(50 * MS), ..NetFaults::default() });
    let (got, _) = datagrams(&pair);
    assert_eq!(got, 200, "nothing is lost in a jam");
    let trace = pair.sim.trace();
    let is = |wanted: fn(&NetEvent) -> bool| {
        trace.moments.iter().filter(move |moment| match &moment.event {
            Event::Net(event) => wanted(event),
            _ => false,
        })
    };
    let held = is(|event| matches!(event, NetEvent::Held { .. })).count();
    assert!(held > 0);
}

#[test]
fn an_echo_is_the_same_under_every_weather() {
    for seed in 0..50 {
        let pair = Pair::new(seed);
        pair.net.draw_faults();
        pair.net.set_reset_rate(0.0);
        let back = pair.run(echo(), async {
            sleep(MS).await;
            let socket = connect_at_last().await;
            write(&socket, &text(2_000)).await.unwrap();
            socket.shutdown().unwrap();
            read_to_end(&socket).await.unwrap()
        });
        assert_eq!(back, text(2_000), "seed {seed}");
    }
}
