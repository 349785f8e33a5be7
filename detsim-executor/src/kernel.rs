//! The state of one simulation.
//!
//! Owns: [`Kernel`], which holds every part of a run, and the operations that primitives do on it
//! inside a section: waking, being stopped before an operation, folding history. Does not own: the
//! run loop ([`crate::run`]) or the handle ([`crate::Sim`]). Invariants: touched by the baton
//! holder alone; never borrowed while user code runs; memory is reused from run to run.

mod signature;
mod stop;

use crate::baton::Threads;
use crate::block::{Object, OpKind, TaskTag, Wait, WaitGraph};
use crate::choice::{Anchor, Choice, Choices, Records};
use crate::clock::{Apart, POLL_NS};
use crate::deferred::Deferred;
use crate::event::{Event, NodeId, SetId, TaskNumber, TextId};
use crate::failure::Failure;
use crate::group::Groups;
use crate::lane::LANE_SHIFT;
use crate::limits::{Limits, Steps};
use crate::names::Names;
use crate::node::Nodes;
use crate::queue::Queue;
use crate::rng::{Stream, fold};
use crate::scheduler::{Pick, Policy, Ready, Strategy};
use crate::signal::Handlers;
use crate::sim::Shared;
use crate::site::SiteCache;
use crate::slot::Memory;
use crate::task::{Ordinals, Slot, Tasks};
use crate::trace::{Recorder, RunHash, Trace};
use crate::waker::{self, unpack};
use std::mem;
use std::rc::{Rc, Weak};
use std::task::Waker;

/// No task: the simulation's own callbacks, or nothing runs.
pub(crate) const NO_TASK: u32 = u32::MAX;

/// How a run is set up.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SimConfig {
    /// Who runs next.
    pub strategy: Strategy,
    /// What the run may use up.
    pub limits: Limits,
    /// Keep the trace and the non-default choices, and the stack of every wait.
    pub record: bool,
    /// Keep the non-default choices alone. A replay keeps them anyway.
    pub record_choices: bool,
    /// Leave stacks out of the report of a failure: to look up their places takes a tenth of a
    /// second, which a run whose report nobody reads does not have.
    pub brief: bool,
    /// Where tasks may be stopped.
    pub preempt: Preempt,
    /// A panic in a task whose handle is gone is no failure of the run, as it is none to tokio.
    pub forgives_panics: bool,
    /// Threads that are no part of the run may use it, also where none has so far: one with nothing to do
    /// waits for them a while before it is a deadlock.
    pub expects_others: bool,
    /// Take these choices and defaults for all others, instead of the seed's.
    pub replay: Option<Vec<Choice>>,
}

/// Where a task may be stopped in favour of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preempt {
    /// Before every operation on a shared object.
    #[default]
    Ops,
    /// Only where it waits.
    Await,
}

/// All state of a run. In this order: what every poll looks at stands together.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Kernel {
    pub(crate) now_ns: u64,
    /// What one poll costs: nothing while the clock is paused.
    pub(crate) poll_ns: u64,
    pub(crate) steps: Steps,
    pub(crate) hash: RunHash,
    /// The word of the current task, 0 for none.
    word: u64,
    current: u32,
    node: NodeId,
    /// See [`Kernel::settle`].
    pub(crate) plain: bool,
    /// The same, and tasks may be stopped before operations, nobody has yielded to all others, and the poll
    /// that ends next is a plain one.
    pub(crate) is_usual: bool,
    /// Operations that the current task may yet complete in this poll.
    pub(crate) budget: u32,
    /// How often it was stopped before one in this poll.
    pub(crate) stops: u32,
    /// What of that budget is not for operations that are done at once: nothing in a plain run, all of it in
    /// one that is recorded, and in the poll that diagnoses a stuck one.
    reserved: u32,
    pub(crate) policy: Policy,
    pub(crate) tasks: Tasks,
    pub(crate) queue: Queue,
    id: u64,
    seed: u64,
    pub(crate) apart: Apart,
    pub(crate) completed: u64,
    pub(crate) limits: Limits,
    pub(crate) preempt: Preempt,
    pub(crate) brief: bool,
    pub(crate) choices: Choices,
    pub(crate) graph: WaitGraph,
    pub(crate) nodes: Nodes,
    pub(crate) groups: Groups,
    pub(crate) deferred: Deferred,
    pub(crate) handlers: Handlers,
    pub(crate) names: Names,
    pub(crate) memory: Memory,
    pub(crate) recorder: Recorder,
    pub(crate) failure: Option<Failure>,
    pub(crate) user: Option<Stream>,
    sites: SiteCache,
    root_ordinals: Ordinals,
    /// The slot of the task that ran last.
    pub(crate) last_run: u32,
    probing: bool,
    /// How often nothing could run before the clock moved.
    pub(crate) rests: u64,
    /// Devices that want to know of that.
    pub(crate) watchers: u32,
    /// Nobody is to hear of a panic in a task whose handle is gone.
    forgives: bool,
    /// See [`SimConfig::expects_others`].
    pub(crate) expects_others: bool,
    pub(crate) threads: Threads,
    shared: Weak<Shared>,
}

