//! Every shape of a partition that the seed draws, and every verb of a scenario, strikes whom it says, and
//! those alone.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::time::Duration;

use detsim_executor::event::{DropReason, NetEvent, SetId};
use detsim_executor::{Event, NodeId, OpKind, Sim, SimConfig, Trace, context, sleep_until};
use detsim_net::{How, Net, NetFaults};

use crate::probes::udp;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const NODES: u16 = 5;

fn node(number: u16) -> NodeId {
    NodeId(number)
}

/// Five nodes that each tell all others something every 20 ms, in a run that is recorded.
fn world(seed: u64) -> (Sim, Net) {
    let mut config = SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(seed, config);
    let nodes: Vec<_> = (1..=NODES).map(|number| sim.node(format!("n{number}"))).collect();
    let net = Net::of(&sim);
    let addresses: Vec<SocketAddr> =
        nodes.iter().map(|node| SocketAddr::new(net.addresses(node.id())[0], 53)).collect();
    for (node, own) in nodes.iter().zip(addresses.clone()) {
        let others: Vec<SocketAddr> = addresses.iter().copied().filter(|a| *a != own).collect();
        drop(node.spawn("tells", async move {
            let socket = udp(own);
            loop {
                let wait = sleep_until(context::now() + 20 * MS);
                others.iter().for_each(|to| drop(socket.try_send(Some(*to), b"!")));
                wait.await;
                while socket.try_receive(&mut [0; 8], false).is_ok() {}
            }
        }));
    }
    (sim, net)
}

/// What is in force between two sets of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Drops,
    Holds,
    Slows,
}

/// How a partition divides the five.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Isolated,
    Halves,
    OneWay,
    Bridge,
}

/// From whom to whom something is in force, from the moment of this number on.
#[derive(Debug)]
struct Begun {
    at: usize,
    from: SetId,
    to: SetId,
    rule: Rule,
}

fn begins(trace: &Trace) -> Vec<Begun> {
    let begins = trace.moments.iter().enumerate().filter_map(|(at, moment)| match moment.event {
        Event::Net(NetEvent::Partitioned { from, to, holds }) => {
            Some(Begun { at, from, to, rule: if holds { Rule::Holds } else { Rule::Drops } })
        }
        Event::Net(NetEvent::Slowed { from, to, .. }) => {
            Some(Begun { at, from, to, rule: Rule::Slows })
        }
        _ => None,
    });
    begins.collect()
}

/// The shape of a partition that begins here; `None` for the second half of one.
fn shape(trace: &Trace, begins: &[Begun], which: usize) -> Option<Shape> {
    let sides = |begun: &Begun| (begun.from, begun.to);
    let turned = |begun: &Begun| (begun.to, begun.from);
    let this = &begins[which];
    let follows = |next: Option<&Begun>, of: &Begun| {
        next.is_some_and(|next| sides(next) == turned(of) && next.at == of.at + 1)
    };
    if which > 0 && follows(Some(this), &begins[which - 1]) {
        return None;
    }
    let sizes = [this.from, this.to].map(|side| trace.tables.set(side).len());
    Some(match (follows(begins.get(which + 1), this), sizes) {
        (false, _) => Shape::OneWay,
        (true, [left, right]) if left + right < usize::from(NODES) => Shape::Bridge,
        (true, [1, _] | [_, 1]) => Shape::Isolated,
        (true, _) => Shape::Halves,
    })
}

