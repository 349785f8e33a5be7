//! All that safe code may do with a bound cell and with wakers, wise or not.
//!
//! Owns: a small mailbox over [`Bound`], written as the primitives are, and its abuse: statics, foreign
//! threads, two simulations at once, no simulation at all, use after the end, code that comes back
//! from a drop or a waker. Each has the right result or the named panic. Meant to be run under the
//! sanitizers and valgrind as well; nothing here waits for a clock.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{self, Future};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use detsim_executor::{Bound, Sim, context, message_of, yield_now};

/// An unbounded queue of messages.
struct Mailbox<T>(Bound<Letters<T>>);

struct Letters<T> {
    queue: VecDeque<T>,
    readers: Vec<Waker>,
}

impl<T> Mailbox<T> {
    const fn unbound() -> Self {
        Self(Bound::unbound(Letters { queue: VecDeque::new(), readers: Vec::new() }))
    }

    fn new() -> Self {
        Self(Bound::new(Letters { queue: VecDeque::new(), readers: Vec::new() }))
    }

    fn push(&self, letter: T) {
        let mut letters = self.0.enter();
        letters.queue.push_back(letter);
        for reader in std::mem::take(&mut letters.readers) {
            letters.wake(reader);
        }
    }

    fn pop(&self) -> Option<T> {
        self.0.enter().queue.pop_front()
    }

    /// The waker is cloned outside of the section, whoever made it.
    fn poll_pop(&self, cx: &mut Context<'_>) -> Poll<T> {
        let reader = cx.waker().clone();
        let mut letters = self.0.enter();
        match letters.queue.pop_front() {
            Some(letter) => {
                letters.dispose(Some(reader));
                Poll::Ready(letter)
            }
            None => {
                letters.readers.push(reader);
                Poll::Pending
            }
        }
    }

    /// Drops everybody who waits.
    fn forget_readers(&self) {
        let mut letters = self.0.enter();
        for reader in std::mem::take(&mut letters.readers) {
            letters.dispose(Some(reader));
        }
    }
}

/// Runs `misuse`, which panics, and returns what it says.
fn panic_of<R>(misuse: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(misuse()))).expect_err("a panic");
    message_of(&*panic)
}

/// Runs `body` as the main task of a simulation.
fn drive<F: Future + 'static>(body: F) -> F::Output {
    Sim::new(1).block_on(body).unwrap_or_else(|failure| panic!("{failure}"))
}

/// A task that never ends: its waker, and how often it has been polled.
struct Sleeper {
    waker: Waker,
    polls: Arc<AtomicU64>,
}

impl Sleeper {
    async fn spawn() -> Self {
        let polls = Arc::new(AtomicU64::new(0));
        let slot = Arc::new(Mutex::new(None));
        let (counter, filled) = (polls.clone(), slot.clone());
        drop(context::spawn("sleeper", async move {
            future::poll_fn(|cx| {
                counter.fetch_add(1, Relaxed);
                *filled.lock().unwrap() = Some(cx.waker().clone());
                Poll::<()>::Pending
            })
            .await;
        }));
        settle().await;
        let waker = slot.lock().unwrap().take().expect("it has been polled");
        Self { waker, polls }
    }

    /// Polls since the last call.
    async fn polls(&self) -> u64 {
        settle().await;
        self.polls.swap(0, Relaxed)
    }

    fn cx(&self) -> Context<'_> {
        Context::from_waker(&self.waker)
    }
}

/// Lets everybody run who can.
async fn settle() {
    for _ in 0..20 {
        yield_now().await;
    }
}

#[test]
fn cells_are_send_and_sync_where_their_state_is_send() {
    fn check<T: Send + Sync>() {}
    check::<Bound<std::cell::Cell<u8>>>();
    check::<Mailbox<RefCell<u8>>>();
}

#[test]
fn a_static_before_during_beside_and_after_runs() {
    static SUM: Bound<u64> = Bound::unbound(0);
    const EACH: u64 = 2_000;
    let add = || (0..EACH).for_each(|_| *SUM.enter() += 1);
    add();
    for _ in 0..3 {
        drive(async move {
            let beside = thread::spawn(add);
            add();
            while !beside.is_finished() {
                *SUM.enter() += 0;
            }
            beside.join().unwrap();
        });
        add();
    }
    assert_eq!(*SUM.enter(), EACH * 10);
}

/// Four threads without a simulation: the cell is an ordinary lock.
#[test]
fn outside_of_any_run() {
    static BOX: Mailbox<u64> = Mailbox::unbound();
    let senders = [1, 2, 3, 4].map(|n| thread::spawn(move || (0..500).for_each(|_| BOX.push(n))));
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    assert_eq!(std::iter::from_fn(|| BOX.pop()).sum::<u64>(), 500 * 10);
}

