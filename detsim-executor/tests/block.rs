//! The blocking core under a lock of one's own: what every primitive of the shim relies on.

use detsim_executor::{
    Block, Bound, Choice, ChoiceNote, Decided, Failure, Object, OpKind, Party, ResourceKind, Role,
    Sim, SimConfig, Waiter, context, sleep_until, storable,
};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A lock without a guard: taken and given back by hand.
struct Lock(Bound<State>);

struct State {
    object: Object,
    holder: Option<Party>,
    queue: VecDeque<(u64, Waiter)>,
    granted: Option<u64>,
    tickets: u64,
}

impl Lock {
    #[track_caller]
    fn new() -> Rc<Self> {
        let object = Object::new(ResourceKind::Mutex, Location::caller());
        let queue = VecDeque::new();
        Rc::new(Self(Bound::new(State { object, holder: None, queue, granted: None, tickets: 0 })))
    }

    #[track_caller]
    fn take(self: &Rc<Self>) -> impl Future<Output = ()> + use<> {
        let (lock, site) = (Rc::clone(self), Location::caller());
        let (mut asked, mut ticket) = (false, None);
        poll_fn(move |cx| lock.poll_take(cx, site, &mut asked, &mut ticket))
    }

    fn poll_take(
        &self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
        asked: &mut bool,
        ticket: &mut Option<u64>,
    ) -> Poll<()> {
        let mut foreign = Some(cx.waker().clone());
        let mut section = self.0.enter();
        let (state, kernel) = section.both();
        let kernel = kernel.expect("used in a run only");
        if kernel.stops_before(&mut state.object, OpKind::Lock, asked, cx.waker()) {
            return Poll::Pending;
        }
        let party = Party { task: kernel.current_tag(), role: Role::Holds, site, count: 1 };
        let turn = ticket.is_some() && state.granted == *ticket;
        if turn || (state.holder.is_none() && state.granted.is_none()) {
            (state.granted, state.holder) = (None, Some(party));
            kernel.operate(&mut state.object, OpKind::Lock);
            return Poll::Ready(());
        }
        if ticket.is_none() {
            let waker = storable(cx, &mut foreign).expect("cloned above");
            let parties = state.holder.as_slice();
            let object = &mut state.object;
            let waiter = Block::wait(Some(kernel), object, OpKind::Lock, site, parties, waker);
            state.tickets += 1;
            *ticket = Some(state.tickets);
            state.queue.push_back((state.tickets, waiter));
        }
        Poll::Pending
    }

