//! Every fault of sockets fires, changes something, and stands in the trace.

use std::cell::RefCell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use detsim_executor::event::{DropReason, NetEvent};
use detsim_executor::{Event, OpKind, context};
use detsim_net::{How, NetFaults, Rule, Socket, Sockets, Verdict};

use expect_test::expect;

use crate::tcp::{Pair, accept, connect, echo, listen, read, read_to_end, sleep, text, write};

const MS: Duration = Duration::from_millis(1);

pub(crate) fn has(pair: &Pair, wanted: impl Fn(NetEvent) -> bool) -> bool {
    let trace = pair.sim.trace();
    trace.moments.iter().any(|moment| matches!(moment.event, Event::Net(event) if wanted(event)))
}

/// What an echo of some bytes takes, in milliseconds, or its errno.
pub(crate) fn exchange(pair: &Pair) -> Result<u64, i32> {
    pair.run(echo(), async {
        let begun = context::now();
        let exchanged = async {
            let socket = connect().await?;
            for part in text(4_000).chunks(500) {
                write(&socket, part).await?;
                sleep(MS).await;
            }
            socket.shutdown()?;
            read_to_end(&socket).await
        };
        match exchanged.await {
            Ok(all) if all == text(4_000) => Ok((context::now() - begun).as_millis() as u64),
            Ok(all) => panic!("{} bytes came back", all.len()),
            Err(error) => Err(error.raw_os_error().unwrap()),
        }
    })
}

#[test]
fn without_faults_an_exchange_is_quick() {
    assert!(exchange(&Pair::new(1)).unwrap() < 50);
}

#[test]
fn a_rule_that_drops_costs_a_retransmission() {
    let pair = Pair::new(1);
    let rule = Rule::new(Verdict::Drop).from(pair.client).to(pair.server).skip(3).times(1);
    let _guard = pair.net.add_rule(rule);
    assert!((200..300).contains(&exchange(&pair).unwrap()));
    let by_rule = |event| matches!(event, NetEvent::Dropped { why: DropReason::Rule, .. });
    assert!(has(&pair, by_rule));
}

#[test]
fn a_rule_that_delays_costs_that_much() {
    let pair = Pair::new(1);
    let rule = Rule::new(Verdict::Delay(500 * MS)).to(pair.server).skip(2).times(1);
    let _guard = pair.net.add_rule(rule);
    assert!((500..600).contains(&exchange(&pair).unwrap()));
    assert!(has(&pair, |event| matches!(event, NetEvent::Lagged { .. })));
}

#[test]
fn a_rule_ends_with_its_guard() {
    let pair = Pair::new(1);
    drop(pair.net.add_rule(Rule::new(Verdict::Drop)));
    assert!(exchange(&pair).unwrap() < 50);
}

#[test]
fn a_cut_ends_with_its_guard() {
    let pair = Pair::new(1);
    drop(pair.net.isolate(pair.server));
    assert!(exchange(&pair).unwrap() < 50);
    assert!(has(&pair, |event| matches!(event, NetEvent::Healed { .. })));
    let pair = Pair::new(1);
    let _cut = pair.net.cut(pair.client, pair.server);
    assert_eq!(exchange(&pair), Err(110));
}

#[test]
fn random_resets_reset() {
    let outcomes: Vec<_> = (0..40)
        .map(|seed| {
            let pair = Pair::new(seed);
            pair.net.set_reset_rate(0.05);
            let outcome = exchange(&pair);
            let fired = has(&pair, |event| matches!(event, NetEvent::Reset { .. }));
            assert!(fired || outcome.is_ok(), "seed {seed}: {outcome:?}");
            outcome
        })
        .collect();
    assert!(outcomes.contains(&Err(104)), "{outcomes:?}");
    assert!(outcomes.iter().any(Result::is_ok), "{outcomes:?}");
}

