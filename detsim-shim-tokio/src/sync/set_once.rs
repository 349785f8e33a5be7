//! Cells that are set once, and waited for.
//!
//! Mirrors tokio's. Owns: [`SetOnce`]. Invariant: whoever waits is woken after the value was put in.

use crate::sync::batch_semaphore::operate;
use crate::sync::last::Last;
use crate::sync::point::{self, HasObject};
use crate::sync::queue::Queue;
use crate::sync::until::{Until, Waits, wake_all};
use detsim_executor::{Bound, In, Object, OpKind, ResourceKind, Role};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::OnceLock;
use std::task::{Context, Poll};

/// A value that is put in once, and that others wait for.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{join, sync::SetOnce};
/// let sim = detsim_executor::Sim::new(7);
/// let got = sim.block_on(async {
///     let cell = SetOnce::new();
///     let (got, set) = join!(async { *cell.wait().await }, async { cell.set(3) });
///     (got, set.is_ok())
/// });
/// assert_eq!(got.unwrap(), (3, true));
/// ```
pub struct SetOnce<T> {
    /// The value of a cell that was made with one.
    given: Option<T>,
    set: OnceLock<T>,
    core: Core,
}

/// A value that was not put in, since there was one already.
// Not tokio's own: that is younger than the oldest tokio below us.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError")
    }
}

impl<T: fmt::Debug> std::error::Error for SetOnceError<T> {}

/// What a cell has beside its value.
struct Core {
    state: Bound<State>,
}

struct State {
    object: Object,
    is_set: bool,
    last_looked: Last,
    queue: Queue<()>,
}

impl HasObject for State {
    fn object(&mut self) -> &mut Object {
        &mut self.object
    }
}

// No panic leaves the state half changed.
impl UnwindSafe for Core {}
impl RefUnwindSafe for Core {}

fn waits(state: &mut State) -> Waits<'_> {
    let party = state.last_looked.party(Role::LastUsed);
    Waits { object: &mut state.object, queue: &mut state.queue, party }
}

impl Core {
    const fn state(is_set: bool, site: &'static Location<'static>) -> State {
        let object = Object::new(ResourceKind::SetOnce, site);
        State { object, is_set, last_looked: Last::NOBODY, queue: Queue::new() }
    }

    fn is_set(&self) -> bool {
        let mut section = point::enter(&self.state, OpKind::Read);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Read);
        state.is_set
    }

    /// The value was put in.
    fn announce(&self) {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Send);
        state.is_set = true;
        wake_all(&mut section, waits);
    }

    /// Somebody found the value there already.
    fn refuse(&self, site: &'static Location<'static>) {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        let task = operate(kernel, &mut state.object, OpKind::Read);
        state.last_looked = Last::new(task, site);
    }
}

impl<T> SetOnce<T> {
    /// A cell without a value.
    #[track_caller]
    pub fn new() -> Self {
        let state = Bound::new(Core::state(false, Location::caller()));
        Self { given: None, set: OnceLock::new(), core: Core { state } }
    }

    /// A cell without a value, for a static.
    #[track_caller]
    pub const fn const_new() -> Self {
        let state = Bound::unbound(Core::state(false, Location::caller()));
        Self { given: None, set: OnceLock::new(), core: Core { state } }
    }

    /// A cell with this value, or without one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        value.map_or_else(Self::new, Self::from)
    }

    /// A cell with a value, for a static.
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        let state = Bound::unbound(Core::state(true, Location::caller()));
        Self { given: Some(value), set: OnceLock::new(), core: Core { state } }
    }

    /// Whether the value is there.
    pub fn initialized(&self) -> bool {
        self.core.is_set()
    }

    /// The value, if it is there.
    pub fn get(&self) -> Option<&T> {
        if self.initialized() { self.value() } else { None }
    }

    fn value(&self) -> Option<&T> {
        self.given.as_ref().or_else(|| self.set.get())
    }

    /// Puts the value in, and wakes whoever waits for it.
    ///
    /// # Errors
    /// The value again, where there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        point::before(&self.core.state, OpKind::Send);
        let refused = match self.given {
            Some(_) => Err(value),
            None => self.set.set(value),
        };
        match refused {
            Ok(()) => {
                self.core.announce();
                Ok(())
            }
            Err(value) => {
                self.core.refuse(Location::caller());
                Err(SetOnceError(value))
            }
        }
    }

    /// The value of a cell that is no longer needed.
    pub fn into_inner(self) -> Option<T> {
        self.given.or_else(|| self.set.into_inner())
    }

    /// Waits for the value. Cancel safe.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        let site = Location::caller();
        async move {
            let mut waiting = Waiting { core: &self.core, until: Until::new(OpKind::Wait, site) };
            poll_fn(|cx| waiting.poll(cx)).await;
            self.value().expect("invariant: the value is put in before it is said to be there")
        }
    }
}

/// A wait for the value.
struct Waiting<'a> {
    core: &'a Core,
    until: Until,
}

impl Waiting<'_> {
    fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        if let Some(mut section) = self.core.state.enter_own()
            && let (state, kernel) = section.both()
            && state.is_set
            && self.until.ends_at_once(kernel, waits(state))
        {
            return Poll::Ready(());
        }
        let is_over = |section: &mut In<'_, State>| section.is_set.then_some(());
        self.until.poll(&self.core.state, cx, waits, is_over)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.until.cancel(&self.core.state, waits);
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for SetOnce<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let state = Bound::new(Core::state(true, Location::caller()));
        Self { given: Some(value), set: OnceLock::new(), core: Core { state } }
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce").field("value", &self.get()).finish()
    }
}
