//! Types, guards and futures, of which the traits are looked up.

use super::tokio;
use crate::parity::is_clone::{Has as _, Otherwise as _};
use crate::parity::is_copy::{Has as _, Otherwise as _};
use crate::parity::is_debug::{Has as _, Otherwise as _};
use crate::parity::is_default::{Has as _, Otherwise as _};
use crate::parity::is_display::{Has as _, Otherwise as _};
use crate::parity::is_eq::{Has as _, Otherwise as _};
use crate::parity::is_error::{Has as _, Otherwise as _};
use crate::parity::is_ref_unwind_safe::{Has as _, Otherwise as _};
use crate::parity::is_send::{Has as _, Otherwise as _};
use crate::parity::is_sync::{Has as _, Otherwise as _};
use crate::parity::is_unpin::{Has as _, Otherwise as _};
use crate::parity::is_unwind_safe::{Has as _, Otherwise as _};
use crate::parity::{Fact, Probe, probe};
use std::marker::PhantomData;

/// `Send` and `Sync`, only `Send`, and neither.
type Both = u8;
type One = std::cell::Cell<u8>;
type Neither = std::rc::Rc<u8>;

type Fd = std::os::fd::OwnedFd;

macro_rules! types {
    ($($($path:ident)::+ $(<$($generics:ty),+>)?),+ $(,)?) => {
        vec![$( fact!(
            stringify!($($path)::+ $(<$($generics),+>)?),
            Probe::<tokio::$($path)::+ $(<$($generics),+>)?>(PhantomData)
        ) ),+]
    };
}

/// The types without a lifetime.
pub(in crate::parity) fn types() -> Vec<Fact> {
    types![
        runtime::Builder, runtime::Handle, runtime::Id,
        runtime::LocalOptions, runtime::LocalRuntime, runtime::Runtime, runtime::RuntimeFlavor,
        runtime::RuntimeMetrics, runtime::TryCurrentError, signal::unix::Signal,
        signal::unix::SignalKind, task::AbortHandle, task::Id, task::JoinError,
        task::JoinHandle<Both>, task::JoinHandle<One>, task::JoinHandle<Neither>,
        task::JoinSet<Both>, task::JoinSet<One>, task::JoinSet<Neither>, task::LocalEnterGuard,
        task::LocalSet, time::Instant, time::Interval, time::MissedTickBehavior, time::Sleep,
        time::Timeout<Both>, time::Timeout<One>, time::Timeout<Neither>, time::error::Elapsed,
        time::error::Error,
        io::DuplexStream, io::Empty, io::Repeat, io::SimplexStream, io::Sink,
        sync::AcquireError, sync::Barrier, sync::BarrierWaitResult, sync::Notify,
        sync::Mutex<Both>, sync::Mutex<One>, sync::Mutex<Neither>,
        sync::OnceCell<Both>, sync::OnceCell<One>, sync::OnceCell<Neither>,
        sync::OwnedMappedMutexGuard<Both, One>, sync::OwnedMappedMutexGuard<One, Both>,
        sync::OwnedMappedMutexGuard<Both, Neither>, sync::OwnedMappedMutexGuard<Neither, Both>,
        sync::OwnedMutexGuard<Both>, sync::OwnedMutexGuard<One>, sync::OwnedMutexGuard<Neither>,
        sync::OwnedRwLockMappedWriteGuard<Both, One>, sync::OwnedRwLockMappedWriteGuard<One, Both>,
        sync::OwnedRwLockReadGuard<Both, Both>, sync::OwnedRwLockReadGuard<Both, One>,
        sync::OwnedRwLockReadGuard<One, Both>, sync::OwnedRwLockWriteGuard<Both>,
        sync::OwnedRwLockWriteGuard<One>, sync::OwnedSemaphorePermit,
        sync::RwLock<Both>, sync::RwLock<One>, sync::RwLock<Neither>, sync::Semaphore,
        sync::SetError<Both>, sync::SetOnce<Both>, sync::SetOnce<One>, sync::SetOnce<Neither>,
        sync::SetOnceError<Both>, sync::TryAcquireError, sync::TryLockError,
        sync::broadcast::Receiver<Both>, sync::broadcast::Receiver<One>,
        sync::broadcast::Receiver<Neither>, sync::broadcast::Sender<Both>,
        sync::broadcast::Sender<One>, sync::broadcast::Sender<Neither>,
        sync::broadcast::WeakSender<One>, sync::broadcast::WeakSender<Neither>,
        sync::broadcast::error::RecvError, sync::broadcast::error::SendError<One>,
        sync::broadcast::error::TryRecvError, sync::futures::OwnedNotified,
        sync::mpsc::OwnedPermit<One>, sync::mpsc::OwnedPermit<Neither>,
        sync::mpsc::Receiver<One>, sync::mpsc::Receiver<Neither>, sync::mpsc::Sender<One>,
        sync::mpsc::Sender<Neither>, sync::mpsc::UnboundedReceiver<One>,
        sync::mpsc::UnboundedReceiver<Neither>, sync::mpsc::UnboundedSender<One>,
        sync::mpsc::UnboundedSender<Neither>, sync::mpsc::WeakSender<One>,
        sync::mpsc::WeakUnboundedSender<Neither>, sync::mpsc::error::SendError<One>,
        sync::mpsc::error::TryRecvError, sync::mpsc::error::TrySendError<One>,
        sync::oneshot::Receiver<One>, sync::oneshot::Receiver<Neither>, sync::oneshot::Sender<One>,
        sync::oneshot::Sender<Neither>, sync::oneshot::error::RecvError,
        sync::oneshot::error::TryRecvError, sync::watch::Receiver<Both>,
        sync::watch::Receiver<One>, sync::watch::Receiver<Neither>, sync::watch::Sender<Both>,
        sync::watch::Sender<One>, sync::watch::Sender<Neither>, sync::watch::error::RecvError,
        sync::watch::error::SendError<One>,
        net::TcpListener, net::TcpSocket, net::TcpStream, net::UdpSocket, net::UnixDatagram,
        net::UnixListener, net::UnixSocket, net::UnixStream, net::tcp::OwnedReadHalf,
        net::tcp::OwnedWriteHalf, net::tcp::ReuniteError, net::unix::OwnedReadHalf,
        net::unix::OwnedWriteHalf, net::unix::ReuniteError, net::unix::SocketAddr,
        net::unix::UCred, net::unix::pipe::OpenOptions, net::unix::pipe::Receiver,
        net::unix::pipe::Sender, fs::DirBuilder, fs::DirEntry, fs::File, fs::FileTimes,
        fs::OpenOptions, fs::ReadDir, io::Stderr, io::Stdin, io::Stdout,
        io::unix::AsyncFd<Fd>, io::unix::AsyncFdRegisterError<Fd>,
        io::unix::TryIoError, process::Command,
    ]
}

