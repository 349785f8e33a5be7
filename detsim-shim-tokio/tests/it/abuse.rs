//! What safe code can do to a primitive: put it in a static, share it between threads and
//! simulations, use it outside of any, keep it beyond the end, and come back from a waker.

use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use futures::executor::block_on;
use futures::task::{ArcWake, waker};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::thread;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc, oneshot};
use tokio::task::yield_now;

const ROUNDS: u32 = 200;

/// Runs a program in a simulation that never gets stuck: a task of it runs on while the program waits,
/// for whom only the program knows.
fn simulated<T: 'static>(program: impl Future<Output = T> + 'static) -> T {
    let sim = Sim::new(1);
    sim.set_max_steps(u64::MAX);
    drop(sim.spawn("runs on", async {
        loop {
            yield_now().await;
            thread::yield_now();
        }
    }));
    sim.block_on(program).unwrap()
}

/// Runs a program on two threads without a simulation, and in two simulations, all at once.
fn everywhere<F: Future<Output = ()> + 'static>(program: fn() -> F) {
    let threads = [false, false, true, true].map(|is_simulated| {
        thread::spawn(move || match is_simulated {
            true => simulated(program()),
            false => block_on(program()),
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_mutex_in_a_static() {
    static COUNT: Mutex<u32> = Mutex::const_new(0);
    everywhere(|| async {
        for _ in 0..ROUNDS {
            let mut count = COUNT.lock().await;
            let before = *count;
            if before % 16 == 0 && detsim_executor::context::is_inside() {
                yield_now().await;
            }
            *count = before + 1;
        }
    });
    assert_eq!(*block_on(COUNT.lock()), 4 * ROUNDS);
}

#[test]
fn a_semaphore_in_a_static() {
    static PERMITS: Semaphore = Semaphore::const_new(2);
    everywhere(|| async {
        for _ in 0..ROUNDS {
            let permits = PERMITS.acquire_many(2).await.unwrap();
            assert_eq!(PERMITS.available_permits(), 0);
            drop(permits);
        }
    });
    assert_eq!(PERMITS.available_permits(), 2);
}

#[test]
fn a_notify_in_a_static() {
    static TURN: Notify = Notify::const_new();
    // One notification goes round among all of them.
    TURN.notify_one();
    everywhere(|| async {
        for _ in 0..ROUNDS {
            TURN.notified().await;
            TURN.notify_one();
        }
    });
    assert!(TURN.notified().now_or_never().is_some());
}

type Ends = (mpsc::Sender<u32>, Mutex<mpsc::Receiver<u32>>);

#[test]
fn a_channel_in_a_static() {
    static ENDS: OnceLock<Ends> = OnceLock::new();
    fn ends() -> &'static Ends {
        ENDS.get_or_init(|| {
            let (sender, receiver) = mpsc::channel(3);
            (sender, Mutex::new(receiver))
        })
    }
    everywhere(|| async {
        let (sender, receiver) = ends();
        for n in 0..ROUNDS {
            sender.send(n).await.unwrap();
            receiver.lock().await.recv().await.unwrap();
        }
    });
    assert_eq!(ends().0.capacity(), 3);
}

#[test]
fn oneshots_cross_threads_in_both_directions() {
    for _ in 0..50 {
        let (ask, asked) = oneshot::channel();
        let (answer, answered) = oneshot::channel();
        let outside = thread::spawn(move || answer.send(block_on(asked).unwrap() + 1).unwrap());
        let got = simulated(async move {
            ask.send(1).unwrap();
            answered.await.unwrap()
        });
        assert_eq!(got, 2);
        outside.join().unwrap();
    }
}

#[test]
fn everything_is_used_and_dropped_after_the_run() {
    let sim = Sim::new(1);
    let kept = sim.block_on(async {
        let (sender, receiver) = mpsc::channel(2);
        sender.send(String::from("kept")).await.unwrap();
        let mutex = Arc::new(Mutex::new(String::from("kept")));
        let guard = mutex.clone().lock_owned().await;
        let semaphore = Arc::new(Semaphore::new(1));
        let permit = semaphore.clone().acquire_owned().await.unwrap();
        let notified = Arc::new(Notify::new()).notified_owned();
        let (answer, question) = oneshot::channel::<String>();
        let waits = mutex.clone().lock_owned();
        (sender, receiver, mutex, guard, semaphore, permit, notified, answer, question, waits)
    });
    let (sender, mut receiver, mutex, guard, semaphore, permit, notified, answer, question, waits) =
        kept.unwrap();
    drop(sim);
    assert_eq!(block_on(receiver.recv()).unwrap(), "kept");
    block_on(sender.send(String::from("later"))).unwrap();
    assert!(mutex.try_lock().is_err());
    drop(guard);
    assert_eq!(*block_on(waits), "kept");
    drop(permit);
    drop(block_on(semaphore.acquire()).unwrap());
    answer.send(String::from("late")).unwrap();
    assert_eq!(block_on(question).unwrap(), "late");
    drop(notified);
}

#[test]
fn waits_outlive_the_run_they_began_in() {
    static LOCK: Mutex<u32> = Mutex::const_new(0);
    let outside = block_on(LOCK.lock());
    let sim = Sim::new(1);
    let mut waits = Box::pin(LOCK.lock());
    let polled = sim.block_on(async move { ((&mut waits).now_or_never().is_none(), waits) });
    let (pending, waits) = polled.unwrap();
    assert!(pending);
    drop(sim);
    drop(outside);
    assert_eq!(*block_on(waits), 0);
}

/// A waker that does something, in `wake` and in `drop`.
struct Does<F: Fn() + Send + Sync>(F);

impl<F: Fn() + Send + Sync> ArcWake for Does<F> {
    fn wake_by_ref(does: &Arc<Self>) {
        (does.0)();
    }
}

impl<F: Fn() + Send + Sync> Drop for Does<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Polls once with a waker that does something.
fn poll_with<F: Future>(
    future: Pin<&mut F>,
    does: impl Fn() + Send + Sync + 'static,
) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&waker(Arc::new(Does(does)))))
}

