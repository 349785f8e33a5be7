//! Traces to test with: a short story with one of everything, and a long one.
//!
//! Owns: a builder of traces by hand, so that golden texts do not move with the source. Test code.

use detsim_executor::rng::Stream;
use detsim_executor::{Anchor, Choice, NodeId, OpKind, ResourceKind, SimTime, TaskNumber, Trace};

use super::*;

/// Grows a trace.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub(super) trace: Trace,
    at_ns: u64,
    step: u32,
}

pub(super) const A: NodeId = NodeId(1);
pub(super) const B: NodeId = NodeId(2);

impl Story {
    pub(super) fn new() -> Self {
        let mut story = Self::default();
        for name in ["", "sim", "a", "b"] {
            story.text(name);
        }
        story.trace.tables.nodes = vec![TextId(1), TextId(2), TextId(3)];
        story
    }

    pub(super) fn text(&mut self, text: &str) -> TextId {
        let texts = &mut self.trace.tables.texts;
        let place = texts.iter().position(|known| known == text).unwrap_or_else(|| {
            texts.push(text.to_owned());
            texts.len() - 1
        });
        TextId(place as u32)
    }

    pub(super) fn object(&mut self, kind: ResourceKind, site: &str) -> ObjectId {
        let site = self.text(site);
        let objects = &mut self.trace.tables.objects;
        objects.push(ObjectInfo { kind, site, sig: 70 + objects.len() as u64 });
        ObjectId(objects.len() as u32 - 1)
    }

    pub(super) fn push(&mut self, event: Event) {
        let at = SimTime::from_nanos(self.at_ns);
        self.trace.moments.push(Moment { at, step: self.step, event });
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, ns: u64) {
        self.at_ns += ns;
    }

    pub(super) fn spawn(&mut self, name: &str, node: NodeId, site: &str) -> TaskNumber {
        let (name, site) = (self.text(name), self.text(site));
        let tasks = &mut self.trace.tables.tasks;
        let task = TaskNumber(tasks.len() as u32);
        tasks.push(TaskInfo { name, site, node, sig: 100 + u64::from(task.0) });
        self.push(Event::Spawned { task });
        task
    }

    pub(super) fn step(&mut self, task: TaskNumber) {
        self.step += 1;
        self.at_ns += 50;
        self.push(Event::Stepped { task });
    }

    pub(super) fn pick(&mut self, task: TaskNumber, instead_of: TaskNumber) {
        let sig = |task: TaskNumber| 100 + u64::from(task.0);
        let actor = sig(instead_of);
        let earlier = self.trace.tables.choices.iter().filter(|c| c.choice.anchor.actor == actor);
        let anchor = Anchor { actor, ordinal: earlier.count() as u32 };
        let (picked, default) = (sig(task), sig(instead_of));
        let choice = Choice { domain: 1, anchor, occurrence: 0, picked, default };
        self.choose(choice, DOMAIN_PICK);
    }

    pub(super) fn choose(&mut self, choice: Choice, domain: &str) {
        let domain = self.text(domain);
        let choices = &mut self.trace.tables.choices;
        choices.push(Chosen { choice, domain });
        let choice = ChoiceId(choices.len() as u32 - 1);
        self.push(Event::Chose { choice });
    }

    pub(super) fn net(&mut self, event: NetEvent) {
        self.push(Event::Net(event));
    }
}

pub(super) fn header() -> Header {
    Header { detsim: "0.1.0".to_owned(), ..Header::new("pool::drains", 847_291, "random") }
}

/// Two workers, two nodes, a lost message and a crash; `minimal` takes only the choice that
/// matters.
pub(super) fn story(minimal: bool) -> Trace {
    let mut s = Story::new();
    let lock = s.object(ResourceKind::Mutex, "src/pool.rs:12");
    let first = s.spawn("fetcher", A, "src/pool.rs:30");
    let second = s.spawn("writer", B, "src/pool.rs:31");
    s.pass(1_200_000);
    s.step(first);
    s.push(Event::Operated { task: first, op: OpKind::Lock, object: lock });
    if !minimal {
        s.pick(first, second);
        s.step(first);
    }
    let (from, to) = (A, B);
    let draw = Anchor { actor: 9, ordinal: 0 };
    if !minimal {
        let choice = Choice { domain: 2, anchor: draw, occurrence: 0, picked: 400_000, default: 0 };
        s.choose(choice, "net/a/b");
    }
    let latency_ns = Wide::new(if minimal { 100_000 } else { 500_000 });
    s.net(NetEvent::Sent { message: 0, from, to, latency_ns });
    s.pick(second, first);
    s.step(second);
    let site = s.text("src/deeply/nested/module/with/a/long/path/pool.rs:88");
    s.push(Event::Blocked { task: second, op: OpKind::Lock, object: lock, site });
    s.pass(latency_ns.get());
    s.net(NetEvent::Delivered { message: 0, from, to });
    let (left, right) = (SetId(0), SetId(1));
    s.trace.tables.sets = vec![vec![A], vec![B]];
    s.net(NetEvent::Partitioned { from: left, to: right, holds: false });
    s.net(NetEvent::Sent { message: 1, from, to, latency_ns });
    s.net(NetEvent::Dropped { message: 1, from, to, why: DropReason::Partition });
    s.pass(250_000_000);
    s.net(NetEvent::Healed { from: left, to: right });
    let text = s.text("leader of term 2 </script>");
    s.push(Event::Noted { node: B, text });
    s.push(Event::Node { node: A, change: NodeChange::Crashed });
    s.push(Event::Aborted { task: first });
    s.push(Event::Disk(DiskEvent::Crashed { node: A, survived: 3, lost: 1, torn: 0 }));
    s.step(second);
    let message = s.text("index out of bounds");
    s.push(Event::Panicked { task: second, message });
    s.trace
}

/// A trace of about `events` events, as a busy run leaves it.
pub(super) fn long(events: usize) -> Trace {
    let mut s = Story::new();
    let mut stream = Stream::new(7);
    let sites: Vec<TextId> = (0..20).map(|n| s.text(&format!("src/world.rs:{n}"))).collect();
    let objects: Vec<ObjectId> =
        (0..30).map(|n| s.object(ResourceKind::Mutex, &format!("src/world.rs:{n}"))).collect();
    let tasks: Vec<TaskNumber> =
        (0..50).map(|n| s.spawn(&format!("task-{n}"), NodeId(1 + n % 2), "src/a.rs:1")).collect();
    let mut message = 0;
    while s.trace.moments.len() < events {
        let task = tasks[stream.below(50) as usize];
        let object = objects[stream.below(30) as usize];
        let site = sites[stream.below(20) as usize];
        if stream.below(8) == 0 {
            s.pick(task, tasks[0]);
        }
        s.step(task);
        s.push(Event::Operated { task, op: OpKind::Lock, object });
        match stream.below(4) {
            0 => s.push(Event::Blocked { task, op: OpKind::Lock, object, site }),
            1 => {
                let latency_ns = Wide::new(100_000 + stream.below(900_000));
                s.net(NetEvent::Sent { message, from: A, to: B, latency_ns });
                message += 1;
            }
            2 if message > 0 => {
                s.pass(stream.below(1_000_000));
                s.net(NetEvent::Delivered { message: message - 1, from: A, to: B });
            }
            _ => {}
        }
    }
    s.trace
}