/// The simulation never waits while others revoke its bias all the time.
#[test]
fn the_fast_path_against_foreigners() {
    let sim = Sim::new(1);
    let main = async {
        let stop = AtomicBool::new(false);
        let sent = AtomicU64::new(0);
        let letters = Mailbox::new();
        let (mut mine, mut got) = (0, 0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Relaxed) {
                        letters.push(1);
                        sent.fetch_add(1, Relaxed);
                        thread::yield_now();
                    }
                });
            }
            while mine < 100_000 || sent.load(Relaxed) < 100 {
                letters.push(1);
                mine += 1;
                got += letters.pop().unwrap_or(0);
            }
            stop.store(true, Relaxed);
        });
        got += std::iter::from_fn(|| letters.pop()).sum::<u64>();
        assert_eq!(got, mine + sent.load(Relaxed));
    };
    sim.block_on(main).unwrap();
    assert!(!sim.take_escapes().is_empty());
}

/// Each adopts the cell in turn, and reaches it as a foreigner while the other owns it.
#[test]
fn two_simulations_share_a_cell() {
    static BOX: Mailbox<u64> = Mailbox::unbound();
    let simulations = [(); 2].map(|()| {
        thread::spawn(|| {
            for _ in 0..20 {
                drive(async { (0..500).for_each(|n| BOX.push(n)) });
            }
        })
    });
    simulations.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(std::iter::from_fn(|| BOX.pop()).count(), 2 * 20 * 500);
}

/// Between two runs, and inside a run of another, a simulation's objects are its own still.
#[test]
fn on_its_own_thread_nobody_is_a_stranger() {
    let sim = Sim::new(1);
    let cell = Arc::new(sim.block_on(async { Bound::new(0) }).unwrap());
    for _ in 0..3 {
        *cell.enter() += 1;
        let inner = cell.clone();
        drive(async move { *inner.enter() += 1 });
        let own = cell.clone();
        sim.block_on(async move { *own.enter() += 1 }).unwrap();
    }
    assert!(sim.take_escapes().is_empty());
    let other = cell.clone();
    thread::spawn(move || *other.enter() += 1).join().unwrap();
    assert_eq!(sim.take_escapes().len(), 1);
    assert_eq!(*cell.enter(), 10);
}

/// Lanes go from thread to thread while their old cells are still in use.
#[test]
fn lanes_that_move_between_threads() {
    static CELL: Bound<u64> = Bound::unbound(0);
    let threads = [(); 4].map(|()| {
        thread::spawn(|| {
            for _ in 0..500 {
                *CELL.enter() += 1;
                let sim = Sim::new(1);
                *CELL.enter() += 1;
                sim.block_on(async { *CELL.enter() += 1 }).unwrap();
                *CELL.enter() += 1;
            }
        })
    });
    threads.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(*CELL.enter(), 4 * 500 * 4);
}