    fn give_back(&self) {
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

#[test]
fn a_wait_ends_when_the_lock_is_given_back() {
    for seed in 0..50 {
        let sim = Sim::new(seed);
        let lock = Lock::new();
        let tasks = (0..4).map(|_| {
            let lock = Rc::clone(&lock);
            sim.spawn("t", async move {
                for _ in 0..5 {
                    lock.take().await;
                    sleep_until(context::now() + Duration::from_millis(1)).await;
                    lock.give_back();
                }
            })
        });
        tasks.for_each(drop);
        assert_eq!(sim.run().unwrap().completed, 4);
    }
}

#[test]
fn a_cycle_is_named_with_holders_and_lines() {
    let sim = Sim::new(3);
    let (a, b) = (Lock::new(), Lock::new());
    for (name, first, second) in [("ab", &a, &b), ("ba", &b, &a)] {
        let (first, second) = (Rc::clone(first), Rc::clone(second));
        drop(sim.spawn(name, async move {
            first.take().await;
            sleep_until(context::now() + Duration::from_millis(1)).await;
            second.take().await;
        }));
    }
    let failure = sim.run().unwrap_err();
    let Failure::Deadlock(deadlock) = &failure else { panic!("{failure}") };
    assert_eq!(deadlock.cycles, [[0, 1]]);
    let text = failure.to_string();
    assert!(text.contains("held by task 1 \"ba\" at "), "{text}");
    assert!(text.contains("cycle: task 0 \"ab\" -> task 1 \"ba\" -> task 0 \"ab\""), "{text}");
    assert!(text.contains("stack: "), "{text}");
    assert!(text.contains("tests/block.rs:"), "{text}");
}

#[test]
fn the_shape_is_of_conflicts_and_the_order_of_everything() {
    let run = |seed, shared: bool| {
        let sim = Sim::new(seed);
        let locks = [Lock::new(), Lock::new()];
        for index in 0..2 {
            let lock = Rc::clone(&locks[if shared { 0 } else { index }]);
            drop(sim.spawn(["a", "b"][index], async move {
                for _ in 0..3 {
                    lock.take().await;
                    lock.give_back();
                }
            }));
        }
        sim.run().unwrap().hash
    };
    let count = |shared| {
        let hashes: Vec<_> = (0..40).map(|seed| run(seed, shared)).collect();
        let shapes: std::collections::BTreeSet<_> = hashes.iter().map(|h| h.shape).collect();
        let orders: std::collections::BTreeSet<_> = hashes.iter().map(|h| h.order).collect();
        (shapes.len(), orders.len())
    };
    let (shapes, orders) = count(false);
    assert_eq!(shapes, 1, "independent locks have one shape");
    assert!(orders > 1);
    assert!(count(true).0 > 1, "orders of one lock are shapes");
}

/// Workers that take and give back two locks, one inside the other, in the same order.
fn contended(seed: u64, record: bool, replay: Option<Vec<Choice>>) -> Sim {
    let mut config = SimConfig::default();
    (config.record, config.replay) = (record, replay);
    let sim = Sim::with_config(seed, config);
    let (outer, inner) = (Lock::new(), Lock::new());
    for index in 0..4 {
        let (outer, inner) = (Rc::clone(&outer), Rc::clone(&inner));
        drop(sim.spawn(format!("t{index}"), async move {
            for round in 0..3 {
                outer.take().await;
                inner.take().await;
                inner.give_back();
                outer.give_back();
                if round == index {
                    sleep_until(context::now() + Duration::from_millis(1)).await;
                }
            }
        }));
    }
    sim.run().unwrap();
    sim
}

#[test]
fn all_choices_of_a_run_replay_it_to_the_hash() {
    for seed in 0..200 {
        let first = contended(seed, true, None);
        let choices = first.recorded_choices();
        let again = contended(seed, false, Some(choices.clone()));
        assert_eq!((again.hash(), again.unused_choices()), (first.hash(), 0), "seed {seed}");
        assert_eq!(again.recorded_choices(), choices, "seed {seed}");
    }
}

#[test]
fn what_took_effect_of_a_subset_is_the_same_run() {
    for seed in 0..200 {
        let choices = contended(seed, true, None).recorded_choices();
        let half: Vec<Choice> = choices.into_iter().step_by(2).collect();
        let first = contended(seed, false, Some(half));
        let taken = first.recorded_choices();
        let again = contended(seed, false, Some(taken.clone()));
        assert_eq!((again.hash(), again.recorded_choices()), (first.hash(), taken), "seed {seed}");
    }
}

#[test]
fn a_choice_is_told_with_task_operation_and_place() {
    let is_stop = |note: &&ChoiceNote| matches!(note.decided, Decided::Stopped { .. });
    let told = |seed| {
        let sim = contended(seed, true, None);
        let (choices, notes) = (sim.recorded_choices(), sim.recorded_notes());
        assert_eq!(choices.len(), notes.len());
        notes.iter().any(|note| is_stop(&note)).then_some(notes)
    };
    let notes = (0..50).find_map(told).expect("a random walk stops tasks");
    let stopped = notes.iter().find(is_stop).expect("looked for above");
    assert!(stopped.task.starts_with("task ") && stopped.task.contains("\"t"), "{stopped:?}");
    let Decided::Stopped { op, object } = &stopped.decided else { unreachable!() };
    assert_eq!(op, "lock");
    assert!(object.contains(" of detsim-executor/tests/block.rs:"), "{object}");
    assert!(stopped.stack[0].contains("tests/block.rs:"), "{:?}", stopped.stack);
    let ran = notes.iter().find(|note| matches!(note.decided, Decided::Ran { .. }));
    let Decided::Ran { task, instead_of } = &ran.expect("a random walk picks").decided else {
        unreachable!()
    };
    assert_ne!(task, instead_of);
}

/// Where one after the other waits for the same thing, in one place of the wait graph.
struct Seat(Bound<(Object, Option<Waiter>, bool)>);

impl Seat {
    fn poll_wait(
        &self,
        cx: &mut Context<'_>,
        how: (OpKind, &'static Location<'static>),
    ) -> Poll<()> {
        let mut foreign = Some(cx.waker().clone());
        let mut section = self.0.enter();
        let (&mut (ref mut object, ref mut seat, ref mut is_met), kernel) = section.both();
        let kernel = kernel.expect("used in a run only");
        if std::mem::take(is_met) {
            return Poll::Ready(());
        }
        let waker = storable(cx, &mut foreign).expect("cloned above");
        match seat {
            Some(seat) => Block::wait_again(kernel, object, seat, how, Some(&[]), waker),
            None => *seat = Some(Block::wait(Some(kernel), object, how.0, how.1, &[], waker)),
        }
        Poll::Pending
    }

    fn meet(&self) {
        let mut section = self.0.enter();
        let (state, kernel) = section.both();
        state.2 = true;
        let seat = state.1.as_mut().expect("somebody waits");
        let waker = Block::rest(kernel.expect("used in a run only"), seat);
        section.wake(waker);
    }
}

#[test]
fn a_place_that_is_kept_tells_of_the_wait_that_is_on_alone() {
    let sim = Sim::new(1);
    let seat = Rc::new(Seat(Bound::new((
        Object::new(ResourceKind::Notify, Location::caller()),
        None,
        false,
    ))));
    let waits = |name: &'static str, op| {
        let seat = Rc::clone(&seat);
        sim.spawn(name, poll_fn(move |cx| seat.poll_wait(cx, (op, Location::caller()))))
    };
    let blocked = || {
        let tasks = sim.living();
        let of = |task: &detsim_executor::BlockedTask| {
            let ops = task.waits.iter().map(|wait| wait.op.clone());
            (task.name.clone().unwrap_or_default(), ops.collect::<Vec<_>>())
        };
        tasks.iter().map(of).collect::<Vec<_>>()
    };
    drop(waits("first", OpKind::Wait));
    sim.run_for(Duration::from_millis(1)).unwrap();
    assert_eq!(blocked(), [("first".to_owned(), vec!["notified".to_owned()])]);
    seat.meet();
    drop(waits("second", OpKind::Recv));
    sim.run_for(Duration::from_millis(1)).unwrap();
    assert_eq!(blocked(), [("second".to_owned(), vec!["recv".to_owned()])]);
    seat.meet();
    sim.run().unwrap();
}
