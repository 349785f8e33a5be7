//! The protocol of the biased cell under loom: all interleavings, and what weak memory may show.
//!
//! Owns: six scenarios, and ten mutants of the protocol that each must fail in one of them. The
//! protocol is not copied: `src/bound/protocol.rs` itself is compiled here a second time, over the
//! types of `sync` below, which are loom's. The asymmetric fence stands as a full fence on both
//! sides. Not modelled: the pool of lanes, wakers, the kernel.

#[path = "../src/bound/protocol.rs"]
mod protocol;

use std::any::Any;
use std::cell::Cell;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use protocol::{Bias, NOWHERE, Outside, Slow, UNBOUND};
use sync::{AtomicU64, Mutex, Ordering::Relaxed};

/// How often loom may take the processor from a thread that could run on. Five passes as well, in
/// 40 s.
const PREEMPTIONS_MAX: usize = 3;

/// A mistake in the protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mutant {
    /// Nothing orders the owner's two accesses, or the revoker's.
    NoFence,
    /// The revoker does not wait for the section that runs.
    NoBusyWait,
    /// The owner does not look whether it is revoked.
    NoRevokeCheck,
    /// It looks, but does not see what the foreign section wrote.
    RelaxedRevoke,
    /// The foreign section does not publish what it wrote.
    RelaxedRestore,
    /// The biased section does not publish what it wrote.
    RelaxedLeave,
    /// A thread takes a simulation for its own from what it read before.
    RelaxedLive,
    /// Unbound cells and owners have no lock.
    NoOutside,
    /// A simulation has no lock.
    NoGate,
    /// A simulation ends without a look at its lock.
    EndWithoutGate,
}

thread_local! {
    /// The mutant of the model that runs on this thread of the system, which carries all of its
    /// loom threads.
    static MUTANT: Cell<Option<Mutant>> = const { Cell::new(None) };
}

fn is(mutant: Mutant) -> bool {
    MUTANT.get() == Some(mutant)
}

/// What `protocol.rs` is written over, with a switch for each mutant.
mod sync {
    use std::any::type_name;

    use super::{Mutant, is};
    pub(crate) use loom::sync::Mutex;
    use loom::sync::atomic::{AtomicU32, fence};
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};

    /// None under a mutant that has no lock.
    pub(crate) type Guard<'a, T> = Option<loom::sync::MutexGuard<'a, T>>;

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Guard<'_, T> {
        let is_outside = type_name::<T>() == type_name::<super::Outside>();
        let is_missing = is(if is_outside { Mutant::NoOutside } else { Mutant::NoGate });
        (!is_missing).then(|| mutex.lock().expect("no panic is survived"))
    }

    pub(crate) fn light() {
        if !is(Mutant::NoFence) {
            fence(Ordering::SeqCst);
        }
    }

    pub(crate) fn heavy() {
        light();
    }

    pub(crate) fn pause(_spins: u32) {
        loom::thread::yield_now();
    }

    pub(crate) struct Busy(AtomicU32);

    impl Busy {
        pub(crate) fn new(word: u32) -> Self {
            Self(AtomicU32::new(word))
        }

        pub(crate) fn load(&self, order: Ordering) -> u32 {
            // The owner's own look at it is relaxed, the revoker's is not.
            if order == Ordering::Acquire && is(Mutant::NoBusyWait) {
                0
            } else {
                self.0.load(order)
            }
        }

        pub(crate) fn store(&self, word: u32, order: Ordering) {
            self.0.store(word, if is(Mutant::RelaxedLeave) { Ordering::Relaxed } else { order });
        }
    }

    pub(crate) struct Live(AtomicU64);

    impl Live {
        pub(crate) fn new(word: u64) -> Self {
            Self(AtomicU64::new(word))
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            self.0.load(if is(Mutant::RelaxedLive) { Ordering::Relaxed } else { order })
        }

        pub(crate) fn store(&self, word: u64, order: Ordering) {
            self.0.store(word, order);
        }
    }

    pub(crate) struct Revoke(AtomicU32);

    impl Revoke {
        pub(crate) fn new(word: u32) -> Self {
            Self(AtomicU32::new(word))
        }

        pub(crate) fn load(&self, order: Ordering) -> u32 {
            let word =
                self.0.load(if is(Mutant::RelaxedRevoke) { Ordering::Relaxed } else { order });
            if is(Mutant::NoRevokeCheck) { 0 } else { word }
        }

        pub(crate) fn store(&self, word: u32, order: Ordering) {
            self.0.store(word, if is(Mutant::RelaxedRestore) { Ordering::Relaxed } else { order });
        }
    }
}

/// Two lanes, the lock of all unbound cells, and one cell.
struct World {
    lanes: [Bias<()>; 2],
    outside: Mutex<Outside>,
    owner: AtomicU64,
    sections: UnsafeCell<u64>,
}

