//! Every event as data.
//!
//! Owns: the writer of JSON that all exports use, and the format `json`: one object, one event a
//! line. Invariants: what is written is JSON of any reader, safe inside of a page's script as well; an event is a line;
//! words of 64 bits that are no quantities (signatures) are hexadecimal texts.

use std::fmt::{Display, Write};

use detsim_executor::event::{DiskEvent, Event, Moment, NetEvent, ObjectId};
use detsim_executor::trace::Tables;

use super::Recorded;

/// Appends a text with its quotes.
pub(super) fn push_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // A page's script ends at `</script`, wherever that stands.
            '<' => push_escaped(out, c),
            c if c.is_control() => push_escaped(out, c),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn push_escaped(out: &mut String, c: char) {
    write!(out, "\\u{:04x}", u32::from(c)).expect("invariant: a string takes any text");
}

/// Appends an object, a field at a time.
#[derive(Debug)]
pub(super) struct Object<'a> {
    out: &'a mut String,
    empty: bool,
}

impl<'a> Object<'a> {
    pub(super) fn begin(out: &'a mut String) -> Self {
        out.push('{');
        Self { out, empty: true }
    }

    /// The place for the value of a field.
    pub(super) fn field(&mut self, name: &str) -> &mut String {
        if !std::mem::replace(&mut self.empty, false) {
            self.out.push(',');
        }
        push_text(self.out, name);
        self.out.push(':');
        self.out
    }

    pub(super) fn text(&mut self, name: &str, text: impl Display) {
        push_text(self.field(name), &text.to_string());
    }

    pub(super) fn number(&mut self, name: &str, number: impl Into<u64>) {
        let number: u64 = number.into();
        write!(self.field(name), "{number}").expect("invariant: a string takes any text");
    }

    pub(super) fn word(&mut self, name: &str, word: u64) {
        self.text(name, format_args!("{word:016x}"));
    }

    pub(super) fn end(self) {
        self.out.push('}');
    }
}

/// Appends a list, each element by `push`.
pub(super) fn push_list<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut String, T),
) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        push(out, item);
    }
    out.push_str("\n]");
}

pub(super) fn export(recorded: &Recorded) -> String {
    let (header, trace) = (&recorded.header, &recorded.trace);
    let tables = &trace.tables;
    let mut out = String::new();
    let mut file = Object::begin(&mut out);
    file.text("format", "detsim trace");
    file.number("version", 1_u32);
    file.text("test", &header.test);
    file.number("seed", header.seed);
    file.text("strategy", &header.strategy);
    file.text("detsim", &header.detsim);
    push_list(file.field("nodes"), &tables.nodes, |out, node| push_text(out, tables.text(*node)));
    push_list(file.field("tasks"), (0_u32..).zip(&tables.tasks), |out, (number, task)| {
        let mut object = Object::begin(out);
        object.number("task", number);
        object.text("name", tables.text(task.name));
        object.text("node", tables.node_shown(task.node));
        object.text("spawned_at", tables.text(task.site));
        object.word("signature", task.sig);
        object.end();
    });
    let push = |out: &mut String, moment| push_event(out, tables, moment);
    push_list(file.field("events"), &trace.moments, push);
    file.end();
    out.push('\n');
    out
}

fn push_event(out: &mut String, tables: &Tables, moment: &Moment) {
    let mut object = Object::begin(out);
    let event = &moment.event;
    object.number("at_ns", moment.at.as_nanos());
    object.number("step", moment.step);
    object.text("kind", event.kind().word());
    if let Some(task) = tables.task_at(event) {
        object.number("task", task.0);
    }
    if let Some(node) = tables.node_at(event) {
        object.text("node", tables.node_shown(node));
    }
    object.text("text", tables.predicate(event));
    push_fields(&mut object, tables, event);
    object.end();
}

/// What only this kind of event has.
fn push_fields(object: &mut Object<'_>, tables: &Tables, event: &Event) {
    match *event {
        Event::Blocked { op, object: of, site, .. } => {
            push_operation(object, tables, op.word(), of);
            object.text("site", tables.text(site));
        }
        Event::Operated { op, object: of, .. } | Event::Preempted { op, object: of, .. } => {
            push_operation(object, tables, op.word(), of);
        }
        Event::Called { site } => object.text("site", tables.text(site)),
        Event::Chose { choice } => {
            let Some(chosen) = tables.choice(choice) else { return };
            object.text("domain", tables.text(chosen.domain));
            object.word("actor", chosen.choice.anchor.actor);
            object.number("ordinal", chosen.choice.anchor.ordinal);
            object.number("occurrence", chosen.choice.occurrence);
            object.word("picked", chosen.choice.picked);
            object.word("default", chosen.choice.default);
        }
        Event::Disk(event) => push_disk(object, &event),
        Event::Net(event) => push_net(object, tables, &event),
        Event::Node { change, .. } => object.text("change", change.verb()),
        Event::Noted { text, .. } => object.text("note", tables.text(text)),
        Event::Panicked { message, .. } => object.text("message", tables.text(message)),
        Event::Aborted { .. }
        | Event::Finished { .. }
        | Event::Spawned { .. }
        | Event::Stepped { .. } => {}
    }
}

