//! A peer that is gone is noticed when Linux would notice it; one that is there costs nothing.

use std::time::Duration;

use detsim_executor::{Sim, context};
use detsim_net::{Net, Number, Partition, Rule, Socket, Verdict};

use crate::tcp::{Pair, accept, connect, listen, read, sleep, write};

const SECOND: Duration = Duration::from_secs(1);

/// Asks after 10 s of silence, then every 3 s, four times.
fn keep_alive(socket: &Socket) {
    socket.set_options(|options| options.keepalive = true).unwrap();
    for (number, value) in
        [(Number::KeepIdle, 10), (Number::KeepInterval, 3), (Number::KeepCount, 4)]
    {
        socket.set_number(number, value).unwrap();
    }
}

fn user_timeout(socket: &Socket, seconds: i32) {
    socket.set_number(Number::UserTimeout, seconds * 1_000).unwrap();
}

/// Accepts one connection and keeps it.
async fn keep() {
    let listener = listen();
    let socket = accept(&listener).await;
    std::future::pending::<()>().await;
    drop(socket);
}

/// How long a read takes to fail after `breaks` did something to the network, in seconds, and its errno.
fn noticed(pair: &Pair, set: fn(&Socket), breaks: impl FnOnce(&Net, &Sim) + 'static) -> (f64, i32) {
    let (net, sim) = (pair.net.clone(), pair.sim.clone());
    pair.run(keep(), async move {
        let socket = connect().await.unwrap();
        set(&socket);
        let heard = context::now();
        sleep(SECOND).await;
        breaks(&net, &sim);
        let error = read(&socket, &mut [0; 1]).await.unwrap_err();
        ((context::now() - heard).as_secs_f64(), error.raw_os_error().unwrap())
    })
}

#[test]
fn a_host_without_power_is_noticed_after_idle_time_and_questions() {
    let (took, errno) = noticed(&Pair::new(1), keep_alive, |_, sim| sim.node("server").crash());
    assert_eq!(errno, 110);
    // 10 s of silence, and four questions of 3 s.
    assert!((22.0..22.01).contains(&took), "{took}");
}

#[test]
fn a_partition_is_noticed_too_and_so_is_one_of_either_way() {
    for way in 0..3 {
        let (took, errno) = noticed(&Pair::new(1), keep_alive, move |net, sim| {
            let (client, server) = (sim.node("client").id(), sim.node("server").id());
            match way {
                0 => net.partition(client, server),
                1 => net.partition_one_way(client, server),
                _ => net.partition_one_way(server, client),
            }
        });
        assert_eq!(errno, 110);
        assert!((22.0..22.01).contains(&took), "{took}");
    }
}

#[test]
fn a_rule_and_a_loss_that_let_no_answer_through_are_met_by_questions() {
    let breaks: [fn(&Net); 2] = [
        |net| std::mem::forget(net.add_rule(Rule::new(Verdict::Drop))),
        |net| net.set_drop_rate(1.0),
    ];
    for breaks in breaks {
        let pair = Pair::new(1);
        // Something else lets time pass: nothing tells the timer beforehand.
        pair.sim.after(60 * SECOND, || ());
        let (took, errno) = noticed(&pair, keep_alive, move |net, _| breaks(net));
        assert_eq!(errno, 110);
        assert!((22.0..22.01).contains(&took), "{took}");
    }
}

#[test]
fn a_host_that_came_back_resets_with_the_first_question() {
    let (took, errno) = noticed(&Pair::new(1), keep_alive, |_, sim| {
        sim.node("server").crash();
        sim.node("server").restart();
    });
    assert_eq!(errno, 104);
    assert!((10.0..10.01).contains(&took), "{took}");
}

#[test]
fn a_partition_that_heals_in_time_does_no_harm() {
    let pair = Pair::new(1);
    let net = pair.net.clone();
    pair.run(
        async {
            let listener = listen();
            let socket = accept(&listener).await;
            sleep(100 * SECOND).await;
            write(&socket, b"x").await.unwrap();
            sleep(SECOND).await;
        },
        async move {
            let socket = connect().await.unwrap();
            keep_alive(&socket);
            let cut = net.isolate(net_client());
            sleep(18 * SECOND).await;
            drop(cut);
            assert_eq!(read(&socket, &mut [0; 1]).await.unwrap(), 1);
            // The question of 19 s completed the handshake, whose last packet had been lost.
            assert_eq!(context::now().as_nanos() / 1_000_000_000, 119);
        },
    );
}

fn net_client() -> detsim_executor::NodeId {
    detsim_executor::NodeId(1)
}

#[test]
fn a_peer_that_is_there_and_idle_keeps_no_run_going_and_costs_no_packet() {
    let pair = Pair::new(1);
    drop(pair.sim.node("server").spawn("server", keep()));
    drop(pair.sim.node("client").spawn("client", async {
        let socket = connect().await.unwrap();
        keep_alive(&socket);
        read(&socket, &mut [0; 1]).await.unwrap();
    }));
    pair.sim.run_for(3_600 * SECOND).unwrap();
    let packets = |trace: &detsim_executor::Trace| {
        trace.moments.iter().filter(|m| matches!(m.event, detsim_executor::Event::Net(_))).count()
    };
    assert_eq!(packets(&pair.sim.trace()), 9, "the handshake alone");
    let failure = pair.sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "deadlock", "{failure}");
    assert_eq!(pair.sim.now().as_nanos() / 1_000_000_000, 3_600);
}

#[test]
fn bytes_that_nobody_acknowledges_are_waited_for_as_long_as_the_user_says() {
    for rule in [Partition::Drop, Partition::Hold] {
        let pair = Pair::new(1);
        pair.net.set_partition_rule(rule);
        let net = pair.net.clone();
        let took = pair.run(keep(), async move {
            let socket = connect().await.unwrap();
            user_timeout(&socket, 30);
            let _cut = net.isolate(net_client());
            let begun = context::now();
            write(&socket, b"hello").await.unwrap();
            assert_eq!(read(&socket, &mut [0; 1]).await.unwrap_err().raw_os_error(), Some(110));
            context::now() - begun
        });
        // As long after the first retransmission, which is after 200 ms.
        assert!((30_199..30_210).contains(&took.as_millis()), "{rule:?}: {took:?}");
    }
}

#[test]
fn a_connect_is_given_up_when_the_user_says() {
    let pair = Pair::new(1);
    let net = pair.net.clone();
    let took = pair.run(keep(), async move {
        let _cut = net.isolate(net_client());
        let socket = detsim_net::Sockets::current().unwrap().tcp(false);
        user_timeout(&socket, 5);
        let begun = context::now();
        socket.connect("10.0.0.2:80".parse().unwrap()).unwrap();
        let connects = std::future::poll_fn(|cx| {
            let how = detsim_net::How::poller(detsim_executor::OpKind::Connect);
            socket.poll_connected(cx, how)
        });
        assert_eq!(connects.await.unwrap_err().raw_os_error(), Some(110));
        context::now() - begun
    });
    assert_eq!(took.as_millis(), 6_000, "5 s after the first retransmission");
}

#[test]
fn an_exchange_that_goes_well_takes_no_notice_of_a_user_timeout() {
    let pair = Pair::new(1);
    pair.run(crate::tcp::echo(), async {
        let socket = connect().await.unwrap();
        user_timeout(&socket, 1);
        for _ in 0..20 {
            write(&socket, b"x").await.unwrap();
            assert_eq!(read(&socket, &mut [0; 1]).await.unwrap(), 1);
            sleep(SECOND / 3).await;
        }
    });
}