/// How many of 200 datagrams arrive at the server, and how many of them out of order.
pub(crate) fn datagrams(pair: &Pair) -> (usize, usize) {
    let server: SocketAddr = "10.0.0.2:53".parse().unwrap();
    let receives = async move {
        let socket = udp(server);
        std::future::pending::<()>().await;
        drop(socket);
    };
    let receiver = pair.sim.node("server").spawn("receiver", async move {
        sleep(MS).await;
        let socket = udp("10.0.0.2:54".parse().unwrap());
        let (mut got, mut last, mut swapped) = (0, 0, 0);
        loop {
            let mut buf = [0; 4];
            let receives =
                poll_fn(|cx| socket.poll_receive(cx, How::poller(OpKind::Recv), &mut buf, false));
            receives.await.unwrap();
            let number = u32::from_le_bytes(buf);
            if number == u32::MAX {
                return (got, swapped);
            }
            got += 1;
            swapped += usize::from(number < last);
            last = number;
        }
    });
    pair.run(receives, async move {
        sleep(2 * MS).await;
        let socket = udp("0.0.0.0:0".parse().unwrap());
        let to = Some("10.0.0.2:54".parse().unwrap());
        for number in 0..200_u32 {
            socket.try_send(to, &number.to_le_bytes()).unwrap();
        }
        // Until one of the last ones makes it.
        for _ in 0..50 {
            sleep(5 * MS).await;
            socket.try_send(to, &u32::MAX.to_le_bytes()).unwrap();
        }
        receiver.await.unwrap()
    })
}

pub(crate) fn udp(address: SocketAddr) -> Socket {
    let socket = Sockets::current().unwrap().udp(false);
    socket.bind(address).unwrap();
    socket
}

#[test]
fn datagrams_overtake_each_other_and_none_is_lost() {
    let (got, swapped) = datagrams(&Pair::new(1));
    assert_eq!(got, 200);
    assert!(swapped > 10, "{swapped}");
}

#[test]
fn datagrams_are_lost_and_doubled_at_their_rates() {
    let pair = Pair::new(1);
    pair.net.set_drop_rate(0.2);
    let (lost, _) = datagrams(&pair);
    assert!((80..180).contains(&lost), "{lost}");
    let pair = Pair::new(1);
    pair.net.set_duplicate_rate(0.5);
    let (doubled, _) = datagrams(&pair);
    assert!((250..350).contains(&doubled), "{doubled}");
}

