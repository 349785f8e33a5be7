//! Who waits for whom, when nothing can run.
//!
//! Owns: [`Deadlock`], built from the wait graph, with the cycles in it, and its text. Does not
//! own: when a run is stuck ([`crate::run`]). Invariants: everything is in the order of task
//! numbers; a cycle is named once, from its lowest task on.

use crate::block::{OpKind, ResourceKind, Role, Stage, Wait};
use crate::failure::Where;
use crate::kernel::Kernel;
use crate::site;
use crate::task::Slot;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A run that is stuck.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// When.
    pub place: Where,
    /// The tasks that wait, by number.
    pub tasks: Vec<BlockedTask>,
    /// Tasks that wait for each other in a ring, each by its number.
    pub cycles: Vec<Vec<u32>>,
    /// What is in the devices, such as a table of sockets.
    pub devices: String,
}

/// Why a task could not run even if it were woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Held {
    /// It could.
    #[default]
    No,
    /// Its node is paused.
    ByNode,
    /// Its group is not driven.
    ByRuntime,
}

/// A task that has not ended, and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedTask {
    /// Its number.
    pub number: u32,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its node, where it has one.
    pub node: Option<String>,
    /// Where it was spawned.
    pub spawned: String,
    /// Why it could not run even if it were woken.
    pub held: Held,
    /// What it waits for; nothing where it waits for something foreign to the simulation.
    pub waits: Vec<WaitsFor>,
    /// The awaits it is in, innermost first.
    pub stack: Vec<String>,
    /// It waits for nothing: it is to be polled.
    pub ready: bool,
    /// It would have gone on, had anybody polled it.
    pub would_run: bool,
    /// It returned `Pending`, and whatever it polled kept no waker: nothing can ever wake it.
    pub unwakeable: bool,
}

/// One wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitsFor {
    /// The operation.
    pub op: String,
    /// The kind of the resource.
    pub resource: String,
    /// Where the resource was created.
    pub created: String,
    /// Where the operation stands.
    pub site: String,
    /// The step since which it waits.
    pub since: u64,
    /// It was given what it waits for, and has not been polled since.
    pub granted: bool,
    /// Who has to do with the resource.
    pub parties: Vec<PartyShown>,
}

/// Somebody who has to do with a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartyShown {
    /// The task, as reports name it.
    pub task: String,
    /// Its number; `None` for the simulation itself.
    pub number: Option<u32>,
    /// What it has to do with it.
    pub role: Role,
    /// Since which line.
    pub site: String,
    /// How many permits.
    pub count: u32,
    /// The task has ended.
    pub finished: bool,
}

impl Kernel {
    /// The report of a stuck run, without the stacks of tasks that were not recorded.
    pub(crate) fn deadlock(&self) -> Deadlock {
        let mut tasks: Vec<BlockedTask> =
            self.tasks.living().map(|(index, _)| self.blocked_task(index)).collect();
        tasks.sort_unstable_by_key(|task| task.number);
        let cycles = cycles(&tasks);
        Deadlock { place: self.place(), tasks, cycles, devices: String::new() }
    }

    /// What is known of the task in a slot.
    pub(crate) fn blocked_task(&self, index: u32) -> BlockedTask {
        let tag = self.tag_of(index);
        let slot = self.tasks.get(index).expect("invariant: a living task has a slot");
        let waits = || self.graph.waits().filter(|w| w.task == tag.word && !w.suspect);
        let stack = waits().find_map(|wait| wait.stack.as_ref()).filter(|_| !self.brief);
        BlockedTask {
            number: tag.number,
            name: self.names.text(tag.name).map(str::to_owned),
            node: self.shown_node(slot.node),
            spawned: site::shown(self.tasks.cold(index).site),
            held: self.held(slot),
            waits: waits().map(|wait| self.waits_for(wait)).collect(),
            stack: stack.map_or_else(Vec::new, |stack| stack.frames()),
            ready: slot.queued,
            would_run: false,
            unwakeable: false,
        }
    }

    fn held(&self, slot: &Slot) -> Held {
        match (self.nodes.runs(slot.node), self.groups.lets_run(slot)) {
            (false, _) => Held::ByNode,
            (_, false) => Held::ByRuntime,
            _ => Held::No,
        }
    }