/// Whether something became of a message across, before it ended.
fn changes(trace: &Trace, begun: &Begun) -> bool {
    let crosses = |from: &NodeId, to: &NodeId| {
        trace.tables.set(begun.from).contains(from) && trace.tables.set(begun.to).contains(to)
    };
    let of_net = trace.moments[begun.at..].iter().filter_map(|moment| match moment.event {
        Event::Net(event) => Some(event),
        _ => None,
    });
    let is_on = |event: &NetEvent| match event {
        NetEvent::Healed { from, to } => (*from, *to) != (begun.from, begun.to),
        _ => true,
    };
    of_net.take_while(is_on).any(|event| match (begun.rule, event) {
        (Rule::Drops, NetEvent::Dropped { from, to, why: DropReason::Partition, .. })
        | (Rule::Holds, NetEvent::Held { from, to, .. }) => crosses(&from, &to),
        // Usually a packet takes a millisecond at most.
        (Rule::Slows, NetEvent::Sent { from, to, latency_ns, .. }) => {
            latency_ns.get() > 1_000_000 && crosses(&from, &to)
        }
        _ => false,
    })
}

#[test]
fn every_shape_of_a_partition_comes_with_every_rule_and_changes_something() {
    const SEEDS: u64 = 60;
    let (mut fired, mut changed) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..SEEDS {
        let (sim, net) = world(seed);
        net.set_faults(&NetFaults { partition_gap: Some(SECOND / 2), ..NetFaults::default() });
        sim.run_for(10 * SECOND).unwrap();
        let trace = sim.trace();
        let begins = begins(&trace);
        for (which, begun) in begins.iter().enumerate() {
            let Some(shape) = shape(&trace, &begins, which) else { continue };
            fired.insert((shape, begun.rule));
            if changes(&trace, begun) {
                changed.insert((shape, begun.rule));
            }
        }
    }
    let shapes = [Shape::Isolated, Shape::Halves, Shape::OneWay, Shape::Bridge];
    let rules = [Rule::Drops, Rule::Holds, Rule::Slows];
    let all: BTreeSet<_> = shapes.iter().flat_map(|s| rules.map(|rule| (*s, rule))).collect();
    assert_eq!(fired, all, "within {SEEDS} seeds");
    assert_eq!(changed, all, "within {SEEDS} seeds");
}

/// Who heard whom within 100 ms.
fn hears(sim: &Sim) -> BTreeSet<(u16, u16)> {
    let before = sim.trace().moments.len();
    sim.run_for(100 * MS).unwrap();
    let trace = sim.trace();
    let delivered = trace.moments[before..].iter().filter_map(|moment| match moment.event {
        Event::Net(NetEvent::Delivered { from, to, .. }) => Some((from.0, to.0)),
        _ => None,
    });
    delivered.collect()
}

fn all_but(apart: impl Fn(u16, u16) -> bool) -> BTreeSet<(u16, u16)> {
    let pairs = (1..=NODES).flat_map(|from| (1..=NODES).map(move |to| (from, to)));
    pairs.filter(|(from, to)| from != to && !apart(*from, *to)).collect()
}

#[test]
fn a_bridge_hears_both_sides_until_its_guard_is_dropped() {
    let (sim, net) = world(1);
    sim.run_for(10 * MS).unwrap();
    let bridge = net.bridge([node(1), node(2)], node(3), [node(4), node(5)]);
    sim.run_for(5 * MS).unwrap();
    assert_eq!(hears(&sim), all_but(|from, to| (from < 3) != (to < 3) && from != 3 && to != 3));
    drop(bridge);
    assert_eq!(hears(&sim), all_but(|_, _| false));
}

#[test]
#[should_panic(expected = "detsim: node n2 is the bridge between two sides and part of one")]
fn a_bridge_is_of_no_side() {
    let (_sim, net) = world(1);
    drop(net.bridge([node(1), node(2)], node(2), node(3)));
}

