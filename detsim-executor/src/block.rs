//! The one blocking core: who waits for what, and who has it.
//!
//! Owns: [`Object`] (identity and history of anything shared), [`Waiter`] (a queued wait), and when a
//! wait stands in the wait graph (`block/graph.rs`). Does not own: the queues themselves (each primitive
//! keeps its own, of `Waiter`s) or fairness.
//! Invariants: a wait is recorded from [`Block::wait`] until [`Block::wake`] or [`Block::cancel`];
//! an object is in the graph exactly while it has a waiter, so what nobody waits for costs nothing;
//! nothing here runs user code, so all of it may stand in a section of [`crate::bound::Bound`].

mod graph;
mod rest;

use self::graph::Resource;
pub(crate) use self::graph::{Stage, Wait, WaitGraph};
use crate::event::Event;
use crate::kernel::Kernel;
use crate::rng::mix;
use crate::site;
use crate::stack::Stack;
use crate::waker;
use serde::{Deserialize, Serialize};
use std::panic::Location;
use std::task::Waker;

/// What kind of thing is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ResourceKind {
    /// A barrier.
    Barrier,
    /// A channel from many to all.
    Broadcast,
    /// A channel from many to one.
    Mpsc,
    /// A mutex.
    Mutex,
    /// A notification.
    Notify,
    /// A cell that is set once.
    OnceCell,
    /// A channel for one value.
    Oneshot,
    /// A lock for many readers or one writer.
    RwLock,
    /// Permits.
    Semaphore,
    /// The end of a task.
    Task,
    /// A value that is watched.
    Watch,
    // Numbers are part of signatures: whatever is new stands at the end.
    /// The file system of a node.
    Disk,
    /// The threads for closures that block.
    BlockingPool,
    /// A word of memory: a lock, a condition variable or a parked thread of others.
    Word,
    /// A cell that is set once and waited for.
    SetOnce,
    /// A stream of bytes in memory.
    Stream,
    /// A one-way stream of bytes.
    Pipe,
    /// A socket that takes connections.
    TcpListener,
    /// A connection, or a socket that may become one.
    TcpStream,
    /// A socket for datagrams.
    UdpSocket,
    /// A local socket for datagrams.
    UnixDatagram,
    /// A local socket that takes connections.
    UnixListener,
    /// A local connection.
    UnixStream,
    /// A file descriptor of the operating system.
    Descriptor,
    /// An advisory lock of a file.
    FileLock,
}

impl ResourceKind {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Barrier => "Barrier",
            Self::Broadcast => "broadcast channel",
            Self::Mpsc => "mpsc channel",
            Self::Mutex => "Mutex",
            Self::Notify => "Notify",
            Self::OnceCell => "OnceCell",
            Self::Oneshot => "oneshot channel",
            Self::RwLock => "RwLock",
            Self::Semaphore => "Semaphore",
            Self::Task => "task",
            Self::Watch => "watch channel",
            Self::Disk => "disk",
            Self::BlockingPool => "blocking pool",
            Self::Word => "lock, condition or parked thread of std's kind",
            Self::SetOnce => "SetOnce",
            Self::Stream => "stream",
            Self::Pipe => "pipe",
            Self::TcpListener => "TcpListener",
            Self::TcpStream => "TcpStream",
            Self::UdpSocket => "UdpSocket",
            Self::UnixDatagram => "UnixDatagram",
            Self::UnixListener => "UnixListener",
            Self::UnixStream => "UnixStream",
            Self::Descriptor => "descriptor",
            Self::FileLock => "lock of a file",
        }
    }
}

/// What a task does with an object: the pending operation that a scheduler sees.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[repr(u8)]
#[non_exhaustive]
pub enum OpKind {
    /// Takes a permit.
    Acquire,
    /// Takes part in a barrier.
    Arrive,
    /// Says that nothing more will come.
    Close,
    /// Waits for the end of a task.
    Join,
    /// Takes a lock.
    Lock,
    /// Wakes waiters.
    Notify,
    /// Looks without changing anything.
    Read,
    /// Takes a message.
    Recv,
    /// Gives a permit back.
    Release,
    /// Gives a message.
    Send,
    /// Runs for the first time.
    #[default]
    Start,
    /// Gives a lock back.
    Unlock,
    /// Waits for a notification.
    Wait,
    /// Lets others run.
    Yield,
    /// Changes a file.
    Write,
    /// Waits for a word of memory to change.
    Park,
    /// Wakes who waits for a word of memory.
    Unpark,
    /// Takes a connection.
    Accept,
    /// Makes a connection.
    Connect,
}