    fn waits_for(&self, wait: &Wait) -> WaitsFor {
        let resource = &self.graph.resources[wait.object as usize];
        let parties = resource.parties.iter().map(|party| PartyShown {
            task: self.shown_task(party.task),
            number: (!party.task.is_nobody()).then_some(party.task.number),
            role: party.role,
            site: site::shown(party.site),
            count: party.count,
            finished: !party.task.is_nobody() && self.tasks.live(party.task.word).is_none(),
        });
        let ahead = self.writer_ahead(wait).map(|writer| {
            let task = self.tag_of_word(writer.task);
            PartyShown {
                task: self.shown_task(task),
                number: Some(task.number),
                role: Role::Ahead,
                site: site::shown(writer.site),
                count: 1,
                finished: false,
            }
        });
        WaitsFor {
            op: wait.op.word().to_owned(),
            resource: resource.kind.word().to_owned(),
            created: site::shown(resource.site),
            site: site::shown(wait.site),
            since: wait.since,
            granted: wait.stage == Stage::Granted,
            parties: parties.chain(ahead).collect(),
        }
    }

    /// Who waits to write, in front of one who waits to read while others read.
    fn writer_ahead(&self, wait: &Wait) -> Option<&Wait> {
        let resource = &self.graph.resources[wait.object as usize];
        let others_read = resource.parties.iter().all(|party| party.role == Role::Reads);
        if resource.kind != ResourceKind::RwLock || wait.op != OpKind::Read || !others_read {
            return None;
        }
        let is_ahead = |other: &&Wait| {
            let is_of_it = other.object == wait.object && other.op == OpKind::Write;
            is_of_it
                && other.stage == Stage::Waits
                && other.since <= wait.since
                && other.task != wait.task
        };
        self.graph.waits().filter(is_ahead).min_by_key(|other| other.since)
    }
}

/// The rings among tasks of which each waits for the next, each found once.
fn cycles(tasks: &[BlockedTask]) -> Vec<Vec<u32>> {
    let edges: BTreeMap<u32, BTreeSet<u32>> = tasks
        .iter()
        .map(|task| {
            let awaited = task.waits.iter().flat_map(WaitsFor::awaited);
            (task.number, awaited.filter_map(|party| party.number).collect())
        })
        .collect();
    let mut found = BTreeSet::new();
    for start in edges.keys() {
        walk(&edges, &mut vec![*start], &mut BTreeSet::new(), &mut found);
    }
    found.into_iter().take(CYCLES_MAX).collect()
}

/// Rings named in one report.
const CYCLES_MAX: usize = 8;

/// Follows the edges from the end of `path`; a ring back to its start is found. Each task is
/// visited once from each start, and only tasks above the start: the lowest names the ring.
fn walk(
    edges: &BTreeMap<u32, BTreeSet<u32>>,
    path: &mut Vec<u32>,
    seen: &mut BTreeSet<u32>,
    found: &mut BTreeSet<Vec<u32>>,
) {
    let (start, last) = (path[0], path[path.len() - 1]);
    for next in edges.get(&last).into_iter().flatten() {
        if *next == start {
            found.insert(path.clone());
        } else if *next > start && seen.insert(*next) {
            path.push(*next);
            walk(edges, path, seen, found);
            path.pop();
        }
    }
}

impl Deadlock {
    /// `2 tasks blocked`.
    pub(crate) fn count(&self) -> String {
        match self.tasks.len() {
            1 => "1 task blocked".to_owned(),
            n => format!("{n} tasks blocked"),
        }
    }

    /// The places that make the failure's signature: of the cycle where there is one.
    pub(crate) fn sites(&self) -> String {
        let in_cycle: BTreeSet<u32> = self.cycles.iter().flatten().copied().collect();
        let chosen = self.tasks.iter().filter(|task| {
            task.would_run || (in_cycle.is_empty() || in_cycle.contains(&task.number))
        });
        let sites: BTreeSet<&str> = chosen
            .flat_map(|task| {
                let waits = task.waits.iter().map(|wait| wait.site.as_str());
                waits.chain(task.waits.is_empty().then_some(task.spawned.as_str()))
            })
            .collect();
        sites.into_iter().collect::<Vec<_>>().join(" ")
    }

    /// The numbers of the tasks that it is about: those in a cycle; where there is none, those that
    /// do not merely wait for the end of another one.
    pub fn blamed(&self) -> Vec<u32> {
        let in_cycle: BTreeSet<u32> = self.cycles.iter().flatten().copied().collect();
        if !in_cycle.is_empty() {
            return in_cycle.into_iter().collect();
        }
        let is_joining = |wait: &WaitsFor| {
            let mut parties = wait.parties.iter();
            parties.any(|party| party.role == Role::Runs && !party.finished)
        };
        let stuck = |task: &&BlockedTask| {
            task.would_run || task.waits.is_empty() || !task.waits.iter().all(is_joining)
        };
        self.tasks.iter().filter(stuck).map(|task| task.number).collect()
    }

