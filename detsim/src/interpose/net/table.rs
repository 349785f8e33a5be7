//! Which descriptors are simulated sockets.
//!
//! Owns: [`Table`], of one run; what a descriptor has beside its socket: whether its calls wait, and for how
//! long. Does not own: sockets. A descriptor is a real one, of a socket that is connected to nothing, so
//! that its number is nobody else's; what it says of itself is not asked.
//!
//! Invariants: a descriptor that is not in the table is the system's; it leaves the table when it is closed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::Waker;
use std::time::Duration;

use detsim_executor::{Deadline, Device, Sim, context, threads};
use detsim_net::{Alias, Socket};
use libc::c_int;

use super::epoll::Epoll;

/// Whether any run of this process ever had such a descriptor: no other call asks further.
static USED: AtomicBool = AtomicBool::new(false);

/// The descriptors of a run.
#[derive(Default)]
pub(super) struct Table {
    known: RefCell<BTreeMap<c_int, Rc<Known>>>,
    epolls: RefCell<BTreeMap<c_int, Rc<Epoll>>>,
    /// Those that one of tokio's types watches: none is watched twice.
    watched: RefCell<BTreeSet<c_int>>,
    /// Who waits for a descriptor of the system's, and under which number.
    listeners: RefCell<BTreeMap<u64, Waker>>,
    numbers: Cell<u64>,
}

/// How many wait so, in all runs of the process: nobody else rings.
static LISTENERS: AtomicU64 = AtomicU64::new(0);

/// What is behind a descriptor, and those that were made of it.
#[derive(Debug)]
pub(super) struct Known {
    socket: Held,
    /// Its calls that would wait give EAGAIN.
    pub(super) never_waits: Cell<bool>,
    /// Reads give the end.
    pub(super) is_read_shut: Cell<bool>,
    /// How long a call waits at most: [read, write].
    pub(super) limits: Cell<[Option<Duration>; 2]>,
}

#[derive(Debug)]
enum Held {
    Own(Socket),
    /// One of tokio's types has it.
    Lent(Alias),
}

impl Known {
    /// With a socket of its own.
    pub(super) fn own(socket: Socket, never_waits: bool) -> Self {
        Self::new(Held::Own(socket), never_waits)
    }

    /// With the socket of one of tokio's types, whose calls never wait.
    pub(super) fn lent(alias: Alias) -> Self {
        Self::new(Held::Lent(alias), true)
    }

    fn new(socket: Held, never_waits: bool) -> Self {
        let (is_read_shut, limits) = (Cell::new(false), Cell::new([None, None]));
        Self { socket, never_waits: Cell::new(never_waits), is_read_shut, limits }
    }

    /// A name for the socket.
    pub(super) fn alias(&self) -> Alias {
        match &self.socket {
            Held::Own(socket) => socket.alias(),
            Held::Lent(alias) => alias.clone(),
        }
    }

    pub(super) fn with<R>(&self, f: impl FnOnce(&Socket) -> R) -> R {
        match &self.socket {
            Held::Own(socket) => f(socket),
            Held::Lent(alias) => alias.with(f),
        }
    }
}

impl Table {
    fn get(&self, fd: c_int) -> Option<Rc<Known>> {
        self.known.borrow().get(&fd).cloned()
    }
}

impl Device for Table {
    fn next_deadline(&self) -> Option<Deadline> {
        None
    }

    fn handle(&self) {}

    fn on_end(&self) {
        // Sockets are closed while their simulation is there.
        drop((self.known.take(), self.epolls.take()));
    }
}

fn table(sim: &Sim) -> Rc<Table> {
    sim.device().unwrap_or_else(|| {
        USED.store(true, Relaxed);
        let made = Rc::new(Table::default());
        sim.add_device(Rc::clone(&made) as Rc<dyn Device>);
        made
    })
}

