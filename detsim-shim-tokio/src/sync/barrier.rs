//! Barriers.
//!
//! Mirrors tokio's. Owns: [`Barrier`]. Invariant: who has arrived counts, whether or not it still waits.

use crate::sync::batch_semaphore::{Halt, operate};
use crate::sync::last::Last;
use crate::sync::queue::Queue;
use crate::sync::until::{Until, Waits, wake_all};
use detsim_executor::{Bound, In, Object, OpKind, ResourceKind, Role};
use std::future::{Future, poll_fn};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll};

/// Lets tasks go on when so many have arrived.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{join, sync::Barrier};
/// let sim = detsim_executor::Sim::new(7);
/// let leaders = sim.block_on(async {
///     let barrier = Barrier::new(2);
///     let (one, other) = join!(barrier.wait(), barrier.wait());
///     [one, other].iter().filter(|result| result.is_leader()).count()
/// });
/// assert_eq!(leaders.unwrap(), 1);
/// ```
#[derive(Debug)]
pub struct Barrier {
    state: Bound<State>,
}

#[derive(Debug)]
struct State {
    object: Object,
    size: usize,
    arrived: usize,
    /// How often so many have arrived.
    generation: u64,
    last_arrived: Last,
    queue: Queue<()>,
}

/// Whether a task was the last to arrive.
#[derive(Debug, Clone)]
pub struct BarrierWaitResult(bool);

// No panic leaves the state half changed.
impl UnwindSafe for Barrier {}
impl RefUnwindSafe for Barrier {}

fn waits(state: &mut State) -> Waits<'_> {
    let party = state.last_arrived.party(Role::LastUsed);
    Waits { object: &mut state.object, queue: &mut state.queue, party }
}

impl Barrier {
    /// A barrier for `n` tasks; one is never held up by a barrier for none.
    #[track_caller]
    pub fn new(n: usize) -> Self {
        let state = State {
            object: Object::new(ResourceKind::Barrier, Location::caller()),
            size: n.max(1),
            arrived: 0,
            generation: 0,
            last_arrived: Last::NOBODY,
            queue: Queue::new(),
        };
        Self { state: Bound::new(state) }
    }

    /// Arrives, and waits until all have. Not cancel safe: who has arrived counts.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        let site = Location::caller();
        async move {
            let until = Until::new(OpKind::Arrive, site);
            let mut waiting =
                Waiting { barrier: self, site, until, asked: false, generation: None };
            poll_fn(|cx| waiting.poll(cx)).await
        }
    }
}

impl BarrierWaitResult {
    /// Whether this task was the last to arrive: true for one of them.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

/// A wait for the others.
struct Waiting<'a> {
    barrier: &'a Barrier,
    site: &'static Location<'static>,
    until: Until,
    asked: bool,
    /// The generation that it arrived in, once it has.
    generation: Option<u64>,
}

impl Waiting<'_> {
    fn poll(&mut self, cx: &Context<'_>) -> Poll<BarrierWaitResult> {
        let generation = match self.generation {
            Some(generation) => generation,
            None => match self.arrive(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(BarrierWaitResult(true)),
                Poll::Ready(Some(generation)) => *self.generation.insert(generation),
            },
        };
        if let Some(mut section) = self.barrier.state.enter_own()
            && let (state, kernel) = section.both()
            && state.generation > generation
            && self.until.ends_at_once(kernel, waits(state))
        {
            return Poll::Ready(BarrierWaitResult(false));
        }
        let is_over = |section: &mut In<'_, State>| (section.generation > generation).then_some(());
        let polled = self.until.poll(&self.barrier.state, cx, waits, is_over);
        polled.map(|()| BarrierWaitResult(false))
    }

    /// Arrives: the generation, `None` where all have arrived by that.
    fn arrive(&mut self, cx: &Context<'_>) -> Poll<Option<u64>> {
        let mut section = self.barrier.state.enter();
        let (state, mut kernel) = section.both();
        if let Some(kernel) = kernel.as_deref_mut()
            && let (object, asked) = (&mut state.object, &mut self.asked)
            && let Some(halt) = Halt::before(kernel, object, OpKind::Arrive, asked, cx.waker())
        {
            drop(section);
            return halt.pending(cx);
        }
        let task = operate(kernel, &mut state.object, OpKind::Arrive);
        state.last_arrived = Last::new(task, self.site);
        state.arrived += 1;
        if state.arrived < state.size {
            return Poll::Ready(Some(state.generation));
        }
        state.arrived = 0;
        state.generation += 1;
        wake_all(&mut section, waits);
        Poll::Ready(None)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.until.cancel(&self.barrier.state, waits);
    }
}
