//! Calls of code that blocks its thread: std's files, and whatever else links to libc.
//!
//! Owns: the time that such a call takes, where its task may be stopped before it, the loss of power at
//! it, its waits, and that nothing comes of the calls of a process that is dead. Does not own: what a call does.
//! Invariants: nothing is borrowed while a thread waits; a thread that is never to go on comes back with
//! `EIO`, since its callers cannot be unwound.

use std::time::Duration;

use detsim_executor::{OpKind, SimTime, threads};

use super::{Cost, Disks, draw_course};
use crate::errno::{Errno, Outcome};

/// How a call goes that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// At once: nobody has to wait for it.
    AtOnce,
    /// It lasts until this moment.
    Until(SimTime),
    /// The power goes, before it has done anything.
    NeverBegins,
    /// The power goes when it has done its work.
    NeverReturns,
}

impl Disks {
    /// What `f` calls takes no time and stops nobody: whoever makes it is an async program that waits
    /// and is stopped by itself.
    pub fn at_once<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Back<'a>(&'a Disks, bool);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.at_once.set(self.1);
            }
        }
        let _back = Back(self, self.at_once.replace(true));
        f()
    }

    /// Makes a call of the thread that runs: its task may be stopped before it, others run while it
    /// lasts, and the node may lose its power at it.
    ///
    /// # Errors
    /// What `f` gives; `EIO` where the process that calls is dead, and only its thread is not yet gone.
    #[track_caller]
    pub fn blocking<R>(&self, cost: Cost, f: impl FnOnce(&Self) -> Outcome<R>) -> Outcome<R> {
        match self.course(cost)? {
            Course::AtOnce => f(self),
            Course::Until(end) if cost == Cost::Read && self.looks_late() => {
                pass(end)?;
                f(self)
            }
            Course::Until(end) => {
                let done = f(self);
                pass(end)?;
                done
            }
            Course::NeverBegins => Err(self.die()),
            Course::NeverReturns => {
                let _nobody_hears = f(self);
                Err(self.die())
            }
        }
    }

    /// As [`Self::blocking`], of a sync: what is written while it lasts is not covered.
    ///
    /// # Errors
    /// Those of [`Self::sync`] and of [`Self::blocking`].
    #[track_caller]
    pub fn blocking_sync(&self, fd: i32, data_only: bool) -> Outcome<()> {
        match self.course(Cost::Sync)? {
            Course::AtOnce => self.sync(fd, data_only),
            Course::Until(end) => {
                let point = self.begin_sync(fd, data_only)?;
                pass(end)?;
                self.finish_sync(fd, point)
            }
            Course::NeverBegins => Err(self.die()),
            Course::NeverReturns => {
                let _nobody_hears = self.sync(fd, data_only);
                Err(self.die())
            }
        }
    }

    #[track_caller]
    fn course(&self, cost: Cost) -> Outcome<Course> {
        if threads::is_gone() {
            threads::fail_call();
            return Err(Errno::EIO);
        }
        // What runs while a panic unwinds is not waited for: neither is the panic's own message.
        if self.at_once.get()
            || std::thread::panicking()
            || !self.sim.with(|kernel| kernel.is_in_task())
        {
            return Ok(Course::AtOnce);
        }
        let kind = cost.operation();
        let hold = self.on_object(|kernel, object| kernel.holds_before(object, kind));
        if hold.is_some_and(|hold| !hold.take_in_call()) {
            return Err(Errno::EIO);
        }
        self.operate(kind);
        Ok(self.draw_course(cost))
    }

    fn draw_course(&self, cost: Cost) -> Course {
        let node = self.node();
        if self.walks_into(node, cost) {
            return Course::NeverBegins;
        }
        self.call(node, |mut call| {
            let (lasts_ns, power_ns) = draw_course(&mut call, cost);
            match (power_ns, cost) {
                (None, _) => Course::Until(call.kernel.now() + Duration::from_nanos(lasts_ns)),
                (Some(0), _) => Course::NeverBegins,
                // What a sync has not ended yet is not durable.
                (Some(ns), Cost::Sync) if ns <= lasts_ns => Course::NeverBegins,
                (Some(_), _) => Course::NeverReturns,
            }
        })
    }

    /// What a call sees that only looks is as of its beginning or of its end.
    fn looks_late(&self) -> bool {
        self.call(self.node(), |call| call.disk.draw(call.kernel, "look", 2) == 1)
    }

    /// The node that runs loses its power now, and the thread that runs with it.
    #[track_caller]
    fn die(&self) -> Errno {
        self.lose_power_now(self.node());
        while threads::wait_for_wake() == Some(true) {}
        Errno::EIO
    }
}

impl Cost {
    /// What a call of this cost is to whoever orders operations.
    pub(super) fn operation(self) -> OpKind {
        match self {
            Self::Read => OpKind::Read,
            Self::Rename | Self::Write | Self::Sync => OpKind::Write,
        }
    }
}

#[track_caller]
fn pass(end: SimTime) -> Outcome<()> {
    match threads::pass_time(end) {
        true => Ok(()),
        false => Err(Errno::EIO),
    }
}
