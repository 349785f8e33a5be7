//! Calls on sockets that wait.
//!
//! Owns: the loop of a call: it is tried, and where it would wait the task that runs is put aside until
//! something has happened to the socket, or its time is over. Does not own: what is tried. A task may be
//! stopped before each call, as before any other operation.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use detsim_executor::{OpKind, SimTime, context, sleep_until, threads};
use detsim_net::{Side, Socket, Ticket};

use super::table::{Known, Listening};

/// What is to be done, as whoever orders operations and the wait graph know it.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) op: OpKind,
    pub(super) side: Side,
}

impl Call {
    pub(super) const ACCEPT: Self = Self { op: OpKind::Accept, side: Side::Read };
    pub(super) const CONNECT: Self = Self { op: OpKind::Connect, side: Side::Write };
    pub(super) const RECV: Self = Self { op: OpKind::Recv, side: Side::Read };
    pub(super) const SEND: Self = Self { op: OpKind::Send, side: Side::Write };

    fn limit(self, known: &Known) -> Option<Duration> {
        let [read, write] = known.limits.get();
        if self.side == Side::Write { write } else { read }
    }
}

fn errno(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// Makes a call, and waits as long as it takes, where that is wanted.
pub(super) fn make<R>(
    known: &Known,
    call: Call,
    waits: bool,
    mut attempt: impl FnMut(&Socket) -> io::Result<R>,
) -> io::Result<R> {
    begin(known, call)?;
    let until = call.limit(known).map(|limit| context::now() + limit);
    loop {
        match known.with(&mut attempt) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && waits => {
                if !wait_for(&[(known, call)], false, until)? {
                    return Err(error);
                }
            }
            done => return done,
        }
    }
}

/// Receives a datagram; `None` where there is none and the socket is shut for reading, which Linux says to who
/// may wait only.
pub(super) fn make_unless_shut<R>(
    known: &Known,
    waits: bool,
    mut receive: impl FnMut(&Socket) -> io::Result<R>,
) -> io::Result<Option<R>> {
    make(known, Call::RECV, waits, |socket| match receive(socket) {
        Err(error) if waits && error.kind() == io::ErrorKind::WouldBlock => {
            if socket.is_shut_for_reading()? { Ok(None) } else { Err(error) }
        }
        received => received.map(Some),
    })
}

/// A task may be stopped before a call; whoever is gone makes none.
fn begin(known: &Known, call: Call) -> io::Result<()> {
    if threads::is_gone() {
        threads::fail_call();
        return Err(errno(libc::EIO));
    }
    let is_in_task = context::with(|kernel| kernel.is_in_task()) == Some(true);
    if !is_in_task || std::thread::panicking() {
        return Ok(());
    }
    let hold = known.with(|socket| socket.holds_before(call.op));
    match hold.is_none_or(detsim_executor::Hold::take_in_call) {
        true => Ok(()),
        false => Err(errno(libc::EIO)),
    }
}

/// Waits until something happens to one of these, or, where that is asked for, may have happened to a
/// descriptor of the system's; false where the time was over before.
pub(super) fn wait_for(
    sockets: &[(&Known, Call)],
    listens: bool,
    until: Option<SimTime>,
) -> io::Result<bool> {
    let waker = context::with(|kernel| kernel.is_in_task().then(|| kernel.own_waker())).flatten();
    // Nobody can wait where no task is.
    let waker = waker.ok_or_else(|| errno(libc::EDEADLK))?;
    let mut tickets: Vec<Ticket> = sockets.iter().map(|_| Ticket::default()).collect();
    for ((known, call), ticket) in sockets.iter().zip(&mut tickets) {
        known.with(|socket| socket.enlist(call.op, call.side, ticket, waker.clone()));
    }
    let listening = listens.then(|| Listening::with(waker.clone())).flatten();
    let woken = sleep_or_wake(&waker, until);
    drop(listening);
    for ((known, _), ticket) in sockets.iter().zip(&tickets) {
        known.with(|socket| socket.forget(ticket));
    }
    woken
}

fn sleep_or_wake(waker: &Waker, until: Option<SimTime>) -> io::Result<bool> {
    let mut timer = pin!(until.map(sleep_until));
    if let Some(timer) = timer.as_mut().as_pin_mut()
        && timer.poll(&mut Context::from_waker(waker)) == Poll::Ready(())
    {
        return Ok(false);
    }
    match threads::wait_for_wake() {
        Some(true) => Ok(until.is_none_or(|until| context::now() < until)),
        Some(false) => Err(errno(libc::EIO)),
        None => Err(errno(libc::EDEADLK)),
    }
}