    fn title_of(&self, number: u32) -> String {
        let task = self.tasks.iter().find(|task| task.number == number);
        task.map_or_else(|| format!("task {number}"), BlockedTask::title)
    }
}

impl BlockedTask {
    /// `task 17 "apply-loop"`.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("task {} \"{name}\"", self.number),
            None => format!("task {}", self.number),
        }
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tasks.iter().try_for_each(|task| task.fmt(f))?;
        for cycle in &self.cycles {
            let mut ring: Vec<String> = cycle.iter().map(|n| self.title_of(*n)).collect();
            match cycle.as_slice() {
                [_] => writeln!(f, "  cycle: {} waits for itself", ring[0])?,
                _ => {
                    ring.push(ring[0].clone());
                    writeln!(f, "  cycle: {}", ring.join(" -> "))?;
                }
            }
        }
        f.write_str(&self.devices)
    }
}

impl Held {
    fn shown(self) -> &'static str {
        match self {
            Self::No => "",
            Self::ByNode => ", its node is paused",
            Self::ByRuntime => ", nobody drives its runtime",
        }
    }
}

impl fmt::Display for BlockedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}", self.title())?;
        if let Some(node) = &self.node {
            write!(f, " on {node}")?;
        }
        write!(f, ", spawned at {}", self.spawned)?;
        writeln!(f, "{}", self.held.shown())?;
        self.waits.iter().try_for_each(|wait| wait.fmt(f))?;
        if self.ready {
            writeln!(f, "    is ready to run")?;
        } else if self.unwakeable {
            writeln!(
                f,
                "    polled once more it returned Pending and kept no waker: nothing can wake it"
            )?;
        } else if self.waits.is_empty() {
            writeln!(f, "    waits for something that is not of the simulation")?;
        }
        if self.would_run {
            writeln!(f, "    polled once more it went on: the wakeup was lost")?;
        }
        for (index, frame) in self.stack.iter().enumerate() {
            let label = if index == 0 { "stack:" } else { "" };
            writeln!(f, "    {label:<7}{frame}")?;
        }
        Ok(())
    }
}

impl WaitsFor {
    /// Those who have to act for the wait to end.
    fn awaited(&self) -> impl Iterator<Item = &PartyShown> {
        // Readers let each other in: only who waits in front to write keeps another one out.
        let is_behind = self.parties.iter().any(|party| party.role == Role::Ahead);
        let acts = move |role| match role {
            // Who used something last need not be who would use it next.
            Role::LastUsed => false,
            Role::Reads => !is_behind,
            _ => true,
        };
        self.parties.iter().filter(move |party| !party.finished && acts(party.role))
    }
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, resource, created, site, since, .. } = self;
        writeln!(f, "    waits: {op} at {site}")?;
        writeln!(f, "      for the {resource} of {created}, since step {since}")?;
        if self.granted {
            writeln!(f, "      it was granted, but the future has not been polled since")?;
        }
        if self.parties.is_empty() {
            writeln!(f, "      {}", nobody(resource))?;
        }
        self.parties.iter().try_for_each(|party| party.fmt(f))
    }
}

/// What is said of a resource that nobody is known to have to do with.
fn nobody(resource: &str) -> &'static str {
    match resource {
        "Semaphore" => "nobody holds a permit of it",
        "Mutex" | "OnceCell" | "RwLock" => "nobody holds it",
        "broadcast channel" | "mpsc channel" | "watch channel" => {
            "nobody has used its other end yet"
        }
        "Notify" => "nobody is known to be about to notify it",
        _ => "nobody has used it",
    }
}

impl fmt::Display for PartyShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.role {
            Role::Holds => "held by",
            Role::LastReceived => "last received from by",
            Role::LastSent => "last sent to by",
            Role::Runs => "still running:",
            Role::LastUsed => "last used by",
            Role::OtherEnd => "its other end was last seen with",
            Role::Reads => "locked for reading by",
            Role::Writes => "locked for writing by",
            Role::Ahead => "behind the writer",
        };
        write!(f, "      {verb} {}", self.task)?;
        if self.finished {
            write!(f, " (which has ended)")?;
        }
        if self.count > 1 && self.role == Role::Holds {
            write!(f, ", {} permits", self.count)?;
        }
        match self.role {
            Role::Runs => writeln!(f, ", spawned at {}", self.site),
            _ => writeln!(f, " at {}", self.site),
        }
    }
}

#[cfg(test)]
mod tests;
