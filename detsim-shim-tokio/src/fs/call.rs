//! A call, as a task makes it.
//!
//! Owns: the operation before which the task may be stopped, the time that a call takes, and work
//! that goes on without being polled. Does not own: the call itself.

use crate::context;
use crate::runtime::scope;
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
///
/// # Errors
/// That of the call; tokio's where the runtime was shut down.
pub(super) async fn call<T>(cost: Cost, f: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if is_gone() {
        return Err(gone());
    }
    timed(cost, f).await
}

/// Whether the runtime has been shut down, and with it the threads on which tokio makes calls.
fn is_gone() -> bool {
    scope::current().is_some_and(|runtime| runtime.is_shut_down())
}

async fn timed<T>(cost: Cost, f: impl FnOnce() -> T) -> T {
    let end = begin(cost).await;
    if cost == Cost::Read {
        sleep_until(end).await;
        return disks().at_once(f);
    }
    let done = disks().at_once(f);
    sleep_until(end).await;
    done
}

/// Waits until the call may begin; when it is to end.
pub(super) async fn begin(cost: Cost) -> SimTime {
    let kind = match cost {
        Cost::Read => OpKind::Read,
        Cost::Rename | Cost::Write | Cost::Sync => OpKind::Write,
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

/// Makes a call that goes on whether or not it is waited for. Where the runtime has been shut down, it is
/// gone before it begins.
pub(super) fn start<T: 'static>(cost: Cost, f: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    let (runtime, is_gone) = (scope::current(), is_gone());
    let begin = || {
        // Outside of a simulation it is tokio's panic.
        drop(disks());
        let call = detsim_executor::context::spawn("file", timed(cost, f));
        if is_gone {
            call.abort();
        }
        call
    };
    match runtime.filter(|_| !detsim_executor::context::is_inside()) {
        Some(runtime) => runtime.sim().enter(begin),
        None => begin(),
    }
}

/// The error of a call whose task is gone.
pub(super) fn gone() -> io::Error {
    io::Error::other("background task failed")
}