impl OpKind {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Arrive => "wait",
            Self::Close => "close",
            Self::Join => "join",
            Self::Lock => "lock",
            Self::Notify => "notify",
            Self::Read => "read",
            Self::Recv => "recv",
            Self::Release => "release",
            Self::Send => "send",
            Self::Start => "start",
            Self::Unlock => "unlock",
            Self::Wait => "notified",
            Self::Yield => "yield",
            Self::Write => "write",
            Self::Park => "blocking wait",
            Self::Unpark => "wake of a blocked thread",
            Self::Accept => "accept",
            Self::Connect => "connect",
        }
    }

    /// Two operations of which this holds commute.
    #[inline]
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Read)
    }
}

/// Names a task for good: the slot may belong to another one by the time it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskTag {
    /// The packed waker of the task, 0 for none.
    pub(crate) word: u64,
    pub(crate) number: u32,
    pub(crate) name: u32,
}

impl TaskTag {
    /// Nobody: outside of any task.
    pub const NOBODY: Self = Self { word: 0, number: 0, name: 0 };

    /// Outside of any task?
    #[inline]
    pub fn is_nobody(self) -> bool {
        self.word == 0
    }
}

/// What somebody has to do with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Holds it: exact.
    Holds,
    /// Was the last to receive from it.
    LastReceived,
    /// Was the last to send to it.
    LastSent,
    /// Is the one to finish.
    Runs,
    /// Was the last to do anything with it.
    LastUsed,
    /// Had its other end when that was last seen.
    OtherEnd,
    /// Holds it together with others that read: exact.
    Reads,
    /// Holds it alone, to write: exact.
    Writes,
    /// Waits in front to write, and no reader passes it: exact.
    Ahead,
}

/// Somebody who has to do with a resource.
#[derive(Clone, Copy, Debug)]
pub struct Party {
    /// Who.
    pub task: TaskTag,
    /// What.
    pub role: Role,
    /// Since which line.
    pub site: &'static Location<'static>,
    /// How many permits.
    pub count: u32,
}

/// The identity and history of a shared thing.
#[derive(Debug)]
pub struct Object {
    site: &'static Location<'static>,
    /// The run that the fields below belong to; 0 for none yet.
    run: u64,
    sig: u64,
    /// History of the last write.
    write: u64,
    /// Sum of the histories of the reads since.
    reads: u64,
    /// How many wait for it, or keep a place.
    waiters: u32,
    /// Place in the wait graph, while somebody does.
    node: u32,
    kind: ResourceKind,
}

impl Object {
    /// A thing created at `site`; the run it is first used in gives it its signature.
    #[inline]
    pub const fn new(kind: ResourceKind, site: &'static Location<'static>) -> Self {
        Self { site, run: 0, sig: 0, write: 0, reads: 0, waiters: 0, node: 0, kind }
    }

    /// Where it was created.
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }

    /// Where it was created, as reports name it.
    pub fn shown_site(&self) -> String {
        site::shown(self.site)
    }

    /// Its kind.
    #[inline]
    pub fn kind(&self) -> ResourceKind {
        self.kind
    }

    /// `Mutex of src/pool.rs:88`.
    pub(crate) fn shown(&self) -> String {
        format!("{} of {}", self.kind.word(), site::shown(self.site))
    }

    #[inline]
    pub(crate) fn bind(&mut self, kernel: &mut Kernel) {
        if !self.is_of(kernel.id()) {
            self.rebind(kernel);
        }
    }

    /// Is it known in this run?
    #[inline]
    pub(crate) fn is_of(&self, run: u64) -> bool {
        self.run == run
    }

    #[cold]
    fn rebind(&mut self, kernel: &mut Kernel) {
        self.run = kernel.id();
        self.sig = kernel.object_signature(self.site, self.kind);
        (self.write, self.reads, self.waiters) = (self.sig, 0, 0);
    }

    /// The signature: the creating task's, the site, the ordinal there.
    pub(crate) fn sig(&self) -> u64 {
        self.sig
    }

    /// Folds an operation of a task, with history `task`, into the object's. The operation's hash.
    #[inline]
    pub(crate) fn operate(&mut self, task: u64, kind: OpKind) -> u64 {
        let event = mix(task.wrapping_add(kind as u64 + 1), self.write);
        if kind.is_read() {
            self.reads = self.reads.wrapping_add(event);
            return event;
        }
        let event = event.wrapping_add(self.reads);
        (self.write, self.reads) = (event, 0);
        event
    }
}