impl Kernel {
    /// A fresh run in this memory.
    pub(crate) fn begin(&mut self, id: u64, lane: u32, seed: u64, config: &SimConfig) {
        (self.id, self.seed) = (id, seed);
        self.tasks.set_lane(lane);
        (self.now_ns, self.poll_ns, self.apart) = (0, POLL_NS, Apart::default());
        (self.steps, self.completed) = (Steps::new(config.limits.steps), 0);
        (self.limits, self.preempt, self.brief) = (config.limits, config.preempt, config.brief);
        self.choices.reset(seed, Records::of(config.record, config.record_choices));
        self.policy.reset(config.strategy, self.choices.stream("sched"));
        if let Some(set) = &config.replay {
            self.choices.replay(set);
            self.policy.reset(Strategy::Fifo, self.choices.stream("sched"));
        }
        self.hash = RunHash::default();
        self.recorder.reset(config.record);
        self.nodes.reset();
        self.names.reset();
        drop(self.groups.reset());
        self.deferred.clear();
        self.failure = None;
        self.user = None;
        self.clear_current();
        self.stops = 0;
        self.set_probing(false);
        (self.rests, self.watchers, self.forgives) = (0, 0, config.forgives_panics);
        self.expects_others = config.expects_others;
        self.last_run = NO_TASK;
        self.settle();
    }

    /// Lets go of what the run had, after its tasks are gone.
    pub(crate) fn end(&mut self) {
        self.tasks.clear();
        self.graph.clear();
        self.root_ordinals.clear();
        self.threads.end();
        self.shared = Weak::new();
    }

    pub(crate) fn set_shared(&mut self, shared: Weak<Shared>) {
        self.shared = shared;
    }

    /// What the handles of this simulation share.
    pub(crate) fn shared(&mut self) -> Option<Rc<Shared>> {
        self.shared.upgrade()
    }

    /// The number of the run: unique in the process.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The steps so far.
    #[inline]
    pub fn steps(&self) -> u64 {
        self.steps.taken()
    }

    /// The events that were kept so far, where the run is recorded.
    pub fn events(&self) -> u64 {
        self.recorder.trace().moments.len() as u64
    }

    // ------------------------------------------------------------ who runs

    /// The tag of the task that runs.
    #[inline]
    pub fn current_tag(&self) -> TaskTag {
        self.tasks.tag(self.current)
    }

    /// The word of the task that runs; 0 outside of any.
    #[inline]
    pub(crate) fn word(&self) -> u64 {
        self.word
    }

    /// Whether this is the task that runs, or nobody, where none does.
    #[inline]
    pub fn is_current(&self, tag: TaskTag) -> bool {
        tag.word == self.word
    }

    pub(crate) fn current_index(&self) -> u32 {
        self.current
    }

    /// The slot, the word and the node of whoever runs, for [`Self::set_current`].
    pub(crate) fn current(&self) -> (u32, u64, NodeId) {
        (self.current, self.word, self.node)
    }

    #[inline]
    pub(crate) fn current_number(&self) -> TaskNumber {
        TaskNumber(self.tasks.get(self.current).map_or(0, |slot| slot.number))
    }

    /// The node of the task or handler that runs.
    #[inline]
    pub fn current_node(&self) -> NodeId {
        self.node
    }

    #[inline]
    pub(crate) fn current_slot(&mut self) -> Option<&mut Slot> {
        self.tasks.get_mut(self.current)
    }

    #[inline]
    pub(crate) fn set_current(&mut self, slot: u32, word: u64, node: NodeId) {
        (self.current, self.word) = (slot, word);
        // Nearly always the same, and to look is cheaper than to write.
        if self.node != node {
            self.node = node;
        }
    }

    #[inline]
    pub(crate) fn clear_current(&mut self) {
        self.set_current(NO_TASK, 0, NodeId::NONE);
    }

