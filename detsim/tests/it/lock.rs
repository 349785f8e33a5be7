//! A lock without a guard, on the kernel's blocking core: the smallest thing to race about.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll};

use detsim_executor::{Block, Bound, Object, OpKind, Party, ResourceKind, Role, Waiter, storable};

/// Taken and given back by hand.
pub(crate) struct Lock(Bound<State>);

struct State {
    object: Object,
    holder: Option<Party>,
    queue: VecDeque<(u64, Waiter)>,
    granted: Option<u64>,
    tickets: u64,
}

/// What one future of a take keeps.
#[derive(Default)]
struct Turn {
    asked: bool,
    ticket: Option<u64>,
}

impl Lock {
    #[track_caller]
    pub(crate) fn new() -> Rc<Self> {
        let object = Object::new(ResourceKind::Mutex, Location::caller());
        let queue = VecDeque::new();
        Rc::new(Self(Bound::new(State { object, holder: None, queue, granted: None, tickets: 0 })))
    }

    #[track_caller]
    pub(crate) fn take(self: &Rc<Self>) -> impl Future<Output = ()> + use<> {
        let (lock, site, mut turn) = (Rc::clone(self), Location::caller(), Turn::default());
        poll_fn(move |cx| lock.poll_take(cx, site, &mut turn))
    }

    fn poll_take(
        &self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
        turn: &mut Turn,
    ) -> Poll<()> {
        let mut foreign = Some(cx.waker().clone());
        let mut section = self.0.enter();
        let (state, kernel) = section.both();
        let kernel = kernel.expect("used in a run only");
        if kernel.stops_before(&mut state.object, OpKind::Lock, &mut turn.asked, cx.waker()) {
            return Poll::Pending;
        }
        let is_next = turn.ticket.is_some() && state.granted == turn.ticket;
        if is_next || (state.holder.is_none() && state.granted.is_none()) {
            let party = Party { task: kernel.current_tag(), role: Role::Holds, site, count: 1 };
            (state.granted, state.holder) = (None, Some(party));
            kernel.operate(&mut state.object, OpKind::Lock);
            return Poll::Ready(());
        }
        if turn.ticket.is_none() {
            let waker = storable(cx, &mut foreign).expect("cloned above");
            let (parties, object) = (state.holder.as_slice(), &mut state.object);
            let waiter = Block::wait(Some(kernel), object, OpKind::Lock, site, parties, waker);
            state.tickets += 1;
            turn.ticket = Some(state.tickets);
            state.queue.push_back((state.tickets, waiter));
        }
        Poll::Pending
    }

    pub(crate) fn give_back(&self) {
        let mut section = self.0.enter();
        let (state, mut kernel) = section.both();
        state.holder = None;
        if let Some(kernel) = kernel.as_deref_mut() {
            kernel.operate(&mut state.object, OpKind::Unlock);
        }
        Block::held_by(kernel.as_deref_mut(), &state.object, &[]);
        if let Some((ticket, waiter)) = state.queue.pop_front() {
            state.granted = Some(ticket);
            let waker = Block::wake(kernel, &mut state.object, waiter);
            section.wake(waker);
        }
    }
}