/// A queued wait. Whoever queues it gives it back to [`Block::wake`] or [`Block::cancel`].
#[derive(Debug)]
#[must_use = "a waiter that is not queued is never woken"]
pub struct Waiter {
    waker: Waker,
    /// Place in the graph plus one; 0 for a wait outside of any run.
    record: u32,
}

/// The operations of the blocking core. `kernel` is what [`crate::bound::In::both`] gives: `None`
/// outside of a run, where a wait is queued without a record.
#[derive(Debug)]
pub struct Block;

impl Block {
    /// Queues the current task: it waits at `site` for `object`, which `parties` have.
    #[inline]
    pub fn wait(
        kernel: Option<&mut Kernel>,
        object: &mut Object,
        op: OpKind,
        site: &'static Location<'static>,
        parties: &[Party],
        waker: Waker,
    ) -> Waiter {
        let record = kernel.map_or(0, |kernel| kernel.begin_wait(object, op, site, parties));
        Waiter { waker, record }
    }

    /// As [`Self::wait`], in a section of the run's own after [`Kernel::waits_at_once`]. No parties: others
    /// wait for the object, and whoever they wait for is whom this one waits for.
    #[inline]
    pub fn wait_own(
        kernel: &mut Kernel,
        object: &mut Object,
        (op, site): (OpKind, &'static Location<'static>),
        parties: Option<&[Party]>,
        waker: Waker,
    ) -> Waiter {
        let tell = |resource: &mut Resource| {
            if let Some(parties) = parties {
                resource.set_parties(parties);
            }
        };
        Waiter { waker, record: kernel.enter_wait(object, op, site, tell) }
    }

    /// The same for an object that one has, or nobody.
    #[inline]
    pub fn wait_for(
        kernel: &mut Kernel,
        object: &mut Object,
        (op, site): (OpKind, &'static Location<'static>),
        party: Option<Party>,
        waker: Waker,
    ) -> Waiter {
        let tell = |resource: &mut Resource| resource.set_party(party);
        Waiter { waker, record: kernel.enter_wait(object, op, site, tell) }
    }

    /// A queued wait is polled again: the waker to keep. Gives the old one back for disposal.
    #[inline]
    pub fn renew(kernel: Option<&mut Kernel>, waiter: &mut Waiter, waker: Waker) -> Waker {
        if let Some(kernel) = kernel {
            let stack = kernel.captures_stacks().then(Stack::capture);
            let word = kernel.word();
            if let Some(wait) = kernel.wait_mut(waiter.record) {
                (wait.task, wait.suspect) = (word, false);
                if stack.is_some() {
                    wait.stack = stack;
                }
            }
        }
        std::mem::replace(&mut waiter.waker, waker)
    }

    /// Ends a wait: the waker is to be woken through [`crate::bound::In::wake`].
    #[inline]
    #[must_use]
    pub fn wake(kernel: Option<&mut Kernel>, object: &mut Object, waiter: Waiter) -> Waker {
        if let Some(kernel) = kernel {
            kernel.end_wait(object, waiter.record);
        }
        waiter.waker
    }

    /// As [`Self::wake`], in a section of the run's own, and the task is woken. The waker of any other
    /// comes back.
    #[inline(never)]
    #[must_use]
    pub fn wake_own(kernel: &mut Kernel, object: &mut Object, waiter: Waiter) -> Option<Waker> {
        kernel.end_wait(object, waiter.record);
        kernel.wake_by(waiter.waker)
    }

    /// The waiter has been given what it waits for, and stays queued until it comes to take it
    /// or gives up. What it keeps in place of its waker is nobody's word: one of ours, so that its
    /// disposal is not put off as a foreign one's is.
    #[inline]
    pub fn grant(kernel: Option<&mut Kernel>, waiter: &mut Waiter) -> Waker {
        if let Some(wait) = kernel.and_then(|kernel| kernel.wait_mut(waiter.record)) {
            wait.stage = Stage::Granted;
        }
        std::mem::replace(&mut waiter.waker, waker::nobody())
    }

