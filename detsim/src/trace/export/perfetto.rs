//! Chrome's trace format, as ui.perfetto.dev and chrome://tracing read it.
//!
//! Owns: which event becomes what: a node is a process, a task a thread (its number plus one,
//! thread 0 for what belongs to no task), a poll and a wait are slices, a message is a flow between
//! two slices, faults are slices of thread 0, the rest are instants. Invariant: times are
//! microseconds with three decimals, so that no nanosecond is lost.

use detsim_executor::SimTime;
use detsim_executor::event::{Event, Moment, NodeId, TaskNumber};
use detsim_executor::trace::Tables;

use super::Recorded;
use super::json::{Object, push_list};
use super::model::{Fault, Message, Model, Span};

/// What a poll costs, so that it can be seen and clicked at.
const POLL_NS: u64 = 50;

pub(super) fn export(recorded: &Recorded) -> String {
    let trace = &recorded.trace;
    let tables = &trace.tables;
    let model = Model::of(trace);
    let mut events = Vec::new();
    names(tables, &mut events);
    trace.moments.iter().for_each(|moment| events.push(instant(tables, moment)));
    for wait in &model.waits {
        events.push(wait_slice(recorded, wait));
    }
    for fault in &model.faults {
        fault_slices(recorded, fault, &mut events);
    }
    for (id, message) in (0_u32..).zip(&model.messages) {
        flow(recorded, id, message, &mut events);
    }
    let mut out = String::new();
    let mut file = Object::begin(&mut out);
    file.text("displayTimeUnit", "ns");
    push_list(file.field("traceEvents"), events, |out, event| out.push_str(&event));
    file.end();
    out.push('\n');
    out
}

/// An event of the format.
fn event(
    phase: &str,
    name: &str,
    thread: (NodeId, u32),
    more: impl FnOnce(&mut Object<'_>),
) -> String {
    let mut out = String::new();
    let mut object = Object::begin(&mut out);
    object.text("ph", phase);
    object.text("name", name);
    object.number("pid", thread.0.0);
    object.number("tid", thread.1);
    more(&mut object);
    object.end();
    out
}

fn names(tables: &Tables, events: &mut Vec<String>) {
    let named = |what, thread, name: String| {
        event("M", what, thread, |object| {
            let mut args = Object::begin(object.field("args"));
            args.text("name", name);
            args.end();
        })
    };
    for node in (0..tables.nodes.len()).map(|number| NodeId(number as u16)) {
        events.push(named("process_name", (node, 0), tables.node_shown(node).to_string()));
        events.push(named("thread_name", (node, 0), "network and callbacks".to_owned()));
    }
    for (task, info) in (0_u32..).map(TaskNumber).zip(&tables.tasks) {
        let name = tables.task_shown(task).to_string();
        events.push(named("thread_name", (info.node, task.0 + 1), name));
    }
}

fn thread_of(tables: &Tables, event: &Event) -> (NodeId, u32) {
    let node = tables.node_at(event).unwrap_or(NodeId::NONE);
    (node, tables.task_at(event).map_or(0, |task| task.0 + 1))
}

/// A poll as a slice, anything else as an instant.
fn instant(tables: &Tables, moment: &Moment) -> String {
    let thread = thread_of(tables, &moment.event);
    let is_poll = matches!(moment.event, Event::Stepped { .. });
    let text = tables.predicate(&moment.event).to_string();
    event(if is_poll { "X" } else { "i" }, &text, thread, |object| {
        push_micros(object, "ts", moment.at.as_nanos());
        match is_poll {
            true => push_micros(object, "dur", POLL_NS),
            false => object.text("s", "t"),
        }
        object.text("cat", moment.event.kind().word());
        let mut args = Object::begin(object.field("args"));
        args.number("step", moment.step);
        args.end();
    })
}

fn push_micros(object: &mut Object<'_>, name: &str, ns: u64) {
    let micros = format!("{}.{:03}", ns / 1_000, ns % 1_000);
    object.field(name).push_str(&micros);
}

fn slice(name: &str, cat: &str, thread: (NodeId, u32), start: SimTime, end: SimTime) -> String {
    event("X", name, thread, |object| {
        push_micros(object, "ts", start.as_nanos());
        push_micros(object, "dur", (end - start).as_nanos() as u64);
        object.text("cat", cat);
    })
}

fn wait_slice(recorded: &Recorded, wait: &Span<TaskNumber>) -> String {
    let (moments, tables) = (&recorded.trace.moments, &recorded.trace.tables);
    let (start, end) = (moments[wait.start], moments[wait.end]);
    let thread = thread_of(tables, &start.event);
    // The poll in which the wait began is over first.
    let begin = SimTime::from_nanos(start.at.as_nanos().saturating_add(POLL_NS)).min(end.at);
    slice(&tables.predicate(&start.event).to_string(), "wait", thread, begin, end.at)
}

fn fault_slices(recorded: &Recorded, fault: &Span<Fault>, events: &mut Vec<String>) {
    let (moments, tables) = (&recorded.trace.moments, &recorded.trace.tables);
    let (start, end) = (moments[fault.start], moments[fault.end]);
    let name = tables.predicate(&start.event).to_string();
    let mut push = |node| events.push(slice(&name, "fault", (node, 0), start.at, end.at));
    match fault.what {
        Fault::Node(node, _) => push(node),
        Fault::Cut(from, _) => tables.set(from).iter().copied().for_each(push),
    }
}

/// A flow stands between slices, so that each end is one, as long as a poll.
fn flow(recorded: &Recorded, id: u32, message: &Span<Message>, events: &mut Vec<String>) {
    let moments = &recorded.trace.moments;
    let Message { number, from, to, arrived } = message.what;
    let ends = [("s", from, moments[message.start].at), ("f", to, moments[message.end].at)];
    let verb = if arrived { "arrives" } else { "is lost" };
    for (phase, node, at) in ends {
        let thread = (node, 0);
        let end = SimTime::from_nanos(at.as_nanos().saturating_add(POLL_NS));
        let name = match phase {
            "s" => format!("message {number} leaves"),
            _ => format!("message {number} {verb}"),
        };
        events.push(slice(&name, "net", thread, at, end));
        events.push(event(phase, "message", thread, |object| {
            push_micros(object, "ts", at.as_nanos());
            object.number("id", id);
            object.text("cat", "net");
            object.text("bp", "e");
        }));
    }
}