macro_rules! borrows {
    ($($type:ty),+ $(,)?) => {
        vec![$( fact!(stringify!($type), Probe::<$type>(PhantomData)) ),+]
    };
}

/// Halves and guards that borrow.
pub(in crate::parity) fn halves() -> Vec<Fact> {
    use tokio::io::unix::{AsyncFdReadyGuard, AsyncFdReadyMutGuard};
    use tokio::net::{tcp, unix};
    borrows![
        AsyncFdReadyGuard<'static, Fd>,
        AsyncFdReadyMutGuard<'static, Fd>,
        tcp::ReadHalf<'static>,
        tcp::WriteHalf<'static>,
        unix::ReadHalf<'static>,
        unix::WriteHalf<'static>,
    ]
}

macro_rules! values {
    ($($value:expr),+ $(,)?) => {
        vec![$( fact!(stringify!($value), probe(&$value)) ),+]
    };
}

/// Guards, permits and futures: what borrows.
pub(in crate::parity) fn futures() -> Vec<Fact> {
    use tokio::sync::*;
    let (both, one) = (Mutex::new(1), Mutex::new(One::new(1)));
    let (read, read_one) = (RwLock::new(1), RwLock::new(One::new(1)));
    let (semaphore, notify, barrier) = (Semaphore::new(9), Notify::new(), Barrier::new(2));
    let (cell, once) = (OnceCell::<One>::new(), SetOnce::<One>::new());
    let ((sender, mut receiver), mut buffer) = (mpsc::channel::<One>(9), Vec::new());
    let (mut tx, _rx) = oneshot::channel::<One>();
    let (to_all, mut from_all) = broadcast::channel::<One>(9);
    let (last, mut watched) = watch::channel(1u8);
    values![
        both.lock(),
        one.lock(),
        both.try_lock().unwrap(),
        one.try_lock().unwrap(),
        MutexGuard::map(one.try_lock().unwrap(), |value| value),
        read.read(),
        read.write(),
        read_one.read(),
        read_one.write(),
        read.try_read().unwrap(),
        read.try_write().unwrap(),
        read_one.try_read().unwrap(),
        read_one.try_write().unwrap(),
        RwLockWriteGuard::into_mapped(read_one.try_write().unwrap()),
        semaphore.acquire(),
        semaphore.acquire_many(2),
        semaphore.try_acquire().unwrap(),
        notify.notified(),
        barrier.wait(),
        cell.get_or_init(|| async { One::new(1) }),
        once.wait(),
        sender.send(One::new(1)),
        sender.closed(),
        sender.reserve(),
        sender.reserve_many(2),
        sender.clone().reserve_owned(),
        sender.try_reserve().unwrap(),
        sender.try_reserve_many(2).unwrap(),
        receiver.recv(),
        receiver.recv_many(&mut buffer, 2),
        tx.closed(),
        to_all.closed(),
        from_all.recv(),
        last.closed(),
        last.borrow(),
        watched.changed(),
        watched.wait_for(|_| true),
    ]
}