// SAFETY: that `sections` is reached by one thread at a time is what loom checks here.
unsafe impl Sync for World {}
// SAFETY: a number may be sent.
unsafe impl Send for World {}

/// Ids of simulations; the lanes take turns.
const FIRST: u64 = 1;
const SECOND: u64 = 2;
const THIRD: u64 = 3;

/// A thread: the number it is known by, and the simulation that it drives.
#[derive(Clone, Copy)]
struct Me {
    thread: u64,
    sim: u64,
}

/// The thread that a scenario begins on.
const MAIN: Me = Me { thread: 10, sim: NOWHERE };
const OTHER: Me = Me { thread: 11, sim: NOWHERE };

impl Me {
    fn driving(self, sim: u64) -> Self {
        Self { sim, ..self }
    }
}

impl World {
    /// `resting` is 1 on a system without an asymmetric fence.
    fn new(owner: u64, resting: u32) -> Arc<Self> {
        let lane = || Bias::new(resting, ());
        Arc::new(Self {
            lanes: [lane(), lane()],
            outside: Mutex::new(Outside),
            owner: AtomicU64::new(owner),
            sections: UnsafeCell::new(0),
        })
    }

    fn bias(&self, id: u64) -> &Bias<()> {
        &self.lanes[(id as usize - 1) % 2]
    }

    fn begin(&self, id: u64, me: Me) -> Me {
        self.bias(id).begin(&mut self.bias(id).gate(), id, me.thread);
        me.driving(id)
    }

    fn end(&self, id: u64) {
        let mut gate = if is(Mutant::EndWithoutGate) { None } else { self.bias(id).gate() };
        self.bias(id).end(&mut gate);
    }

    /// `Bound::enter` and what a section does.
    fn enter(&self, me: Me) {
        let owner = self.owner.load(Relaxed);
        if me.sim == owner && self.enter_biased(owner) {
            return;
        }
        // What `slow::enter` does for a simulation that this thread made and does not drive now.
        let is_home = owner != UNBOUND && self.bias(owner).is_home_of(owner, me.thread);
        if is_home && self.enter_biased(owner) {
            return;
        }
        let sim = if is_home { owner } else { me.sim };
        let mut slow = Slow::enter(&self.owner, sim, &self.outside, |id| self.bias(id));
        if let Slow::Foreign { bias, gate } = &mut slow {
            assert!(gate.is_some() || is(Mutant::NoGate), "entered without the gate");
            assert!(!bias.is_home(gate, me.thread), "a stranger to its own simulation");
        }
        self.touch();
        drop(slow);
    }

    fn enter_biased(&self, id: u64) -> bool {
        let bias = self.bias(id);
        assert!(!bias.is_busy(), "entered twice");
        let is_open = bias.enter();
        if is_open {
            self.touch();
            bias.leave();
        }
        is_open
    }

    /// Loom panics where two threads are in here at once, or one does not see the other's work.
    fn touch(&self) {
        // SAFETY: one thread at a time; see the cell's `Sync`.
        self.sections.with_mut(|sections| unsafe { *sections += 1 });
    }

    fn sections(&self) -> u64 {
        // SAFETY: one thread at a time; see the cell's `Sync`.
        self.sections.with(|sections| unsafe { *sections })
    }
}

fn join<T>(thread: thread::JoinHandle<T>) {
    thread.join().expect("a thread ends");
}

/// Created in a simulation; a thread without one uses it meanwhile and after the end.
fn owned_against_foreigner(resting: u32) {
    let world = World::new(FIRST, resting);
    let me = world.begin(FIRST, MAIN);
    let foreigner = thread::spawn({
        let world = world.clone();
        move || (0..2).for_each(|_| world.enter(OTHER))
    });
    (0..2).for_each(|_| world.enter(me));
    world.end(FIRST);
    join(foreigner);
    world.enter(MAIN);
    assert_eq!(world.sections(), 5);
}

/// Unbound, and adopted by a simulation while a thread without one uses it.
fn adoption_against_foreigner(resting: u32) {
    let world = World::new(UNBOUND, resting);
    let foreigner = thread::spawn({
        let world = world.clone();
        move || (0..2).for_each(|_| world.enter(OTHER))
    });
    let me = world.begin(FIRST, MAIN);
    (0..2).for_each(|_| world.enter(me));
    world.end(FIRST);
    join(foreigner);
    assert_eq!(world.sections(), 4);
}

/// Two simulations on two threads: either adopts the cell, ends, and loses it to the other. Each uses
/// it in its run and once more between two runs.
fn two_simulations(resting: u32) {
    let world = World::new(UNBOUND, resting);
    let drive = |world: &World, id, me| {
        world.enter(world.begin(id, me));
        world.enter(me);
        world.end(id);
    };
    let second = thread::spawn({
        let world = world.clone();
        move || drive(&world, SECOND, OTHER)
    });
    drive(&world, FIRST, MAIN);
    join(second);
    assert_eq!(world.sections(), 4);
}

