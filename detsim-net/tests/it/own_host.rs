//! What a host says to itself, and to addresses that nobody has.

use std::future::poll_fn;
use std::time::Duration;

use detsim_executor::OpKind;
use detsim_executor::event::{DropReason, NetEvent};
use detsim_net::{How, NetFaults, Socket, Sockets};

use crate::probes::{has, udp};
use crate::tcp::{Pair, accept, connect, listen, read_to_end, sleep, text, write};

const MS: Duration = Duration::from_millis(1);

/// A connection of a host to itself, at its own address or at loopback.
async fn connect_at(ip: &str) -> Socket {
    let socket = Sockets::current().unwrap().tcp(false);
    socket.connect(format!("{ip}:80").parse().unwrap()).unwrap();
    poll_fn(|cx| socket.poll_connected(cx, How::poller(OpKind::Connect))).await.unwrap();
    socket
}

/// Whether nothing but packets and the cut of others stands in the trace.
fn is_unharmed(pair: &Pair) -> bool {
    !has(pair, |event| {
        matches!(
            event,
            NetEvent::Dropped { .. }
                | NetEvent::Reset { .. }
                | NetEvent::Lagged { .. }
                | NetEvent::Shortened { .. }
                | NetEvent::Duplicated { .. }
        )
    })
}

#[test]
fn no_fault_and_no_partition_touches_what_a_host_says_to_itself() {
    for ip in ["127.0.0.1", "10.0.0.1"] {
        let pair = Pair::new(1);
        let net = pair.net.clone();
        net.set_faults(&NetFaults {
            drop_rate: 1.0,
            reset_rate: 1.0,
            tail_rate: 1.0,
            duplicate_rate: 1.0,
            short_rate: Some(1.0),
            partition_gap: Some(MS),
            swizzle_gap: Some(MS),
            ..NetFaults::default()
        });
        let got = pair.run(async {}, async move {
            let _cut = net.isolate(detsim_executor::NodeId(1));
            sleep(100 * MS).await;
            let listener = listen();
            let socket = connect_at(ip).await;
            let peer = accept(&listener).await;
            write(&socket, &text(4_000)).await.unwrap();
            socket.shutdown().unwrap();
            read_to_end(&peer).await.unwrap()
        });
        assert_eq!(got, text(4_000), "{ip}");
        assert!(is_unharmed(&pair), "{ip}");
        assert!(pair.sim.now().as_millis() < 110, "{ip}: {:?}", pair.sim.now());
    }
}

#[test]
fn the_same_faults_keep_others_out() {
    let pair = Pair::new(1);
    pair.net.set_drop_rate(1.0);
    let errno = pair.run(async { drop(listen()) }, async { connect().await.unwrap_err() });
    assert_eq!(errno.raw_os_error(), Some(110));
    assert!(has(&pair, |event| matches!(event, NetEvent::Dropped { .. })));
}

#[test]
fn a_datagram_to_nobody_is_sent_and_gone() {
    let pair = Pair::new(1);
    let sent = pair.run(async {}, async {
        let socket = udp("0.0.0.0:0".parse().unwrap());
        let sent = socket.try_send(Some("10.9.9.9:53".parse().unwrap()), &[7; 2_000]);
        sleep(5_000 * MS).await;
        (sent.unwrap(), socket.try_receive(&mut [0; 8], false).unwrap_err().kind())
    });
    assert_eq!(sent, (2_000, std::io::ErrorKind::WouldBlock));
}

#[test]
fn a_datagram_to_a_host_without_power_is_lost_there() {
    let pair = Pair::new(1);
    let server = pair.sim.node("server");
    let receiver = server.spawn("receiver", async {
        let _socket = udp("10.0.0.2:53".parse().unwrap());
        std::future::pending::<()>().await;
    });
    drop(receiver);
    pair.sim.after(10 * MS, move || server.crash());
    let sent = pair.run(async {}, async {
        sleep(20 * MS).await;
        let socket = udp("0.0.0.0:0".parse().unwrap());
        let to = "10.0.0.2:53".parse().unwrap();
        socket.set_peer(to).unwrap();
        socket.try_send(None, b"hello").unwrap();
        sleep(1_000 * MS).await;
        // A host that is up would have refused by now.
        socket.try_send(None, b"hello").unwrap()
    });
    assert_eq!(sent, 5);
    let lost = |event| matches!(event, NetEvent::Dropped { why: DropReason::NoReceiver, .. });
    assert!(has(&pair, lost));
}