/// What is behind a descriptor, in the run whose business a call of this thread is.
pub(super) fn find(fd: c_int) -> Option<Rc<Known>> {
    if !USED.load(Relaxed) || fd < 0 {
        return None;
    }
    let find = || Some(context::sim()?.device::<Table>()?.get(fd));
    threads::inside(find).flatten().flatten()
}

/// Whether any run ever had a simulated socket behind a descriptor.
pub(super) fn is_used() -> bool {
    USED.load(Relaxed)
}

/// The `epoll` of a descriptor, where it was made in the run whose business a call of this thread is.
pub(super) fn find_epoll(fd: c_int) -> Option<Rc<Epoll>> {
    if !is_used() || fd < 0 || threads::is_outside() {
        return None;
    }
    let find = || context::sim()?.device::<Table>()?.epolls.borrow().get(&fd).cloned();
    threads::inside(find).flatten()
}

/// A descriptor is an `epoll` from now on.
pub(super) fn put_epoll(fd: c_int, epoll: Rc<Epoll>) {
    if let Some(sim) = context::sim() {
        table(&sim).epolls.borrow_mut().insert(fd, epoll);
    }
}

/// A descriptor is watched from now on, or no more; whether it was so before.
pub(super) fn set_watched(fd: c_int, is_watched: bool) -> bool {
    let set = || {
        let table = context::sim()?.device::<Table>()?;
        let mut watched = table.watched.borrow_mut();
        Some(if is_watched { !watched.insert(fd) } else { watched.remove(&fd) })
    };
    threads::inside(set).flatten().unwrap_or(false)
}

/// Does anybody wait for a descriptor of the system's?
#[inline]
pub(super) fn is_listened() -> bool {
    LISTENERS.load(Relaxed) > 0
}

/// Something may have happened to a descriptor of the system's: who waits for one looks.
pub(super) fn ring() {
    let listeners = threads::inside(|| {
        let sim = context::sim()?;
        Some(sim.device::<Table>()?.listeners.borrow().values().cloned().collect::<Vec<_>>())
    });
    listeners.flatten().into_iter().flatten().for_each(Waker::wake);
}

/// One that waits for a descriptor of the system's, until this is dropped.
pub(super) struct Listening {
    table: Rc<Table>,
    number: u64,
}

impl Listening {
    /// `None` outside of a run.
    pub(super) fn with(waker: Waker) -> Option<Self> {
        let table = table(&context::sim()?);
        let number = table.numbers.get();
        table.numbers.set(number + 1);
        table.listeners.borrow_mut().insert(number, waker);
        LISTENERS.fetch_add(1, Relaxed);
        Some(Self { table, number })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENERS.fetch_sub(1, Relaxed);
        let waker = self.table.listeners.borrow_mut().remove(&self.number);
        drop(waker);
    }
}

/// A descriptor has this behind it from now on.
pub(super) fn put(fd: c_int, known: Rc<Known>) {
    let old = context::sim().and_then(|sim| table(&sim).known.borrow_mut().insert(fd, known));
    drop(old);
}

/// A descriptor is closed, or given up for one of tokio's types.
pub(super) fn remove(fd: c_int) -> Option<Rc<Known>> {
    if !USED.load(Relaxed) || fd < 0 {
        return None;
    }
    let remove = || {
        let table = context::sim()?.device::<Table>()?;
        table.watched.borrow_mut().remove(&fd);
        let epoll = table.epolls.borrow_mut().remove(&fd);
        drop(epoll);
        table.known.borrow_mut().remove(&fd)
    };
    threads::inside(remove).flatten()
}

/// The socket behind a descriptor, for one of tokio's types to have; an error where others have it too.
pub(super) fn take(fd: c_int) -> Option<Result<Socket, ()>> {
    let known = remove(fd)?;
    match Rc::try_unwrap(known) {
        Ok(Known { socket: Held::Own(socket), .. }) => Some(Ok(socket)),
        Ok(_) => Some(Err(())),
        Err(known) => {
            put(fd, known);
            Some(Err(()))
        }
    }
}