/// Two threads without a simulation against one that runs.
fn two_foreigners(resting: u32) {
    let world = World::new(FIRST, resting);
    let me = world.begin(FIRST, MAIN);
    let foreigners = [OTHER, Me { thread: 12, sim: NOWHERE }].map(|foreigner| {
        let world = world.clone();
        thread::spawn(move || world.enter(foreigner))
    });
    world.enter(me);
    world.end(FIRST);
    foreigners.into_iter().for_each(join);
    assert_eq!(world.sections(), 3);
}

/// A lane that was another thread's: that thread meets it again, in a cell that it does not own.
fn lane_that_moved(resting: u32) {
    let world = World::new(UNBOUND, resting);
    world.begin(FIRST, OTHER);
    world.end(FIRST);
    let before = thread::spawn({
        let world = world.clone();
        move || (0..2).for_each(|_| world.enter(OTHER))
    });
    let me = world.begin(THIRD, MAIN);
    (0..2).for_each(|_| world.enter(me));
    world.end(THIRD);
    join(before);
    assert_eq!(world.sections(), 4);
}

/// The baton passes to another thread and back, while a thread without a simulation uses the cell.
/// Whoever has it enters as in a run, or as the home that it is. That a signal orders the two is not
/// modelled: the beginning and the end of a thread stand for it.
fn baton_that_passes(resting: u32) {
    let world = World::new(FIRST, resting);
    let me = world.begin(FIRST, MAIN);
    let foreigner = thread::spawn({
        let world = world.clone();
        move || world.enter(Me { thread: 12, sim: NOWHERE })
    });
    world.enter(me);
    let other = thread::spawn({
        let world = world.clone();
        move || {
            world.bias(FIRST).move_home(OTHER.thread);
            assert_eq!(world.bias(FIRST).live(), FIRST);
            world.enter(OTHER.driving(FIRST));
        }
    });
    join(other);
    world.bias(FIRST).move_home(MAIN.thread);
    world.enter(MAIN);
    world.end(FIRST);
    join(foreigner);
    assert_eq!(world.sections(), 4);
}

/// Runs a scenario in all interleavings, to the first that fails.
fn check(scenario: fn(u32), resting: u32, mutant: Option<Mutant>) -> Result<(), String> {
    let model = move || {
        MUTANT.set(mutant);
        let mut model = loom::model::Builder::new();
        // Where every section takes the gate there are many more ways to go: one preemption less.
        model.preemption_bound = Some(PREEMPTIONS_MAX - resting as usize);
        model.check(move || scenario(resting));
    };
    let failure = |panic: Box<dyn Any + Send>| *panic.downcast::<String>().expect("a message");
    std::thread::spawn(model).join().map_err(failure)
}

#[test]
fn an_owned_cell_against_a_foreigner() {
    check(owned_against_foreigner, 0, None).unwrap();
}

#[test]
fn adoption_against_a_foreigner() {
    check(adoption_against_foreigner, 0, None).unwrap();
}

#[test]
fn two_simulations_share_a_cell() {
    check(two_simulations, 0, None).unwrap();
}

#[test]
fn two_foreigners_against_a_simulation() {
    check(two_foreigners, 0, None).unwrap();
}

#[test]
fn a_lane_that_moved_to_another_thread() {
    check(lane_that_moved, 0, None).unwrap();
}

#[test]
fn a_baton_that_passes_to_another_thread_and_back() {
    check(baton_that_passes, 0, None).unwrap();
}

/// With `revoke` at rest at 1 no fence is needed at all.
#[test]
fn without_an_asymmetric_fence_the_gate_is_enough() {
    for scenario in [owned_against_foreigner, two_simulations] {
        check(scenario, 1, Some(Mutant::NoFence)).unwrap();
    }
}

#[test]
fn every_mutant_fails() {
    let mutants: [(Mutant, fn(u32)); 10] = [
        (Mutant::NoFence, owned_against_foreigner),
        (Mutant::NoBusyWait, owned_against_foreigner),
        (Mutant::NoRevokeCheck, owned_against_foreigner),
        (Mutant::RelaxedRevoke, owned_against_foreigner),
        (Mutant::RelaxedRestore, owned_against_foreigner),
        (Mutant::RelaxedLeave, owned_against_foreigner),
        (Mutant::RelaxedLive, lane_that_moved),
        (Mutant::NoOutside, adoption_against_foreigner),
        (Mutant::NoGate, owned_against_foreigner),
        (Mutant::EndWithoutGate, owned_against_foreigner),
    ];
    for (mutant, scenario) in mutants {
        let failure = check(scenario, 0, Some(mutant)).expect_err(&format!("{mutant:?} passed"));
        // Loom's record of the cell is poisoned where it finds the mistake in the middle of an access.
        let is_race = ["Causality violation", "PoisonError"].iter().any(|it| failure.contains(it));
        assert!(is_race, "{mutant:?}: {failure}");
    }
}