#[test]
fn dropped_after_the_run_and_elsewhere() {
    struct Counted(Arc<AtomicU64>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let drops = Arc::new(AtomicU64::new(0));
    for round in 0..20 {
        let drops = drops.clone();
        let kept = drive(async move {
            let letters = Arc::new(Mailbox::new());
            letters.push(Counted(drops.clone()));
            let _ = letters.poll_pop(&mut Sleeper::spawn().await.cx());
            letters.push(Counted(drops.clone()));
            letters
        });
        let last = move || {
            kept.push(Counted(Arc::default()));
            drop(kept.pop());
        };
        if round % 2 == 0 { thread::spawn(last).join().unwrap() } else { last() }
    }
    assert_eq!(drops.load(Relaxed), 40);
}

/// A message's drop, and a waker's clone, wake and drop, use the object that they came from.
#[test]
fn user_code_that_comes_back() {
    struct Evil(Option<Arc<Mailbox<Self>>>);
    impl Drop for Evil {
        fn drop(&mut self) {
            if let Some(letters) = self.0.take() {
                letters.push(Self(None));
            }
        }
    }
    impl Wake for Evil {
        fn wake(self: Arc<Self>) {
            self.wake_by_ref();
        }
        fn wake_by_ref(self: &Arc<Self>) {
            if let Some(letters) = &self.0 {
                letters.push(Self(None));
                drop(letters.pop());
            }
        }
    }
    let abuse = || {
        let letters = Arc::new(Mailbox::<Evil>::new());
        for _ in 0..50 {
            let evil = || Evil(Some(letters.clone()));
            let waker = Waker::from(Arc::new(evil()));
            for _ in 0..3 {
                let _ = letters.poll_pop(&mut Context::from_waker(&waker));
            }
            letters.push(evil());
            while let Some(letter) = letters.pop() {
                drop(letter);
            }
            let last = Waker::from(Arc::new(evil()));
            assert!(letters.poll_pop(&mut Context::from_waker(&last)).is_pending());
            drop(last);
            letters.forget_readers();
            assert!(letters.pop().is_some(), "the last waker came back when it was dropped");
        }
    };
    abuse();
    drive(async move { abuse() });
    thread::scope(|scope| {
        scope.spawn(|| drive(async move { abuse() }));
        scope.spawn(abuse);
    });
}

/// A second section on one thread is a panic that names the object, whatever the first one holds.
#[test]
fn a_section_inside_a_section() {
    static FREE: Bound<u8> = Bound::unbound(0);
    fn twice(cell: &Bound<u8>) {
        let section = cell.enter();
        assert!(panic_of(|| cell.enter()).contains("entered twice"));
        assert!(panic_of(|| FREE.enter()).contains("entered twice"));
        drop(section);
        assert_eq!(*cell.enter(), 7, "the first section and the cell are whole");
    }
    twice(&Bound::unbound(7));
    let sim = Sim::new(1);
    let main = async {
        let owned = Arc::new(Bound::new(7));
        twice(&owned);
        thread::scope(|scope| scope.spawn(|| twice(&owned)).join().unwrap());
        let inner = owned.clone();
        drive(async move { twice(&inner) });
        assert_eq!(
            panic_of(|| (owned.enter(), owned.enter())),
            format!("detsim bug: object created at {} entered twice", owned.site()),
        );
        let sleeper = Sleeper::spawn().await;
        let section = owned.enter();
        assert!(panic_of(|| sleeper.waker.wake_by_ref()).contains("entered inside a section"));
        assert!(panic_of(|| context::with(|_| ())).contains("entered inside a section"));
        drop(section);
        owned
    };
    let owned = sim.block_on(main).unwrap();
    twice(&owned);
    drop(sim);
    twice(&owned);
}

/// A waker must not be woken by hand inside a section that holds a lock.
#[test]
fn a_foreign_wake_inside_a_locked_section() {
    let cell = Bound::unbound(());
    let sim = Sim::new(1);
    let sleeper = sim.block_on(Sleeper::spawn()).unwrap();
    let section = cell.enter();
    assert!(panic_of(|| sleeper.waker.wake_by_ref()).contains("inside a section"));
    drop(section);
    sleeper.polls.store(0, Relaxed);
    sleeper.waker.wake_by_ref();
    assert_eq!(sim.block_on(async move { sleeper.polls().await }).unwrap(), 1);
}

/// Own tasks are woken in the section, others after it, in any mixture.
#[test]
fn wakers_of_every_kind_wait_together() {
    struct Count(AtomicU64);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let other = Sim::new(2);
    let others = other.block_on(Sleeper::spawn()).unwrap();
    others.polls.store(0, Relaxed);
    let of_other = others.waker.clone();
    drive(async move {
        let count = Arc::new(Count(AtomicU64::new(0)));
        let foreign = Waker::from(count.clone());
        let letters = Mailbox::new();
        let (one, two) = (Sleeper::spawn().await, Sleeper::spawn().await);
        one.polls.store(0, Relaxed);
        two.polls.store(0, Relaxed);
        for waker in [&foreign, &one.waker, &of_other, &foreign, &two.waker] {
            assert!(letters.poll_pop(&mut Context::from_waker(waker)).is_pending());
        }
        letters.push(());
        assert_eq!((one.polls().await, two.polls().await), (1, 1));
        assert_eq!(count.0.load(Relaxed), 2);
        assert_eq!(Arc::strong_count(&count), 2, "both clones are gone");
        assert_eq!(letters.pop(), Some(()));
        assert!(letters.poll_pop(&mut Context::from_waker(&foreign)).is_pending());
        letters.push(());
        assert_eq!(count.0.load(Relaxed), 3, "a single one is woken too");
    });
    assert_eq!(other.block_on(async move { others.polls().await }).unwrap(), 1);
}

/// The run has nothing else to do than to wait for a thread that has used its objects.
#[test]
fn a_wake_from_a_thread_reaches_the_run_that_waits() {
    static BOX: Mailbox<Waker> = Mailbox::unbound();
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    fn take() -> Waker {
        loop {
            match BOX.pop() {
                Some(waker) => return waker,
                None => thread::yield_now(),
            }
        }
    }
    let wake = || {
        for _ in 0..200 {
            let waker = take();
            TAKEN.fetch_add(1, Release);
            waker.wake();
        }
    };
    let stranger = thread::Builder::new().name("stranger".to_owned()).spawn(wake).unwrap();
    let sim = Sim::new(1);
    let main = async {
        for round in 0..200 {
            future::poll_fn(|cx| {
                match TAKEN.load(Acquire) {
                    taken if taken > round => return Poll::Ready(()),
                    _ => BOX.push(cx.waker().clone()),
                }
                // The first time, the run must know of the stranger before it waits for it.
                while TAKEN.load(Acquire) == 0 {
                    thread::yield_now();
                }
                Poll::Pending
            })
            .await;
        }
    };
    sim.block_on(main).unwrap();
    let escapes = sim.take_escapes();
    assert!(escapes.iter().all(|it| it.contains("by thread 'stranger'")), "{escapes:?}");
    assert!(escapes.iter().any(|it| it.starts_with("use of ") && it.contains(file!())));
    assert!(escapes.iter().any(|it| it.starts_with("wake of waker by")));
    stranger.join().unwrap();
}

/// Wakers of ended runs, from two threads, against the runs that have their lane now.
#[test]
fn stale_wakes_hammered_on_a_reused_lane() {
    let waker = || drive(async { Sleeper::spawn().await.waker });
    let stale: Arc<[Waker]> = (0..50).map(|_| waker()).collect();
    let stop = AtomicBool::new(false);
    let (started, starts) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..2 {
            let started = started.clone();
            scope.spawn(|| {
                let started = started;
                while !stop.load(Relaxed) {
                    stale.iter().for_each(Waker::wake_by_ref);
                    let _ = started.send(());
                    thread::yield_now();
                }
            });
        }
        starts.recv().unwrap();
        for _ in 0..200 {
            let stale = stale.clone();
            drive(async move {
                let sleeper = Sleeper::spawn().await;
                assert_eq!(sleeper.polls().await, 1, "at first");
                stale.iter().for_each(Waker::wake_by_ref);
                assert_eq!(sleeper.polls().await, 0, "nobody woke it");
                sleeper.waker.wake_by_ref();
                assert_eq!(sleeper.polls().await, 1, "it was woken once");
            });
        }
        stop.store(true, Relaxed);
    });
    stale.iter().for_each(Waker::wake_by_ref);
}

