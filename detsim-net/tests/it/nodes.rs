//! Nodes that stop, pause and come back; handlers as a part of them.

use std::cell::RefCell;
use std::rc::Rc;

use detsim_executor::context;
use detsim_executor::event::DropReason;
use detsim_executor::event::NetEvent;

use crate::world::World;

#[test]
fn what_is_due_while_a_node_is_down_is_lost() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    let node = world.sim.node("b");
    world.network.send(a, b, 1);
    node.crash();
    world.run_ms(1);
    assert_eq!(world.network.stats().dropped_no_receiver, 1);
    world.network.send(a, b, 2);
    node.restart();
    world.run_ms(1);
    assert_eq!(world.heard(), [2], "the handler is registered still");
}

#[test]
fn what_a_node_sent_before_it_stopped_arrives() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.send(a, b, 1);
    world.sim.node("a").kill();
    world.run_ms(1);
    assert_eq!(world.heard(), [1]);
}

#[test]
fn the_destructors_of_a_crashed_node_send_nothing() {
    struct LastWords(detsim_net::Network<u32>, [detsim_executor::NodeId; 2]);
    impl Drop for LastWords {
        fn drop(&mut self) {
            self.0.send(self.1[0], self.1[1], 13);
        }
    }
    let world = World::new(1);
    let ends = world.nodes(["a", "b"]);
    let words = LastWords(world.network.clone(), ends);
    let node = world.sim.node("a");
    drop(node.spawn("speaker", async move {
        let _words = words;
        std::future::pending::<()>().await;
    }));
    world.run_ms(1);
    node.crash();
    world.run_ms(5);
    assert_eq!((world.heard(), world.network.stats().dropped_no_sender), (vec![], 1));
    let reason = DropReason::NoSender;
    assert!(world.has(|event| matches!(event, NetEvent::Dropped { why, .. } if *why == reason)));
}

#[test]
fn a_node_without_a_handler_hears_nothing() {
    let world = World::new(1);
    let [a] = world.nodes(["a"]);
    let mute = world.sim.node("mute").id();
    world.network.send(a, mute, 1);
    world.network.send(mute, a, 2);
    world.run_ms(1);
    assert_eq!((world.heard(), world.network.stats().dropped_no_receiver), (vec![2], 1));
}

#[test]
fn a_paused_node_hears_everything_when_it_resumes() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    let node = world.sim.node("b");
    node.pause();
    (1..4).for_each(|what| world.network.send(a, b, what));
    world.network.send(b, a, 4);
    world.run_ms(5);
    assert_eq!(world.heard(), [4]);
    node.resume();
    world.run_ms(0);
    assert_eq!(world.heard(), [1, 2, 3]);
}

#[test]
fn a_node_that_crashes_in_its_pause_hears_nothing() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    let node = world.sim.node("b");
    node.pause();
    world.network.send(a, b, 1);
    world.run_ms(5);
    node.crash();
    node.restart();
    world.run_ms(5);
    assert_eq!((world.heard(), world.network.stats().dropped_no_receiver), (vec![], 1));
}

#[test]
fn handlers_send_register_and_partition() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    let network = world.network.clone();
    let log = Rc::new(RefCell::new(Vec::new()));
    let notes = Rc::clone(&log);
    world.network.register(b, move |from, what| {
        notes.borrow_mut().push(what);
        network.send(b, from, what + 10);
        network.send(b, b, what + 20);
        let (notes, again) = (Rc::clone(&notes), network.clone());
        network.register(b, move |_, what| {
            notes.borrow_mut().push(100 + what);
            again.partition(a, b);
        });
    });
    world.network.send(a, b, 1);
    world.run_ms(2);
    world.network.send(a, b, 2);
    world.run_ms(2);
    assert_eq!((world.heard(), log.take()), (vec![11], vec![1, 121]));
}

#[test]
fn what_a_handler_spawns_is_the_nodes() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.register(b, |_, _| {
        drop(context::spawn("child", std::future::pending::<()>()));
    });
    world.network.send(a, b, 1);
    world.run_ms(1);
    drop(world.sim.spawn("outsider", async {}));
    let spawned = world.sim.trace().to_string();
    assert!(spawned.contains("\"child\" is spawned on b"), "{spawned}");
    assert!(spawned.contains("\"outsider\" is spawned on sim"), "{spawned}");
}

#[test]
fn the_simulation_itself_can_send_and_listen() {
    let world = World::new(1);
    let [a] = world.nodes(["a"]);
    let client = detsim_executor::NodeId::NONE;
    let network = world.network.clone();
    world.network.register(a, move |from, what| network.send(a, from, what + 1));
    let answer = Rc::new(RefCell::new(0));
    let got = Rc::clone(&answer);
    world.network.register(client, move |_, what| *got.borrow_mut() = what);
    world.network.send(client, a, 1);
    world.run_ms(2);
    assert_eq!(answer.take(), 2);
}