fn push_operation(object: &mut Object<'_>, tables: &Tables, op: &str, of: ObjectId) {
    object.text("operation", op);
    object.number("object", of.0);
    if let Some(of) = tables.object(of) {
        object.text("resource", of.kind.word());
        object.text("created_at", tables.text(of.site));
    }
}

fn push_net(object: &mut Object<'_>, tables: &Tables, event: &NetEvent) {
    if let Some((from, to)) = event.link() {
        object.text("from", tables.node_shown(from));
        object.text("to", tables.node_shown(to));
    }
    let (word, message) = match *event {
        NetEvent::Delivered { message, .. } => ("delivered", Some(message)),
        NetEvent::Dropped { message, .. } => ("dropped", Some(message)),
        NetEvent::Duplicated { message, .. } => ("duplicated", Some(message)),
        NetEvent::Healed { .. } => ("healed", None),
        NetEvent::Held { message, .. } => ("held", Some(message)),
        NetEvent::Lagged { message, .. } => ("lagged", Some(message)),
        NetEvent::LookupFailed { .. } => ("lookup failed", None),
        NetEvent::LookupFaulted { .. } => ("lookup faulted", None),
        NetEvent::Packet { message, .. } => ("packet", Some(message)),
        NetEvent::Partitioned { .. } => ("partitioned", None),
        NetEvent::Reset { .. } => ("reset", None),
        NetEvent::Sent { message, .. } => ("sent", Some(message)),
        NetEvent::Shortened { .. } => ("shortened", None),
        NetEvent::Slowed { .. } => ("slowed", None),
    };
    object.text("event", word);
    if let Some(message) = message {
        object.number("message", message);
    }
    match *event {
        NetEvent::Dropped { why, .. } => object.text("why", why.words()),
        NetEvent::Sent { latency_ns, .. } => object.number("latency_ns", latency_ns.get()),
        NetEvent::LookupFailed { node } => object.text("node", tables.node_shown(node)),
        NetEvent::LookupFaulted { node, fault } => {
            object.text("node", tables.node_shown(node));
            object.text("fault", fault.words());
        }
        NetEvent::Shortened { node, bytes } => {
            object.text("node", tables.node_shown(node));
            object.number("bytes", bytes.get());
        }
        NetEvent::Packet { source, target, seq, bytes, kind, .. } => {
            object.text("kind", kind.word());
            object.text("source", tables.text(source));
            object.text("target", tables.text(target));
            object.number("seq", seq);
            object.number("bytes", bytes);
        }
        NetEvent::Healed { from, to }
        | NetEvent::Partitioned { from, to, .. }
        | NetEvent::Slowed { from, to, .. } => {
            if let NetEvent::Slowed { factor, .. } = *event {
                object.number("factor", factor);
            }
            for (name, set) in [("from", from), ("to", to)] {
                let names = tables.set(set).iter().map(|node| tables.node_shown(*node).to_string());
                object.text(name, names.collect::<Vec<_>>().join(" "));
            }
        }
        NetEvent::Reset { by, at } => {
            object.text("from", tables.node_shown(by));
            object.text("to", tables.node_shown(at));
        }
        _ => {}
    }
}

fn push_disk(object: &mut Object<'_>, event: &DiskEvent) {
    match *event {
        DiskEvent::Corrupted { offset, .. } => object.number("offset", offset.get()),
        DiskEvent::Crashed { survived, lost, torn, .. } => {
            object.number("survived", survived);
            object.number("lost", lost);
            object.number("torn", torn);
        }
        DiskEvent::Faulted { fault, .. } => object.text("fault", fault.word()),
        DiskEvent::Full { offset, len, .. } | DiskEvent::Wrote { offset, len, .. } => {
            object.number("offset", offset.get());
            object.number("len", len);
        }
        DiskEvent::SyncSkipped { .. } => {}
        DiskEvent::Synced { sectors, .. } => object.number("sectors", sectors),
    }
}