#[test]
fn wakers_come_back_to_what_wakes_them() {
    let reenter = || {
        let mutex = Arc::new(Mutex::new(0));
        let held = mutex.try_lock().unwrap();
        let again = mutex.clone();
        let mut waits = Box::pin(mutex.lock());
        assert!(poll_with(waits.as_mut(), move || drop(again.try_lock())).is_pending());
        drop(held);
        drop(waits);
        assert!(mutex.try_lock().is_ok());

        let (sender, mut receiver) = mpsc::channel(1);
        let again = sender.clone();
        let mut waits = Box::pin(receiver.recv());
        assert!(
            poll_with(waits.as_mut(), move || assert!(again.try_send(2).is_err())).is_pending()
        );
        sender.try_send(1).unwrap();
        assert_eq!(waits.now_or_never(), Some(Some(1)));

        let notify = Arc::new(Notify::new());
        let again = notify.clone();
        let mut waits = Box::pin(notify.notified());
        assert!(poll_with(waits.as_mut(), move || again.notify_waiters()).is_pending());
        notify.notify_one();
        assert!(waits.now_or_never().is_some());

        let (sender, receiver) = oneshot::channel();
        let semaphore = Arc::new(Semaphore::new(0));
        let again = semaphore.clone();
        let mut waits = Box::pin(receiver);
        assert!(poll_with(waits.as_mut(), move || again.add_permits(1)).is_pending());
        sender.send(1).unwrap();
        assert_eq!(waits.now_or_never(), Some(Ok(1)));
        assert!(semaphore.available_permits() > 0);
    };
    reenter();
    let sim = Sim::new(1);
    sim.block_on(async move { reenter() }).unwrap();
}

#[test]
fn messages_come_back_to_their_channel_when_they_are_dropped() {
    struct Sends(Option<mpsc::UnboundedSender<Self>>);
    impl Drop for Sends {
        fn drop(&mut self) {
            if let Some(sender) = self.0.take() {
                let _refused = sender.send(Self(None));
            }
        }
    }
    let program = || {
        let (sender, receiver) = mpsc::unbounded_channel();
        assert!(sender.send(Sends(Some(sender.clone()))).is_ok());
        drop(receiver);
        assert!(sender.is_closed());
    };
    program();
    Sim::new(1).block_on(async move { program() }).unwrap();
}

#[test]
fn a_message_that_panics_when_it_is_dropped_takes_no_other_with_it() {
    struct Panics(bool, #[expect(dead_code, reason = "counted")] Arc<()>);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert!(!self.0, "a destructor");
        }
    }
    let alive = Arc::new(());
    let (sender, receiver) = mpsc::unbounded_channel();
    for panics in [false, true, false, false] {
        assert!(sender.send(Panics(panics, alive.clone())).is_ok());
    }
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(receiver)));
    assert!(dropped.is_err());
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn futures_that_are_forgotten_keep_their_promise_to_themselves() {
    let semaphore = Semaphore::new(0);
    let mut forgotten = Box::pin(semaphore.acquire());
    assert!(forgotten.as_mut().now_or_never().is_none());
    std::mem::forget(forgotten);
    semaphore.add_permits(1); // to the forgotten one
    semaphore.add_permits(1);
    assert!(semaphore.try_acquire().is_ok());
}
