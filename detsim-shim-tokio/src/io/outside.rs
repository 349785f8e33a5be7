//! Descriptors of the operating system in a run.
//!
//! Owns: [`Outside`], which knows the descriptors that the runtimes of one run watch, asks the system
//! which of them are ready, and passes that on. Does not own: who waits (`registration.rs`).
//!
//! A run stays repeatable where both ends of what it watches are its own, as those of a socket pair are:
//! then only its own calls make them ready. So the system is asked without waiting, where somebody wants
//! to know, where nothing else can run, and now and then while something can; what it says is taken in
//! the order in which the descriptors were registered. Only where nothing is left to happen does the run
//! wait, in real time, for whoever has the other ends.

mod registration;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use detsim::__private::{Happened, Poller, Wanted};
use detsim_executor::{Bound, Deadline, Device, DeviceId, Kernel, Sim, context};
use tokio::io::{Interest, Ready};

use crate::net::ready::union;

pub(crate) use self::registration::{Event, Registration, Ticket, Want};

/// How long the tasks of a run may go on before the system is asked again: as long as 61 polls take,
/// after which tokio asks.
const ASKS_EVERY: Duration = Duration::from_nanos(61 * 50);

/// The descriptors of one run.
#[derive(Debug)]
pub(crate) struct Outside {
    poller: Poller,
    table: Bound<Table>,
    /// How many wait.
    waiting: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    entries: BTreeMap<u64, Entry>,
    tokens: u64,
    device: Option<DeviceId>,
    is_armed: bool,
}

#[derive(Debug)]
struct Entry {
    /// The runtime, by the number of its group.
    owner: u64,
    registration: Arc<Registration>,
}

impl Outside {
    /// That of a run, made at the first use.
    ///
    /// # Errors
    /// Where the process has no descriptors left.
    pub(crate) fn of(sim: &Sim) -> io::Result<Arc<Self>> {
        if let Some(plug) = sim.device::<Plug>() {
            return Ok(Arc::clone(&plug.0));
        }
        let poller = Poller::new()?;
        let table = Bound::new(Table::default());
        let outside = Arc::new(Self { poller, table, waiting: AtomicU64::new(0) });
        let device = sim.add_device(Rc::new(Plug(Arc::clone(&outside))));
        outside.table.enter().device = Some(device);
        sim.with(Kernel::watch_rests);
        Ok(outside)
    }

    /// Watches a descriptor for a runtime. Its number.
    ///
    /// # Errors
    /// EBADF, EPERM for what cannot be watched.
    pub(crate) fn add(
        &self,
        fd: RawFd,
        interest: Interest,
        owner: u64,
        registration: &Arc<Registration>,
    ) -> io::Result<u64> {
        let mut table = self.table.enter();
        table.tokens += 1;
        let token = table.tokens;
        drop(table);
        if !registration.is_simulated() {
            self.poller.add(fd, token, wanted(interest))?;
        }
        let entry = Entry { owner, registration: Arc::clone(registration) };
        self.table.enter().entries.insert(token, entry);
        Ok(token)
    }

    /// Watches it no more. One that was closed before its registration goes is forgotten all the same.
    pub(crate) fn remove(&self, fd: RawFd, token: u64) {
        // As in tokio, where the descriptor may be closed already.
        drop(self.poller.remove(fd));
        let entry = self.table.enter().entries.remove(&token);
        drop(entry);
    }

    /// A runtime is gone: what its registrations wait for will never come.
    pub(crate) fn shut(&self, owner: u64) {
        let mut table = self.table.enter();
        let theirs = table.entries.values_mut().filter(|entry| entry.owner == owner);
        let theirs = theirs.map(|entry| Arc::clone(&entry.registration)).collect::<Vec<_>>();
        drop(table);
        theirs.iter().for_each(|registration| registration.shut());
    }

    /// Asks the system what has happened, and tells who waits for it.
    pub(crate) fn ask(&self) {
        self.ask_for(Duration::ZERO);
    }

    fn ask_for(&self, limit: Duration) {
        for happened in self.poller.wait(limit) {
            let table = self.table.enter();
            let found = table.entries.get(&happened.token);
            let found = found.map(|entry| Arc::clone(&entry.registration));
            drop(table);
            found.into_iter().for_each(|registration| registration.happened(ready(happened)));
        }
    }

    /// Somebody waits from now on, or waits no more.
    fn waits(&self, begins: bool) {
        if !begins {
            self.waiting.fetch_sub(1, Relaxed);
            return;
        }
        self.waiting.fetch_add(1, Relaxed);
        self.arm();
    }

    fn someone_waits(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    /// Has the system asked again before long, where that is not planned yet.
    fn arm(&self) {
        let mut section = self.table.enter();
        let (table, Some(kernel)) = section.both() else { return };
        if let (false, Some(device)) = (table.is_armed, table.device) {
            table.is_armed = true;
            let deadline = next(kernel);
            kernel.set_deadline(device, Some(deadline));
        }
    }

    /// Nobody has to be asked before something else happens.
    fn disarm(&self) {
        let mut section = self.table.enter();
        let (table, Some(kernel)) = section.both() else { return };
        if let (true, Some(device)) = (table.is_armed, table.device) {
            table.is_armed = false;
            kernel.set_deadline(device, None);
        }
    }
}

fn next(kernel: &mut Kernel) -> Deadline {
    let at = kernel.now() + ASKS_EVERY;
    Deadline { at, seq: kernel.next_seq() }
}

/// What the system is to tell of for an interest. It tells of errors always, and has to be asked for
/// something.
pub(crate) fn wanted(interest: Interest) -> Wanted {
    Wanted {
        reads: interest.is_readable() || interest.is_error(),
        writes: interest.is_writable(),
        priority: interest.is_priority(),
    }
}

/// What has happened, in tokio's words.
fn ready(happened: Happened) -> Ready {
    union(&[
        (happened.reads(), Ready::READABLE),
        (happened.writes(), Ready::WRITABLE),
        (happened.reads_end(), Ready::READ_CLOSED),
        (happened.writes_end(), Ready::WRITE_CLOSED),
        (happened.priority(), Ready::PRIORITY),
        (happened.error(), Ready::ERROR),
    ])
}

/// What the run loop calls.
struct Plug(Arc<Outside>);

impl Device for Plug {
    fn next_deadline(&self) -> Option<Deadline> {
        let is_planned = self.0.table.enter().is_armed && self.0.someone_waits();
        is_planned.then(|| context::with(next)).flatten()
    }

    fn handle(&self) {
        self.0.ask();
    }

    fn on_rest(&self) {
        if self.0.someone_waits() {
            self.0.ask();
            self.0.disarm();
        }
    }

    fn on_wake(&self) {
        if self.0.someone_waits() {
            self.0.arm();
        }
    }

    fn hopes(&self) -> bool {
        self.0.someone_waits()
    }

    fn wait_outside(&self, limit: Duration) {
        self.0.ask_for(limit);
    }

    fn on_end(&self) {
        let entries = std::mem::take(&mut self.0.table.enter().entries);
        entries.values().for_each(|entry| entry.registration.shut());
    }
}
