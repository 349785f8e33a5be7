//! A call, as a task makes it.
//!
//! Owns: the operation before which the task may be stopped, the time that a call takes, and work
//! that goes on without being polled. Does not own: the call itself.

use crate::context;
use detsim_executor::{JoinHandle, OpKind, SimTime, sleep_until};
use detsim_fs::{Cost, Disks};
use std::future::{pending, poll_fn};
use std::io;
use std::rc::Rc;
use std::task::Poll;

/// The disks of this run.
///
/// # Panics
/// Outside of a simulation, in tokio's words.
#[track_caller]
pub(super) fn disks() -> Rc<Disks> {
    detsim::__private::disks().unwrap_or_else(|| context::missing())
}

/// Makes a call.
pub(super) async fn call<T>(cost: Cost, f: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    timed(cost, f).await
}

async fn timed<T>(cost: Cost, f: impl FnOnce() -> T) -> T {
    let end = begin(cost).await;
    if cost == Cost::Read {
        sleep_until(end).await;
        return f();
    }
    let done = f();
    sleep_until(end).await;
    done
}

/// Waits until the call may begin; when it is to end.
pub(super) async fn begin(cost: Cost) -> SimTime {
    let kind = match cost {
        Cost::Read => OpKind::Read,
        Cost::Write | Cost::Sync => OpKind::Write,
    };
    let mut asked = false;
    poll_fn(|cx| match disks().stops_before(kind, &mut asked, cx.waker()) {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
    .await;
    let end = {
        let disks = disks();
        disks.operate(kind);
        disks.end_of(cost)
    };
    if end == SimTime::MAX {
        // The node loses its power first, and this task with it.
        pending::<()>().await;
    }
    end
}

/// Makes a call that goes on whether or not it is waited for.
pub(super) fn start<T: 'static>(cost: Cost, f: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    // Outside of a simulation it is tokio's panic.
    drop(disks());
    detsim_executor::context::spawn("file", timed(cost, f))
}

/// The error of a call whose task is gone.
pub(super) fn gone() -> io::Error {
    io::Error::other("background task failed")
}