    /// The tag of a slot.
    #[inline]
    pub(crate) fn tag_of(&self, slot: u32) -> TaskTag {
        self.tasks.tag(slot)
    }

    /// The tag of the task of this word; nobody's where that has ended.
    pub(crate) fn tag_of_word(&self, word: u64) -> TaskTag {
        self.tasks.live(word).map_or(TaskTag::NOBODY, |_| self.tag_of(unpack(word).1))
    }

    /// Makes the task of this word ready; a word of the past does nothing.
    #[inline]
    pub fn wake(&mut self, word: u64) {
        let (_, index) = unpack(word);
        let Some(slot) = self.tasks.get_mut(index).filter(|slot| slot.word == word) else { return };
        if !self.plain || slot.marks.is_away() || self.threads.has_hosts() {
            return self.wake_anyhow(index);
        }
        if !slot.queued {
            slot.queued = true;
            self.policy.push(index);
        }
    }

    #[inline(never)]
    fn wake_anyhow(&mut self, index: u32) {
        if self.threads.has_hosts() {
            self.threads.note_wake(index);
        }
        self.wake_slot(index);
    }

    /// Puts a task that was just marked as queued where it belongs.
    #[inline]
    pub(crate) fn enqueue(&mut self, index: u32, is_away: bool) {
        let runs = !is_away || self.tasks.get(index).is_some_and(|slot| self.runs(slot));
        match self.plain && runs {
            true => self.policy.push(index),
            false => self.queue(index),
        }
    }

    /// Wakes the task of a waker, where it is one of this simulation's; any other waker comes back.
    #[inline]
    pub(crate) fn wake_by(&mut self, waker: Waker) -> Option<Waker> {
        let ours = waker::ours(&waker);
        let Some(word) = ours.filter(|word| word >> LANE_SHIFT == self.tasks.lane()) else {
            // Nobody is of no lane.
            return Some(waker).filter(|_| ours != Some(waker::NOBODY));
        };
        // Ours has nothing to drop; the compiler cannot see that through the table.
        mem::forget(waker);
        self.wake(word);
        None
    }

    /// The wait is over in which the task's poll was put aside: that poll goes on.
    pub(crate) fn resume(&mut self, word: u64) {
        self.slot_of(word).into_iter().for_each(|index| self.wake_slot(index));
    }

    /// Where the task of a word is.
    #[inline]
    fn slot_of(&self, word: u64) -> Option<u32> {
        let (_, index) = unpack(word);
        self.tasks.get(index).filter(|slot| slot.word == word).map(|_| index)
    }

    /// Makes the task in a slot ready.
    pub(crate) fn wake_slot(&mut self, index: u32) {
        let Some(slot) = self.tasks.get_mut(index) else { return };
        if !slot.queued {
            slot.queued = true;
            self.queue(index);
        }
    }

    /// Puts a task that was woken where it belongs: into the ready set, unless its node or its group
    /// does not run.
    fn queue(&mut self, index: u32) {
        let Some(slot) = self.tasks.get(index) else { return };
        if !self.nodes.runs(slot.node) {
            return self.nodes.park(slot.node, index);
        }
        if !slot.marks.is_free() && !self.groups.runs(slot.group) {
            return self.groups.park(slot.group, index);
        }
        self.make_ready(index);
    }

    #[inline]
    fn make_ready(&mut self, index: u32) {
        let Self { tasks, policy, .. } = self;
        policy.ready(index, || {
            let (slot, cold) = (tasks.get(index), tasks.cold(index));
            let (task, op) = slot.map_or((0, OpKind::Start), |slot| (slot.sig, slot.op));
            Ready { slot: index, task, op, object: cold.object }
        });
    }

    /// Looks again whether all that a turn asks for is a random pick.
    pub(crate) fn settle(&mut self) {
        self.plain = self.policy.is_random()
            && self.choices.is_plain()
            && !self.recorder.is_on()
            && self.failure.is_none()
            && self.threads.first.is_none();
        self.is_usual = self.plain
            && self.preempt == Preempt::Ops
            && self.deferred.is_empty()
            && !self.threads.is_unusual();
    }

    /// The moment of a pick, between two polls.
    #[inline]
    pub(crate) fn moment(&self) -> Pick {
        let current = (self.last_run != NO_TASK).then_some(self.last_run);
        Pick { current, is_yield: !self.is_stopped() }
    }

    // ------------------------------------------------------------ operations

