//! A device of one's own: what the network and the disk rely on.

use detsim_executor::{Deadline, Device, DeviceId, NodeId, Sim, SimTime};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

/// Rings at given moments, and notes what it hears.
struct Bells {
    sim: Sim,
    id: Cell<Option<DeviceId>>,
    due: RefCell<BTreeSet<Deadline>>,
    heard: RefCell<Vec<String>>,
}

impl Bells {
    fn new(sim: &Sim) -> Rc<Self> {
        let bells = Rc::new(Self {
            sim: sim.clone(),
            id: Cell::new(None),
            due: RefCell::default(),
            heard: RefCell::default(),
        });
        bells.id.set(Some(sim.add_device(Rc::<Self>::clone(&bells))));
        bells
    }

    fn ring_at(&self, millis: u64) {
        let deadline = Deadline { at: SimTime::from_millis(millis), seq: self.sim.next_seq() };
        self.due.borrow_mut().insert(deadline);
        self.sim.touch(self.id.get().unwrap());
    }

    fn hear(&self, what: &str) {
        self.heard.borrow_mut().push(format!("{what}@{}", self.sim.now().as_millis()));
    }

    fn heard(&self) -> String {
        self.heard.borrow().join(" ")
    }
}

impl Device for Bells {
    fn next_deadline(&self) -> Option<Deadline> {
        self.due.borrow().first().copied()
    }

    fn handle(&self) {
        self.due.borrow_mut().pop_first();
        self.hear("ring");
        if self.sim.now() == SimTime::from_millis(7) {
            self.ring_at(8); // a device may ask for more while it handles
        }
    }

    fn on_crash(&self, node: NodeId) {
        self.hear(&format!("crash {node}"));
    }

    fn on_kill(&self, node: NodeId) {
        self.hear(&format!("kill {node}"));
    }

    fn on_restart(&self, node: NodeId) {
        self.hear(&format!("restart {node}"));
    }
}

#[test]
fn a_device_is_handled_at_its_deadlines() {
    let sim = Sim::new(1);
    let bells = Bells::new(&sim);
    bells.ring_at(7);
    bells.ring_at(3);
    assert_eq!(sim.run().unwrap().steps, 3);
    assert_eq!(bells.heard(), "ring@3 ring@7 ring@8");
}

#[test]
fn equal_instants_of_devices_and_callbacks_go_by_sequence() {
    let sim = Sim::new(1);
    let bells = Bells::new(&sim);
    let note = |text: &'static str| {
        let bells = Rc::clone(&bells);
        move || bells.hear(text)
    };
    sim.at(SimTime::from_millis(5), note("first"));
    bells.ring_at(5);
    sim.at(SimTime::from_millis(5), note("last"));
    sim.run().unwrap();
    assert_eq!(bells.heard(), "first@5 ring@5 last@5");
}

#[test]
fn a_device_hears_of_nodes_before_their_tasks_are_dropped() {
    struct Last(Rc<Bells>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.hear("drop");
        }
    }
    let sim = Sim::new(1);
    let bells = Bells::new(&sim);
    let node = sim.node("n1");
    let last = Last(Rc::clone(&bells));
    drop(node.spawn("t", async move {
        let _last = last;
        std::future::pending::<()>().await;
    }));
    let stopped = node.clone();
    sim.after(Duration::from_millis(1), move || {
        stopped.crash();
        stopped.restart();
        stopped.kill();
    });
    sim.run().unwrap();
    assert_eq!(bells.heard(), "crash n1@1 drop@1 restart n1@1 kill n1@1");
}

/// Rings once, and keeps no run going.
struct Faint {
    at: Cell<Option<Deadline>>,
    rung: Cell<bool>,
}

impl Device for Faint {
    fn next_deadline(&self) -> Option<Deadline> {
        self.at.get()
    }

    fn handle(&self) {
        self.at.set(None);
        self.rung.set(true);
    }

    fn is_faint(&self) -> bool {
        true
    }
}

fn faint(sim: &Sim, millis: u64) -> Rc<Faint> {
    let at = Deadline { at: SimTime::from_millis(millis), seq: sim.next_seq() };
    let device = Rc::new(Faint { at: Cell::new(Some(at)), rung: Cell::new(false) });
    sim.add_device(Rc::<Faint>::clone(&device));
    device
}

#[test]
fn a_faint_device_keeps_no_run_going() {
    let sim = Sim::new(1);
    let device = faint(&sim, 5);
    assert_eq!(sim.run().unwrap().now, SimTime::ZERO);
    drop(sim.spawn("stuck", std::future::pending::<()>()));
    assert_eq!(sim.run().unwrap_err().verdict(), "deadlock");
    assert!(!device.rung.get());
}

#[test]
fn a_faint_device_is_handled_on_the_way_to_anything_else() {
    let sim = Sim::new(1);
    let device = faint(&sim, 5);
    sim.at(SimTime::from_millis(4), || ());
    sim.run().unwrap();
    assert!(!device.rung.get());
    sim.at(SimTime::from_millis(6), || ());
    sim.run().unwrap();
    assert!(device.rung.get());
    let device = faint(&sim, 8);
    sim.run_for(Duration::from_millis(1)).unwrap();
    assert!(!device.rung.get());
    sim.run_for(Duration::from_millis(1)).unwrap();
    assert!(device.rung.get());
}
