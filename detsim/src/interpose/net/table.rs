//! Which descriptors are simulated sockets.
//!
//! Owns: [`Table`], of one run; what a descriptor has beside its socket: whether its calls wait, and for how
//! long. Does not own: sockets. A descriptor is a real one, of a socket that is connected to nothing, so
//! that its number is nobody else's; what it says of itself is not asked.
//!
//! Invariants: a descriptor that is not in the table is the system's; it leaves the table when it is closed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use detsim_executor::{Deadline, Device, Sim, context, threads};
use detsim_net::{Alias, Socket};
use libc::c_int;

/// Whether any run of this process ever had such a descriptor: no other call asks further.
static USED: AtomicBool = AtomicBool::new(false);

/// The descriptors of a run.
#[derive(Default)]
pub(super) struct Table {
    known: RefCell<BTreeMap<c_int, Rc<Known>>>,
}

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
        drop(self.known.take());
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
    let remove = || context::sim()?.device::<Table>()?.known.borrow_mut().remove(&fd);
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
