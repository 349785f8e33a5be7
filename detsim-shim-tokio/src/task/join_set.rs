//! Sets of tasks, joined as they end.
//!
//! Mirrors tokio's. Owns: [`JoinSet`]. Does not own: the tasks; a set has their handles, and is their end.
//!
//! Invariants: a handle is polled only after its task has ended, or to begin to wait for that; whichever
//! task ends first is joined first; the tasks are aborted with the set.

use crate::runtime::Handle;
use crate::task::coop::{self, Unlimited};
use crate::task::{AbortHandle, Id, JoinError, JoinHandle, LocalSet};
use detsim_executor::Bound;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{RefUnwindSafe, UnwindSafe, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Wake, Waker};

/// Tasks that are joined in the order in which they end. Dropping the set aborts them.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{runtime::Runtime, task::JoinSet};
/// let runtime = Runtime::new().unwrap();
/// let mut all = runtime.block_on(async {
///     let set: JoinSet<_> = (0..3).map(|i| async move { i }).collect();
///     set.join_all().await
/// });
/// all.sort();
/// assert_eq!(all, [0, 1, 2]);
/// ```
pub struct JoinSet<T> {
    tasks: BTreeMap<u64, Member<T>>,
    made: u64,
    woken: Arc<Woken>,
}

struct Member<T> {
    handle: JoinHandle<T>,
    /// Says that the task has ended.
    wakes: Arc<Wakes>,
    waker: Waker,
}

/// Which members are to be polled, and who waits for one of them.
struct Woken {
    state: Bound<State>,
}

#[derive(Default)]
struct State {
    members: VecDeque<u64>,
    waiter: Option<Waker>,
}

/// Wakes one member.
struct Wakes {
    woken: Arc<Woken>,
    member: u64,
    /// It is among the woken. Written in a section of their state only.
    is_woken: AtomicBool,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut section = self.woken.state.enter();
        if !self.is_woken.swap(true, Relaxed) {
            section.members.push_back(self.member);
        }
        if let Some(waiter) = section.waiter.take() {
            section.wake(waiter);
        }
    }
}

impl<T> JoinSet<T> {
    /// A set without tasks.
    pub fn new() -> Self {
        let woken = Arc::new(Woken { state: Bound::new(State::default()) });
        Self { tasks: BTreeMap::new(), made: 0, woken }
    }

    /// How many tasks were not joined yet.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether all tasks were joined.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task on the current runtime.
    ///
    /// # Panics
    /// Outside of a runtime, in tokio's words.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(crate::task::spawn(task))
    }

    /// Spawns a task on a runtime.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(task))
    }

    /// Spawns a task on the current [`LocalSet`] or `LocalRuntime`.
    ///
    /// # Panics
    /// Outside of both, in tokio's words.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(crate::task::spawn_local(task))
    }

    /// Spawns a task on a [`LocalSet`].
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(local_set.spawn_local(task))
    }

    /// Runs a closure where it may block, on the current runtime.
    ///
    /// # Panics
    /// Outside of a runtime, in tokio's words.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(crate::task::spawn_blocking(f))
    }

    /// Runs a closure where it may block, on a runtime.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(f))
    }

    fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let member = self.made;
        self.made += 1;
        let woken = Arc::clone(&self.woken);
        let wakes = Arc::new(Wakes { woken, member, is_woken: AtomicBool::new(false) });
        // The first poll begins the wait.
        wakes.wake_by_ref();
        let waker = Waker::from(Arc::clone(&wakes));
        self.tasks.insert(member, Member { handle, wakes, waker });
        abort
    }

    /// Waits for the next task to end; `None` where there is none left. Cancel safe.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// As [`Self::join_next`], and says which task it was. That of an error is in the error.
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// A task that has ended; `None` where none has, or none is left.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// As [`Self::try_join_next`], and says which task it was.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let _unlimited = Unlimited::begin();
        while let Some(member) = self.next_woken() {
            if let Poll::Ready(joined) = self.poll_member(member) {
                return Some(joined);
            }
        }
        None
    }

    /// Polls for the next task to end.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(|joined| joined.map(without_id))
    }

    /// As [`Self::poll_join_next`], and says which task it was.
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.tasks.is_empty() {
            return Poll::Ready(None);
        }
        // Who has no budget left wakes itself: the others are not to be asked for nothing.
        while coop::has_budget_remaining() {
            let Some(member) = self.next_woken() else { break };
            if let Poll::Ready(joined) = self.poll_member(member) {
                return Poll::Ready(Some(joined));
            }
        }
        self.wait_with(cx.waker().clone());
        Poll::Pending
    }

    fn wait_with(&self, waker: Waker) {
        let mut section = self.woken.state.enter();
        if !section.members.is_empty() {
            return section.wake(waker);
        }
        let old = section.waiter.replace(waker);
        section.dispose(old);
    }

    fn next_woken(&self) -> Option<u64> {
        self.woken.state.enter().members.pop_front()
    }

    fn poll_member(&mut self, member: u64) -> Poll<Result<(Id, T), JoinError>> {
        let Some(Member { handle, wakes, waker }) = self.tasks.get_mut(&member) else {
            return Poll::Pending;
        };
        let section = self.woken.state.enter();
        wakes.is_woken.store(false, Relaxed);
        drop(section);
        let id = handle.id();
        let polled = Pin::new(handle).poll(&mut Context::from_waker(waker));
        if polled.is_ready() {
            self.tasks.remove(&member);
        }
        polled.map(|joined| joined.map(|output| (id, output)))
    }

    /// Aborts all tasks, and waits until they have ended.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Waits for all tasks: their results, in the order in which they ended.
    ///
    /// # Panics
    /// Where a task panicked, with its panic, or was aborted; the others are aborted then.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(joined) = self.join_next().await {
            match joined.map_err(JoinError::try_into_panic) {
                Ok(output) => outputs.push(output),
                Err(Ok(payload)) => resume_unwind(payload),
                Err(Err(error)) => panic!("{error}"),
            }
        }
        outputs
    }

    /// Aborts all tasks. They are still to be joined.
    pub fn abort_all(&mut self) {
        self.tasks.values().for_each(|member| member.handle.abort());
    }

    /// Lets go of all tasks: they run on.
    pub fn detach_all(&mut self) {
        self.tasks.clear();
    }
}

fn without_id<T>(joined: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    joined.map(|(_, output)| output)
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.tasks.values().for_each(|member| member.handle.abort());
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

// As tokio's; nothing of a set is ever seen half done.
impl<T> UnwindSafe for JoinSet<T> {}
impl<T> RefUnwindSafe for JoinSet<T> {}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(iter: I) -> Self {
        let mut set = Self::new();
        set.extend(iter);
        set
    }
}

impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, iter: I) {
        iter.into_iter().for_each(|task| {
            self.spawn(task);
        });
    }
}
