//! Signals reach the node that they are sent to, and processes there are none.

use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use std::time::Duration;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

#[test]
fn only_the_node_that_is_interrupted_goes_on() {
    let sim = Sim::new(1);
    let nodes = [sim.node("n1"), sim.node("n2")];
    let tasks =
        nodes.each_ref().map(|node| node.spawn("server", async { ctrl_c().await.unwrap() }));
    let node = nodes[0].clone();
    sim.after(Duration::from_secs(1), move || node.ctrl_c());
    sim.run_for(Duration::from_secs(2)).unwrap();
    assert_eq!(tasks.map(|task| task.is_finished()), [true, false]);
    assert!(nodes[0].is_up());
}

#[test]
fn every_listener_hears_every_signal_and_several_at_once_are_one() {
    let sim = Sim::new(1);
    let node = sim.node("n1");
    let listen = || {
        node.spawn("listener", async {
            let mut hangups = signal(SignalKind::hangup()).unwrap();
            tokio::time::sleep(Duration::from_secs(2)).await;
            hangups.recv().await.unwrap();
            let more = tokio::time::timeout(Duration::from_secs(10), hangups.recv()).await;
            (more.is_err(), hangups.recv().await)
        })
    };
    let listeners = [listen(), listen()];
    for second in [1, 1, 20] {
        let node = node.clone();
        sim.after(Duration::from_secs(second), move || node.signal(1));
    }
    for listener in listeners {
        assert_eq!(sim.block_on(listener).unwrap().unwrap(), (true, Some(())));
    }
}

#[test]
fn signals_that_nobody_can_take_are_refused() {
    let sim = Sim::new(1);
    let refused = sim.block_on(async {
        [9, 19, 0, -1].map(|number| signal(SignalKind::from_raw(number)).unwrap_err().to_string())
    });
    assert_eq!(refused.unwrap()[0], "Refusing to register signal 9");
}

#[test]
fn without_io_there_is_no_signal() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let listen = || runtime.block_on(async { signal(SignalKind::hangup()).is_ok() });
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(listen)).unwrap_err();
    let words = detsim_executor::message_of(&*payload);
    assert!(words.starts_with("there is no signal driver running"), "{words}");
}

#[cfg(feature = "process")]
#[test]
fn a_process_is_not_started() {
    use tokio::process::Command;
    let sim = Sim::new(1);
    sim.block_on(async {
        let mut command = Command::new("ls");
        command.arg("-l").env_clear().kill_on_drop(true);
        let errors = [
            command.spawn().unwrap_err(),
            command.status().await.unwrap_err(),
            command.output().await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
            assert!(error.to_string().starts_with("detsim: ls was not started;"), "{error}");
        }
    })
    .unwrap();
}

#[cfg(feature = "process")]
#[test]
#[should_panic(expected = "there is no reactor running")]
fn without_a_runtime_no_process_is_started() {
    drop(tokio::process::Command::new("ls").spawn());
}

#[test]
fn a_signal_that_comes_while_a_listener_begins_to_wait_is_heard() {
    for seed in 0..300 {
        let sim = Sim::new(seed);
        let server = sim.node("n1").spawn("server", async {
            let mut hangups = signal(SignalKind::hangup()).unwrap();
            tokio::spawn(async { assert!(detsim_executor::raise(1)) });
            hangups.recv().await
        });
        assert_eq!(sim.block_on(server).unwrap().unwrap(), Some(()), "seed {seed}");
    }
}