    /// The current task operates on `object`: their histories become one.
    #[inline(always)]
    pub fn operate(&mut self, object: &mut Object, kind: OpKind) {
        object.bind(self);
        let Some(slot) = self.tasks.get_mut(self.current) else { return };
        self.hash.operation(slot.operate(object, kind));
        if self.recorder.is_on() {
            self.record_operation(object, kind);
        }
    }

    /// As [`Self::operate`]; who the current task is.
    #[inline]
    pub fn used(&mut self, object: &mut Object, kind: OpKind) -> TaskTag {
        self.operate(object, kind);
        self.current_tag()
    }

    /// History of the current task.
    #[inline]
    pub(crate) fn current_history(&self) -> u64 {
        self.tasks.get(self.current).map_or(0, |slot| slot.history)
    }

    /// The current task goes on after something with this history.
    #[inline]
    pub(crate) fn follow(&mut self, history: u64, kind: OpKind) {
        let Some(slot) = self.tasks.get_mut(self.current) else { return };
        slot.history = fold(slot.history.wrapping_add(kind as u64 + 1), history);
        let event = slot.history;
        self.hash.operation(event);
    }

    #[cold]
    fn record_operation(&mut self, object: &Object, kind: OpKind) {
        let event = Event::Operated {
            task: self.current_number(),
            op: kind,
            object: self.recorder.object(object),
        };
        self.push_event(event);
    }

    // ------------------------------------------------------------ events

    /// Whether the run is recorded.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.recorder.is_on()
    }

    /// Keeps an event, where the run is recorded; `event` is called only then.
    #[inline]
    pub fn record_with(&mut self, event: impl FnOnce(&mut Self) -> Event) {
        if self.recorder.is_on() {
            let event = event(self);
            self.push_event(event);
        }
    }

    #[cold]
    fn push_event(&mut self, event: Event) {
        self.record_choices();
        let (now, steps) = (self.now(), self.steps());
        self.recorder.push(now, steps, event);
    }

    /// Keeps the choices made since the last event: what they brought about is recorded next.
    fn record_choices(&mut self) {
        let (now, steps) = (self.now(), self.steps());
        let Self { choices, recorder, .. } = self;
        let known = recorder.choices();
        for choice in choices.recorded().iter().skip(known) {
            let choice = recorder.choose(*choice, choices);
            recorder.push(now, steps, Event::Chose { choice });
        }
    }

    /// What happened so far, where the run is recorded.
    pub(crate) fn trace(&mut self) -> Trace {
        if self.recorder.is_on() {
            self.record_choices();
            self.recorder.set_nodes(self.nodes.names());
        }
        // It may have given up over that.
        match self.recorder.is_on() {
            true => self.recorder.trace().clone(),
            false => Trace::default(),
        }
    }

    /// The number of a text in the trace, for an event of [`Self::record_with`].
    pub fn trace_text(&mut self, text: &str) -> TextId {
        self.recorder.text(text)
    }

    /// The number of a set of nodes in the trace.
    pub fn trace_set(&mut self, nodes: &[NodeId]) -> SetId {
        self.recorder.set(nodes)
    }

    /// Stacks of waits are kept in a recorded run, and in the poll that diagnoses a deadlock.
    #[inline]
    pub(crate) fn captures_stacks(&self) -> bool {
        self.reserved != 0
    }

    pub(crate) fn is_probing(&self) -> bool {
        self.probing
    }

    pub(crate) fn set_probing(&mut self, probing: bool) {
        self.probing = probing;
        self.reserved = if probing || self.recorder.is_on() { u32::MAX } else { 0 };
    }

    #[inline]
    pub(crate) fn wait_mut(&mut self, record: u32) -> Option<&mut Wait> {
        self.graph.wait_mut(record.wrapping_sub(1))
    }

    /// Nobody has heard of a panic.
    pub(crate) fn fail_unheard(&mut self, failure: Failure) {
        if !self.forgives {
            self.fail(failure);
        }
    }

    /// The first failure of a run is its failure.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
        self.settle();
    }

    /// The stream of what the program under test draws for itself.
    pub(crate) fn user_stream(&mut self) -> &mut Stream {
        let stream = self.choices.stream("user");
        self.user.get_or_insert(stream)
    }

    /// The choices of this run.
    #[inline]
    pub fn choices(&mut self) -> &mut Choices {
        if !self.choices.is_plain() {
            self.place_choices();
        }
        &mut self.choices
    }

    /// The anchor of a choice that the current task makes: its signature and operation count.
    pub fn anchor(&mut self) -> Anchor {
        self.current_slot()
            .map_or(Anchor::default(), |slot| Anchor { actor: slot.sig, ordinal: slot.ops })
    }
}
