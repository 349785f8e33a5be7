//! A future that borrows, as a task of a simulation.
//!
//! Owns: [`lend`] and [`block_on`]. A task is `'static`, the future of `#[tokio::main]` may borrow from its caller
//! (a method's receiver, for one). So the future stays in the caller's frame, and the task has a
//! pointer to it that is taken away when the frame is left.
//!
//! Invariants: the pointer is set only while the frame of [`lend`] stands, by a guard that an
//! unwinding passes too; the task takes it for the length of one poll, so that it is used once at a
//! time; neither leaves the thread.
#![expect(unsafe_code, reason = "a task is polled through a pointer into its caller's frame")]

use detsim::{Failure, Sim};
use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Polls the future in the caller's frame.
type Polls<'a> = dyn FnMut(&mut Context<'_>) -> Poll<()> + 'a;

/// The pointer, where the frame still stands and no poll is under way.
#[derive(Clone, Default)]
struct Way(Rc<Cell<Option<NonNull<Polls<'static>>>>>);

/// Takes the way away when the frame is left.
struct Closes(Way);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.0.take();
    }
}

/// A future of somebody's frame, for a task.
pub(crate) struct Lent(Way);

/// Runs `run` with a task's future that stands for `future`; what became of both. Once `run` has
/// returned, the task's never goes on.
pub(crate) fn lend<F: Future, R>(future: F, run: impl FnOnce(Lent) -> R) -> (R, Option<F::Output>) {
    let mut future = pin!(future);
    let mut output = None;
    let mut poll = |cx: &mut Context<'_>| {
        future.as_mut().poll(cx).map(|done| {
            output = Some(done);
        })
    };
    let way = Way::default();
    let closes = Closes(way.clone());
    let polls: NonNull<Polls<'_>> = NonNull::from(&mut poll);
    // SAFETY: only the lifetime changes; `closes` sees to it that nothing is left of the pointer when
    // what it points to goes.
    way.0.set(Some(unsafe {
        std::mem::transmute::<NonNull<Polls<'_>>, NonNull<Polls<'static>>>(polls)
    }));
    let ended = run(Lent(way));
    drop(closes);
    (ended, output)
}

impl Future for Lent {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}

/// Runs the simulation until `future`, its first task, has ended.
///
/// # Errors
/// As [`Sim::block_on`].
pub(super) fn block_on<F: Future>(sim: &Sim, future: F) -> Result<F::Output, Failure> {
    let (ended, output) = lend(future, |main| sim.block_on(main));
    ended.map(|()| output.expect("invariant: the task ended because the future had"))
}

impl Way {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Without a frame there is nothing to wait for: the run is over.
        let Some(mut polls) = self.0.take() else { return Poll::Pending };
        // SAFETY: the pointer is set, so the frame of `lend` stands and no other poll is under
        // way; that frame touches what it points to no more before it has taken the pointer away.
        let polled = unsafe { polls.as_mut() }(cx);
        self.0.set(Some(polls));
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_future_may_borrow_and_give_what_it_borrowed() {
        let text = String::from("borrowed");
        let mut count = 0;
        let sim = Sim::new(1);
        let out = block_on(&sim, async {
            count += 1;
            detsim::yield_now().await;
            text.as_str()
        });
        assert_eq!((out.unwrap(), count), ("borrowed", 1));
    }

    #[test]
    fn a_run_that_fails_leaves_nothing_behind() {
        let dropped = Cell::new(false);
        struct Tells<'a>(&'a Cell<bool>);
        impl Drop for Tells<'_> {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let sim = Sim::new(1);
        let tells = Tells(&dropped);
        let failure = block_on(&sim, async move {
            let _tells = tells;
            std::future::pending::<()>().await;
        });
        assert_eq!(failure.unwrap_err().verdict(), "deadlock");
        assert!(dropped.get());
        drop(sim);
    }
}