    /// As [`Self::grant`], in a section of the run's own, and the task is woken. The waker of any other
    /// comes back.
    #[inline(always)]
    #[must_use]
    pub fn grant_own(kernel: &mut Kernel, waiter: &mut Waiter) -> Option<Waker> {
        let waker = Self::grant(Some(kernel), waiter);
        kernel.wake_by(waker)
    }

    /// The waiter took what it was granted, in a section of the run's own.
    #[inline(always)]
    pub fn end_granted(kernel: &mut Kernel, object: &mut Object, waiter: Waiter) {
        kernel.leave_wait(object, waiter.record);
        // Nobody's, since the grant: the compiler cannot see that there is nothing to drop.
        debug_assert_eq!(waker::ours(&waiter.waker), Some(waker::NOBODY));
        std::mem::forget(waiter.waker);
    }

    /// The waiter took what it was granted, or gave up. The waker is to be disposed of through
    /// [`crate::bound::In::dispose`].
    #[inline]
    #[must_use]
    pub fn cancel(kernel: Option<&mut Kernel>, object: &mut Object, waiter: Waiter) -> Waker {
        Self::wake(kernel, object, waiter)
    }

    /// Who waits for an object, and to do what, the longest wait first.
    pub fn waiting(kernel: &Kernel, object: &Object) -> Vec<(TaskTag, OpKind)> {
        if object.waiters == 0 || object.run != kernel.id() {
            return Vec::new();
        }
        let waits = kernel.graph.waits().filter(|wait| wait.object == object.node);
        let mut waits: Vec<_> = waits
            .map(|wait| (wait.since, kernel.tag_of_word(wait.task).number, wait.op, wait.task))
            .collect();
        waits.sort_unstable();
        waits.into_iter().map(|(.., op, task)| (kernel.tag_of_word(task), op)).collect()
    }

    /// Whoever has the object has changed: told to the graph while somebody waits.
    #[inline(always)]
    pub fn held_by(kernel: Option<&mut Kernel>, object: &Object, parties: &[Party]) {
        if object.waiters == 0 {
            return;
        }
        let Some(kernel) = kernel.filter(|kernel| kernel.id() == object.run) else { return };
        kernel.graph.set_parties(object, parties);
    }
}

impl Kernel {
    /// The current task begins to wait: the record of that.
    #[inline(never)]
    fn begin_wait(
        &mut self,
        object: &mut Object,
        op: OpKind,
        site: &'static Location<'static>,
        parties: &[Party],
    ) -> u32 {
        object.bind(self);
        let record = self.enter_wait(object, op, site, |resource| resource.set_parties(parties));
        if self.captures_stacks() {
            self.note_wait(object, op, site, record);
        }
        record
    }

    #[inline(always)]
    fn enter_wait(
        &mut self,
        object: &mut Object,
        op: OpKind,
        site: &'static Location<'static>,
        tell: impl FnOnce(&mut Resource),
    ) -> u32 {
        let wait = (self.word(), op, site, self.steps());
        self.graph.enter(object, tell, wait) + 1
    }

    /// What a recorded run, and one that is diagnosed, knows of a wait beside.
    #[cold]
    fn note_wait(
        &mut self,
        object: &Object,
        op: OpKind,
        site: &'static Location<'static>,
        record: u32,
    ) {
        if let Some(wait) = self.wait_mut(record) {
            wait.stack = Some(Stack::capture());
        }
        self.record_blocked(object, op, site);
    }

    /// The current task waits from now on.
    fn record_blocked(&mut self, object: &Object, op: OpKind, site: &'static Location<'static>) {
        self.record_with(|kernel| Event::Blocked {
            task: kernel.current_number(),
            op,
            object: kernel.recorder.object(object),
            site: kernel.recorder.site(site),
        });
    }

    /// A wait for the object is over.
    #[inline(never)]
    fn end_wait(&mut self, object: &mut Object, record: u32) {
        self.leave_wait(object, record);
    }

    #[inline(always)]
    fn leave_wait(&mut self, object: &mut Object, record: u32) {
        if record != 0 && object.is_of(self.id()) {
            self.graph.leave(object, record - 1);
        }
    }
}

#[cfg(test)]
mod tests;