#[test]
fn a_jam_holds_everything_and_lets_it_go_in_a_burst_when_its_guard_is_dropped() {
    let (sim, net) = world(1);
    sim.run_for(10 * MS).unwrap();
    let jam = net.jam(node(1), [node(2), node(3)]);
    sim.run_for(5 * MS).unwrap();
    let is_held =
        |from, to| (from == 1 && matches!(to, 2 | 3)) || (to == 1 && matches!(from, 2 | 3));
    assert_eq!(hears(&sim), all_but(is_held));
    let before = sim.trace().moments.len();
    drop(jam);
    sim.run_for(5 * MS).unwrap();
    let trace = sim.trace();
    let burst = trace.moments[before..].iter().filter(|moment| {
        let one_way = |from: NodeId, to: NodeId| (from, to) == (node(1), node(2));
        matches!(moment.event, Event::Net(NetEvent::Delivered { from, to, .. }) if one_way(from, to))
    });
    assert!((5..=6).contains(&burst.count()));
    let lost = |moment: &detsim_executor::event::Moment| {
        matches!(moment.event, Event::Net(NetEvent::Dropped { .. }))
    };
    assert!(!trace.moments.iter().any(lost));
    assert_eq!(hears(&sim), all_but(|_, _| false));
}

#[test]
fn a_swizzle_silences_its_nodes_one_by_one_and_lets_them_back_one_by_one() {
    let silent = |sim: &Sim| -> Vec<u16> {
        let heard = hears(sim);
        (1..=NODES).filter(|own| !heard.iter().any(|(from, _)| from == own)).collect()
    };
    let (mut partly, mut turned) = (0, 0);
    for seed in 0..30 {
        let (sim, net) = world(seed);
        let swizzle = net.swizzle([node(1), node(2)], 4 * SECOND);
        let (mut first_gone, mut first_back) = (None, None);
        for _ in 0..40 {
            match silent(&sim)[..] {
                [one] if first_back.is_none() && first_gone.is_none() => first_gone = Some(one),
                [1, 2] => first_back = Some(0),
                [one] if first_back == Some(0) => first_back = Some(3 - one),
                [] | [1 | 2] => {}
                ref others => panic!("{others:?}"),
            }
        }
        partly += usize::from(first_gone.is_some());
        turned +=
            usize::from(first_back.is_some_and(|back| first_gone.is_some_and(|gone| gone != back)));
        assert_eq!(silent(&sim), [], "all are back in time");
        drop(swizzle);
    }
    assert!(partly > 10 && turned > 3, "{partly} {turned}");
}

#[test]
fn a_swizzle_is_over_when_its_guard_is_dropped() {
    let (sim, net) = world(1);
    let swizzle = net.swizzle([node(1), node(2)], 2 * SECOND);
    sim.run_for(SECOND - MS).unwrap();
    drop(swizzle);
    sim.run_for(5 * MS).unwrap();
    for _ in 0..20 {
        assert_eq!(hears(&sim), all_but(|_, _| false));
    }
}

/// How many bytes a client can write ahead of a server that reads nothing.
fn ahead(faults: &NetFaults) -> usize {
    let pair = crate::tcp::Pair::new(1);
    pair.net.set_faults(faults);
    let server = async {
        let listener = crate::tcp::listen();
        let socket = crate::tcp::accept(&listener).await;
        std::future::pending::<()>().await;
        drop(socket);
    };
    pair.run(server, async {
        sleep_until(context::now() + MS).await;
        let socket = crate::tcp::connect().await.unwrap();
        let mut ahead = 0;
        for _ in 0..2_000 {
            let buffers = [std::io::IoSlice::new(&[7; 1_000])];
            let written = poll_fn(|cx| {
                let polled = socket.poll_write(cx, How::poller(OpKind::Send), &buffers);
                std::task::Poll::Ready(match polled {
                    std::task::Poll::Ready(written) => written.unwrap(),
                    std::task::Poll::Pending => 0,
                })
            });
            ahead += written.await;
            sleep_until(context::now() + MS).await;
        }
        ahead
    })
}

#[test]
fn small_buffers_have_a_writer_wait_for_its_reader() {
    let with = |buffer_bytes| ahead(&NetFaults { buffer_bytes, ..NetFaults::default() });
    assert!((500_000..600_000).contains(&with(None)), "{}", with(None));
    assert!((4_608..=9_216).contains(&with(Some(4_608))), "{}", with(Some(4_608)));
}