#[test]
fn the_trace_says_what_each_message_is() {
    let pair = Pair::new(1);
    let rule = Rule::new(Verdict::Drop).from(pair.client).to(pair.server).skip(2).times(1);
    let _guard = pair.net.add_rule(rule);
    pair.run(echo(), async {
        let socket = connect().await.unwrap();
        write(&socket, b"hello").await.unwrap();
        socket.shutdown().unwrap();
        read_to_end(&socket).await.unwrap();
    });
    let trace = pair.sim.trace();
    let packets = trace.moments.iter().filter_map(|moment| match moment.event {
        Event::Net(NetEvent::Packet { source, seq, bytes, kind, .. }) => {
            Some(format!("{} {}, {bytes} from {seq}\n", trace.tables.text(source), kind.word()))
        }
        _ => None,
    });
    expect![[r#"
        10.0.0.1:32768 SYN, 0 from 0
        10.0.0.2:80 SYN+ACK, 0 from 0
        10.0.0.1:32768 ACK, 0 from 1
        10.0.0.1:32768 data, 5 from 1
        10.0.0.1:32768 FIN, 0 from 6
        10.0.0.1:32768 data, 5 from 1
        10.0.0.2:80 data, 5 from 1
        10.0.0.2:80 FIN, 0 from 6
    "#]]
    .assert_eq(&packets.collect::<String>());
}

#[test]
fn a_rule_that_lets_pass_shields_from_those_behind_it() {
    let drops = |passes: bool| {
        let pair = Pair::new(1);
        let pass = Rule::new(Verdict::Pass).to(pair.server);
        let _shield = passes.then(|| pair.net.add_rule(pass));
        let _guard = pair.net.add_rule(Rule::new(Verdict::Drop).to(pair.server));
        let by_rule = |event| matches!(event, NetEvent::Dropped { why: DropReason::Rule, .. });
        (exchange(&pair).is_err(), has(&pair, by_rule))
    };
    assert_eq!((drops(true), drops(false)), ((false, false), (true, true)));
}

/// A receiver that sleeps while `sizes` are sent to it, and then takes everything, 100 bytes at a time: how
/// long what it took was.
fn received_late(pair: &Pair, sizes: Vec<usize>) -> Vec<usize> {
    let receiver = pair.sim.node("server").spawn("receiver", async {
        let socket = udp("10.0.0.2:54".parse().unwrap());
        sleep(50 * MS).await;
        let mut taken = Vec::new();
        while let Ok((len, _)) = socket.try_receive(&mut [0; 100], false) {
            taken.push(len);
        }
        taken
    });
    pair.run(async {}, async move {
        sleep(2 * MS).await;
        let socket = udp("0.0.0.0:0".parse().unwrap());
        for size in sizes {
            socket.try_send(Some("10.0.0.2:54".parse().unwrap()), &vec![7; size]).unwrap();
            sleep(2 * MS).await;
        }
        receiver.await.unwrap()
    })
}

#[test]
fn a_queue_that_is_full_loses_the_newest() {
    let pair = Pair::new(1);
    let taken = received_late(&pair, vec![60_000; 8]);
    let overflows = |event| matches!(event, NetEvent::Dropped { why: DropReason::Overflow, .. });
    assert!(has(&pair, overflows));
    assert_eq!(taken, [100; 3], "212,992 bytes are room for three");
}

#[test]
fn a_small_queue_loses_what_a_usual_one_keeps() {
    let with = |queue_bytes| {
        let pair = Pair::new(1);
        pair.net.set_faults(&NetFaults { queue_bytes, ..NetFaults::default() });
        let taken = received_late(&pair, (1..=20).collect());
        let overflows =
            |event| matches!(event, NetEvent::Dropped { why: DropReason::Overflow, .. });
        (taken, has(&pair, overflows))
    };
    let all: Vec<usize> = (1..=20).collect();
    assert_eq!(with(None), (all.clone(), false));
    assert_eq!(with(Some(4_608)), (all[..5].to_vec(), true), "the newest are lost");
    assert_eq!(with(Some(1)), (vec![1], true), "one always fits");
}

#[test]
fn what_is_longer_than_the_buffer_is_cut() {
    assert_eq!(received_late(&Pair::new(1), vec![100, 101, 0, 99]), [100, 100, 0, 99]);
}

#[test]
fn who_is_isolated_hears_nobody_and_is_heard_by_nobody() {
    for cut_first in [true, false] {
        let pair = Pair::new(1);
        let isolated = if cut_first { pair.client } else { pair.server };
        let _cut = pair.net.isolate(isolated);
        assert_eq!(exchange(&pair), Err(110));
        let cut = |event| matches!(event, NetEvent::Partitioned { .. });
        let lost = |event| matches!(event, NetEvent::Dropped { why: DropReason::Partition, .. });
        assert!(has(&pair, cut) && has(&pair, lost));
    }
}

#[test]
fn what_a_connection_that_is_reset_has_given_is_a_beginning_of_the_stream() {
    let mut cut = 0;
    for seed in 0..60 {
        let pair = Pair::new(seed);
        pair.net.set_delay_range(50 * MS, 100 * MS);
        pair.net.set_reset_rate(0.02);
        let got = Rc::new(RefCell::new(Vec::new()));
        let into = Rc::clone(&got);
        let receives = async move {
            let socket = accept(&listen()).await;
            // Meanwhile it is reset, and more comes.
            sleep(3_000 * MS).await;
            let mut buf = [0; 64];
            while let Ok(bytes @ 1..) = read(&socket, &mut buf).await {
                into.borrow_mut().extend_from_slice(&buf[..bytes]);
            }
        };
        pair.run(receives, async {
            sleep(MS).await;
            let socket = connect().await.unwrap();
            for part in text(800).chunks(8) {
                if write(&socket, part).await.is_err() {
                    break;
                }
                sleep(20 * MS).await;
            }
            sleep(5_000 * MS).await;
        });
        let got = got.borrow();
        assert!(text(800).starts_with(&got), "seed {seed}: {got:?}");
        cut += usize::from(has(&pair, |event| matches!(event, NetEvent::Reset { .. })));
    }
    assert!((10..60).contains(&cut), "{cut}");
}
