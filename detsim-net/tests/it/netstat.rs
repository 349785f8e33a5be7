//! The table of sockets, asked for and in the reports of runs that fail.

use std::future::poll_fn;
use std::time::Duration;

use detsim_executor::{Failure, OpKind, Sim, SimConfig};
use detsim_net::{How, Socket, Sockets};
use expect_test::{Expect, expect};

use crate::probes::udp;
use crate::tcp::{Pair, accept, connect, listen, read, sleep, write};

const MS: Duration = Duration::from_millis(1);

/// The part of a report that is about sockets.
fn table_of(report: &str) -> &str {
    let at = report.find("\nsockets:\n").expect("a report of a run with sockets has their table");
    let table = &report[at + 1..];
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    table
}

fn check(failure: &Failure, expected: &Expect) {
    expected.assert_eq(table_of(&failure.to_string()));
}

#[test]
fn the_table_of_sockets_says_who_waits_for_what() {
    let pair = Pair::new(1);
    let net = pair.net.clone();
    let table = pair.run(
        async {
            let _listener = listen();
            std::future::pending::<()>().await;
        },
        async move {
            let socket = connect().await.unwrap();
            write(&socket, b"unread").await.unwrap();
            let _udp = udp("0.0.0.0:53".parse().unwrap());
            sleep(10 * MS).await;
            net.netstat()
        },
    );
    expect![[r#"
        node   proto local          peer           state       Recv-Q Send-Q task
        client tcp   10.0.0.1:32768 10.0.0.2:80    ESTABLISHED      0      0 1 "client"
        client udp   0.0.0.0:53     *              UNCONN           0      0 of ~et/tests/it/probes.rs:146
        server tcp   0.0.0.0:80     *              LISTEN           1   1024 of ~im-net/tests/it/tcp.rs:55
        server tcp   10.0.0.2:80    10.0.0.1:32768 ESTABLISHED      6      0 not accepted yet
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_read_that_nobody_answers_is_a_deadlock_with_both_ends() {
    let pair = Pair::new(1);
    drop(pair.sim.node("server").spawn("server", async {
        let listener = listen();
        let socket = accept(&listener).await;
        read(&socket, &mut [0; 1]).await.unwrap();
    }));
    drop(pair.sim.node("client").spawn("client", async {
        let socket = connect().await.unwrap();
        write(&socket, b"").await.unwrap();
        read(&socket, &mut [0; 1]).await.unwrap();
    }));
    let failure = pair.sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "deadlock", "{failure}");
    let text = failure.to_string();
    assert!(text.contains("for the TcpStream of detsim-net/tests/it"), "{text}");
    check(
        &failure,
        &expect![[r#"
        sockets:
          node   proto local          peer           state       Recv-Q Send-Q task
          client tcp   10.0.0.1:32768 10.0.0.2:80    ESTABLISHED      0      0 recv: 1 "client"
          server tcp   0.0.0.0:80     *              LISTEN           0   1024 0 "server"
          server tcp   10.0.0.2:80    10.0.0.1:32768 ESTABLISHED      0      0 recv: 0 "server"
    "#]],
    );
}

#[test]
fn each_state_of_a_connection_has_its_name() {
    let pair = Pair::new(1);
    drop(pair.sim.node("server").spawn("half-closed", async {
        let listener = listen();
        let closes = accept(&listener).await;
        closes.shutdown().unwrap();
        let _reset_by_nobody = accept(&listener).await;
        std::future::pending::<()>().await;
    }));
    drop(pair.sim.node("client").spawn("client", async {
        let half = connect().await.unwrap();
        drop(connect().await.unwrap());
        sleep(10 * MS).await;
        read(&half, &mut [0; 1]).await.unwrap();
        panic!("the peer has nothing more to say");
    }));
    drop(pair.sim.node("client").spawn("dials", async {
        let nobody = Sockets::current().unwrap().tcp(false);
        nobody.connect("10.9.9.9:80".parse().unwrap()).unwrap();
        poll_fn(|cx| nobody.poll_connected(cx, How::poller(OpKind::Connect))).await.unwrap();
    }));
    let failure = pair.sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "panic", "{failure}");
    check(
        &failure,
        &expect![[r#"
            sockets:
              node   proto local          peer           state      Recv-Q Send-Q task
              client tcp   10.0.0.1:32768 10.0.0.2:80    LAST_ACK        0      0
              client tcp   10.0.0.1:32769 10.9.9.9:80    SYN_SENT        0      0 connect: 2 "dials"
              client tcp   10.0.0.1:32770 10.0.0.2:80    FIN_WAIT2       0      0
              server tcp   0.0.0.0:80     *              LISTEN          0   1024 0 "half-closed"
              server tcp   10.0.0.2:80    10.0.0.1:32768 FIN_WAIT2       0      0 0 "half-closed"
              server tcp   10.0.0.2:80    10.0.0.1:32770 CLOSE_WAIT      0      0 of ~sim-net/tests/it/tcp.rs:67
        "#]],
    );
}

fn far_socket(number: u16) -> Socket {
    let socket = Sockets::current().unwrap().udp(true);
    socket.bind(format!("[fd00::1]:{}", 50_000 + number).parse().unwrap()).unwrap();
    let peer = format!("[fd00:1234:5678:9abc::1]:{}", 60_000 + number);
    socket.set_peer(peer.parse().unwrap()).unwrap();
    socket
}

/// Of many rows that are alike the first three and the last.
fn few(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = (lines[..5].join("\n"), lines[lines.len() - 2..].join("\n"));
    format!("{first}\n  ({} more lines)\n{last}\n", lines.len() - 7)
}

#[test]
fn a_run_that_reaches_a_limit_shows_its_sockets_and_cuts_what_is_too_long() {
    let mut config = SimConfig::default();
    config.limits.steps = 20;
    let sim = Sim::with_config(1, config);
    let node = sim.node("a-node-with-a-very-long-name");
    let name = "a task whose name is so long that no line of a report has room for it";
    drop(node.spawn(name, async {
        let sockets: Vec<Socket> = (0..42_u16).map(far_socket).collect();
        let receives =
            poll_fn(|cx| sockets[0].poll_receive(cx, How::poller(OpKind::Recv), &mut [0], false));
        receives.await.unwrap();
    }));
    drop(sim.spawn("busy", async {
        loop {
            sleep(MS).await;
        }
    }));
    let failure = sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "limit", "{failure}");
    expect![[r#"
        sockets:
          node         proto local           peer                  state       Recv-Q Send-Q task
          ~y-long-name udp   [fd00::1]:50000 ~:5678:9abc::1]:60000 ESTABLISHED      0      0 recv: 0 "a tas~
          ~y-long-name udp   [fd00::1]:50001 ~:5678:9abc::1]:60001 ESTABLISHED      0      0 of ~stat.rs:123
          ~y-long-name udp   [fd00::1]:50002 ~:5678:9abc::1]:60002 ESTABLISHED      0      0 of ~stat.rs:123
          (36 more lines)
          ~y-long-name udp   [fd00::1]:50039 ~:5678:9abc::1]:60039 ESTABLISHED      0      0 of ~stat.rs:123
          and 2 more
    "#]].assert_eq(&few(table_of(&failure.to_string())));
}

#[test]
fn a_run_without_sockets_has_no_table() {
    let pair = Pair::new(1);
    drop(pair.sim.spawn("stuck", std::future::pending::<()>()));
    let failure = pair.sim.run().unwrap_err();
    assert!(!failure.to_string().contains("sockets:"), "{failure}");
    assert_eq!(pair.net.netstat(), "");
}

#[test]
fn listening_again_changes_the_backlog_up_to_what_the_system_allows() {
    let pair = Pair::new(1);
    let net = pair.net.clone();
    let backlogs = pair.run(async {}, async move {
        let listener = listen();
        [7, 100_000, 12].map(|backlog| {
            listener.listen(backlog).unwrap();
            let table = net.netstat();
            let row = table.lines().find(|line| line.contains("LISTEN")).unwrap();
            row.split_whitespace().nth(6).unwrap().parse::<u32>().unwrap()
        })
    });
    assert_eq!(backlogs, [7, 4_096, 12]);
}