#[test]
fn runs_inside_runs_and_runs_that_panic() {
    let outer = Sim::new(1);
    let main = async {
        let cell = Arc::new(Bound::new(0));
        let inner = cell.clone();
        drive(async move {
            let own = Bound::new(0);
            *own.enter() += 1;
            *inner.enter() += 1;
        });
        assert!(panic_of(|| drive(async { panic!("planted") })).contains("planted"));
        *cell.enter() += 1;
        cell
    };
    let cell = outer.block_on(main).unwrap();
    *cell.enter() += 1;
    drop(outer);
    assert_eq!(*cell.enter(), 3);
}

/// Used when the thread's own locals are torn down.
#[test]
fn use_in_the_destructor_of_a_thread_local() {
    struct AtExit(Arc<Mailbox<u8>>, Waker);
    impl Drop for AtExit {
        fn drop(&mut self) {
            self.0.push(1);
            self.1.wake_by_ref();
        }
    }
    thread_local!(static KEPT: RefCell<Vec<AtExit>> = const { RefCell::new(Vec::new()) });
    let letters = drive(async {
        let letters = Arc::new(Mailbox::new());
        let sleeper = Sleeper::spawn().await;
        assert_eq!(sleeper.polls().await, 1);
        let at_exit = AtExit(letters.clone(), sleeper.waker.clone());
        thread::spawn(move || KEPT.with_borrow_mut(|kept| kept.push(at_exit))).join().unwrap();
        assert_eq!(sleeper.polls().await, 1);
        letters
    });
    assert_eq!(letters.pop(), Some(1));
}

/// A section that is left open ends the run with the named panic; other threads never meet it.
#[test]
fn a_section_that_outlives_its_poll() {
    static CELL: Bound<u64> = Bound::unbound(0);
    let open = || Sim::new(1).block_on(async { CELL.enter() });
    assert!(panic_of(open).starts_with("detsim bug: "));
    *CELL.enter() += 1;
    drive(async { *CELL.enter() += 1 });
    thread::spawn(|| *CELL.enter() += 1).join().unwrap();
    assert_eq!(*CELL.enter(), 3);
}

#[test]
fn state_without_a_section() {
    let mut cell = Bound::new(1);
    *cell.get_mut() += 1;
    assert!(format!("{cell:?}").contains("bound_abuse.rs"));
    assert_eq!(format!("{:?}", cell.enter()), "2");
    assert_eq!(cell.into_inner(), 2);
}
