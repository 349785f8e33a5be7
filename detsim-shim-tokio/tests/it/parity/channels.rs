//! Channels: every method, by its type.
#![expect(dead_code, reason = "what waits is compiled, not called")]
#![expect(clippy::type_complexity, reason = "these are the types")]

use super::tokio;
use std::future::Future;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

pub(in crate::parity) fn bounded() {
    use mpsc::error::*;
    use mpsc::*;
    let _: fn(usize) -> (Sender<u8>, Receiver<u8>) = channel;
    let _: fn(&Sender<u8>, u8) -> Result<(), TrySendError<u8>> = Sender::try_send;
    let _: fn(&Sender<u8>, u8) -> Result<(), SendError<u8>> = Sender::blocking_send;
    let _: fn(&Sender<u8>) -> bool = Sender::is_closed;
    let _: fn(&Sender<u8>) -> Result<Permit<'_, u8>, TrySendError<()>> = Sender::try_reserve;
    let _: fn(&Sender<u8>, usize) -> Result<PermitIterator<'_, u8>, TrySendError<()>> =
        Sender::try_reserve_many;
    let _: fn(Sender<u8>) -> Result<OwnedPermit<u8>, TrySendError<Sender<u8>>> =
        Sender::try_reserve_owned;
    let _: fn(&Sender<u8>, &Sender<u8>) -> bool = Sender::same_channel;
    let _: fn(&Sender<u8>) -> WeakSender<u8> = Sender::downgrade;
    let _: fn(&WeakSender<u8>) -> Option<Sender<u8>> = WeakSender::upgrade;
    let _: [fn(&Sender<u8>) -> usize; 4] =
        [Sender::capacity, Sender::max_capacity, Sender::strong_count, Sender::weak_count];
    let _: [fn(&WeakSender<u8>) -> usize; 2] = [WeakSender::strong_count, WeakSender::weak_count];
    let _: fn(&mut Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
    let _: fn(&mut Receiver<u8>) -> Option<u8> = Receiver::blocking_recv;
    let _: fn(&mut Receiver<u8>, &mut Vec<u8>, usize) -> usize = Receiver::blocking_recv_many;
    let _: fn(&mut Receiver<u8>) = Receiver::close;
    let _: [fn(&Receiver<u8>) -> bool; 2] = [Receiver::is_closed, Receiver::is_empty];
    let _: [fn(&Receiver<u8>) -> usize; 5] = [
        Receiver::len,
        Receiver::capacity,
        Receiver::max_capacity,
        Receiver::sender_strong_count,
        Receiver::sender_weak_count,
    ];
    let _: fn(&mut Receiver<u8>, &mut Context<'_>) -> Poll<Option<u8>> = Receiver::poll_recv;
    let _: fn(&mut Receiver<u8>, &mut Context<'_>, &mut Vec<u8>, usize) -> Poll<usize> =
        Receiver::poll_recv_many;
    let _: fn(Permit<'static, u8>, u8) = Permit::send;
    let _: fn(OwnedPermit<u8>, u8) -> Sender<u8> = OwnedPermit::send;
    let _: fn(OwnedPermit<u8>) -> Sender<u8> = OwnedPermit::release;
    let _: fn(&OwnedPermit<u8>, &OwnedPermit<u8>) -> bool = OwnedPermit::same_channel;
    let _: fn(&OwnedPermit<u8>, &Sender<u8>) -> bool = OwnedPermit::same_channel_as_sender;
}

pub(in crate::parity) async fn bounded_waits(
    sender: mpsc::Sender<u8>,
    mut receiver: mpsc::Receiver<u8>,
) {
    use mpsc::error::*;
    let _: Result<(), SendError<u8>> = sender.send(1).await;
    let _: Result<(), SendTimeoutError<u8>> = sender.send_timeout(1, Duration::ZERO).await;
    let _: Result<mpsc::Permit<'_, u8>, SendError<()>> = sender.reserve().await;
    let _: Result<mpsc::PermitIterator<'_, u8>, SendError<()>> = sender.reserve_many(2).await;
    let _: Option<u8> = receiver.recv().await;
    let _: usize = receiver.recv_many(&mut Vec::new(), 2).await;
    let () = sender.closed().await;
    let _: Result<mpsc::OwnedPermit<u8>, SendError<()>> = sender.reserve_owned().await;
}

pub(in crate::parity) fn unbounded() {
    use mpsc::error::*;
    use mpsc::{UnboundedReceiver as Receiver, UnboundedSender as Sender, *};
    let _: fn() -> (Sender<u8>, Receiver<u8>) = unbounded_channel;
    let _: fn(&Sender<u8>, u8) -> Result<(), SendError<u8>> = Sender::send;
    let _: fn(&Sender<u8>) -> bool = Sender::is_closed;
    let _: fn(&Sender<u8>, &Sender<u8>) -> bool = Sender::same_channel;
    let _: fn(&Sender<u8>) -> WeakUnboundedSender<u8> = Sender::downgrade;
    let _: [fn(&Sender<u8>) -> usize; 2] = [Sender::strong_count, Sender::weak_count];
    let _: fn(&WeakUnboundedSender<u8>) -> Option<Sender<u8>> = WeakUnboundedSender::upgrade;
    let _: [fn(&WeakUnboundedSender<u8>) -> usize; 2] =
        [WeakUnboundedSender::strong_count, WeakUnboundedSender::weak_count];
    let _: fn(&mut Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
    let _: fn(&mut Receiver<u8>) -> Option<u8> = Receiver::blocking_recv;
    let _: fn(&mut Receiver<u8>, &mut Vec<u8>, usize) -> usize = Receiver::blocking_recv_many;
    let _: fn(&mut Receiver<u8>) = Receiver::close;
    let _: [fn(&Receiver<u8>) -> bool; 2] = [Receiver::is_closed, Receiver::is_empty];
    let _: [fn(&Receiver<u8>) -> usize; 3] =
        [Receiver::len, Receiver::sender_strong_count, Receiver::sender_weak_count];
    let _: fn(&mut Receiver<u8>, &mut Context<'_>) -> Poll<Option<u8>> = Receiver::poll_recv;
    let _: fn(&mut Receiver<u8>, &mut Context<'_>, &mut Vec<u8>, usize) -> Poll<usize> =
        Receiver::poll_recv_many;
}

pub(in crate::parity) fn oneshot() {
    use oneshot::error::*;
    use oneshot::*;
    let _: fn() -> (Sender<u8>, Receiver<u8>) = channel;
    let _: fn(Sender<u8>, u8) -> Result<(), u8> = Sender::send;
    let _: fn(&Sender<u8>) -> bool = Sender::is_closed;
    let _: fn(&mut Sender<u8>, &mut Context<'_>) -> Poll<()> = Sender::poll_closed;
    let _: fn(&mut Receiver<u8>) = Receiver::close;
    let _: [fn(&Receiver<u8>) -> bool; 2] = [Receiver::is_empty, Receiver::is_terminated];
    let _: fn(&mut Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
    let _: fn(Receiver<u8>) -> Result<u8, RecvError> = Receiver::blocking_recv;
    fn is_future<F: Future<Output = Result<u8, RecvError>>>() {}
    is_future::<Receiver<u8>>();
}

pub(in crate::parity) fn broadcast() {
    use broadcast::error::*;
    use broadcast::*;
    let _: fn(usize) -> (Sender<u8>, Receiver<u8>) = channel;
    let _: fn(usize) -> Sender<u8> = Sender::new;
    let _: fn(&Sender<u8>, u8) -> Result<usize, SendError<u8>> = Sender::send;
    let _: fn(&Sender<u8>) -> Receiver<u8> = Sender::subscribe;
    let _: fn(&Sender<u8>) -> WeakSender<u8> = Sender::downgrade;
    let _: fn(&Sender<u8>) -> bool = Sender::is_empty;
    let _: fn(&Sender<u8>, &Sender<u8>) -> bool = Sender::same_channel;
    let _: [fn(&Sender<u8>) -> usize; 4] =
        [Sender::len, Sender::receiver_count, Sender::strong_count, Sender::weak_count];
    let _: fn(&WeakSender<u8>) -> Option<Sender<u8>> = WeakSender::upgrade;
    let _: [fn(&WeakSender<u8>) -> usize; 2] = [WeakSender::strong_count, WeakSender::weak_count];
    let _: fn(&Receiver<u8>) -> Receiver<u8> = Receiver::resubscribe;
    let _: fn(&mut Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
    let _: fn(&mut Receiver<u8>) -> Result<u8, RecvError> = Receiver::blocking_recv;
    let _: fn(&Receiver<u8>, &Receiver<u8>) -> bool = Receiver::same_channel;
    let _: [fn(&Receiver<u8>) -> bool; 2] = [Receiver::is_empty, Receiver::is_closed];
    let _: [fn(&Receiver<u8>) -> usize; 3] =
        [Receiver::len, Receiver::sender_strong_count, Receiver::sender_weak_count];
}

pub(in crate::parity) fn watch() {
    use watch::error::*;
    use watch::*;
    let _: fn(u8) -> (Sender<u8>, Receiver<u8>) = channel;
    let _: fn(u8) -> Sender<u8> = Sender::new;
    let _: fn(&Sender<u8>, u8) -> Result<(), SendError<u8>> = Sender::send;
    let _: fn(&Sender<u8>, fn(&mut u8)) = Sender::send_modify;
    let _: fn(&Sender<u8>, fn(&mut u8) -> bool) -> bool = Sender::send_if_modified;
    let _: fn(&Sender<u8>, u8) -> u8 = Sender::send_replace;
    let _: fn(&Sender<u8>) -> Ref<'_, u8> = Sender::borrow;
    let _: fn(&Sender<u8>) -> Receiver<u8> = Sender::subscribe;
    let _: fn(&Sender<u8>) -> bool = Sender::is_closed;
    let _: fn(&Sender<u8>, &Sender<u8>) -> bool = Sender::same_channel;
    let _: [fn(&Sender<u8>) -> usize; 2] = [Sender::receiver_count, Sender::sender_count];
    let _: fn(&Receiver<u8>) -> Ref<'_, u8> = Receiver::borrow;
    let _: fn(&mut Receiver<u8>) -> Ref<'_, u8> = Receiver::borrow_and_update;
    let _: fn(&Receiver<u8>) -> Result<bool, RecvError> = Receiver::has_changed;
    let _: [fn(&mut Receiver<u8>); 2] = [Receiver::mark_changed, Receiver::mark_unchanged];
    let _: fn(&Receiver<u8>, &Receiver<u8>) -> bool = Receiver::same_channel;
    let _: fn(&Receiver<u8>) -> bool = Receiver::is_closed;
    let _: fn(&Ref<'static, u8>) -> bool = Ref::has_changed;
}

pub(in crate::parity) async fn waits(
    mut once: oneshot::Sender<u8>,
    mut all: (broadcast::Sender<u8>, broadcast::Receiver<u8>),
    mut last: (watch::Sender<u8>, watch::Receiver<u8>),
) {
    let _: Result<u8, broadcast::error::RecvError> = all.1.recv().await;
    let _: Result<(), watch::error::RecvError> = last.1.changed().await;
    let found: Result<watch::Ref<'_, u8>, _> = last.1.wait_for(|n| *n == 1).await;
    drop(found);
    let ((), (), ()) = (once.closed().await, all.0.closed().await, last.0.closed().await);
}
