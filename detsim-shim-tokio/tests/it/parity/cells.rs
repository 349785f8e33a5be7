//! Barriers, cells, streams and macros: every method, by its type.
#![expect(dead_code, reason = "what waits is compiled, not called")]

use super::tokio;
use std::future::Future;
use std::sync::Arc;
use tokio::io::{DuplexStream, ReadHalf, SimplexStream, WriteHalf};
use tokio::sync::*;

const _: OnceCell<u8> = OnceCell::const_new();
const _: OnceCell<u8> = OnceCell::const_new_with(1);
const _: SetOnce<u8> = SetOnce::const_new();
const _: SetOnce<u8> = SetOnce::const_new_with(1);

pub(in crate::parity) fn all() {
    let _: fn(usize) -> Barrier = Barrier::new;
    let _: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
    let _: fn() -> OnceCell<u8> = OnceCell::new;
    let _: fn(Option<u8>) -> OnceCell<u8> = OnceCell::new_with;
    let _: fn(&OnceCell<u8>) -> bool = OnceCell::initialized;
    let _: fn(&OnceCell<u8>) -> Option<&u8> = OnceCell::get;
    let _: fn(&mut OnceCell<u8>) -> Option<&mut u8> = OnceCell::get_mut;
    let _: fn(&OnceCell<u8>, u8) -> Result<(), SetError<u8>> = OnceCell::set;
    let _: fn(OnceCell<u8>) -> Option<u8> = OnceCell::into_inner;
    let _: fn(&mut OnceCell<u8>) -> Option<u8> = OnceCell::take;
    let _: fn() -> SetOnce<u8> = SetOnce::new;
    let _: fn(Option<u8>) -> SetOnce<u8> = SetOnce::new_with;
    let _: fn(&SetOnce<u8>) -> bool = SetOnce::initialized;
    let _: fn(&SetOnce<u8>) -> Option<&u8> = SetOnce::get;
    let _: fn(&SetOnce<u8>, u8) -> Result<(), SetOnceError<u8>> = SetOnce::set;
    let _: fn(SetOnce<u8>) -> Option<u8> = SetOnce::into_inner;
    let _: fn(usize) -> (DuplexStream, DuplexStream) = tokio::io::duplex;
    let _: fn(usize) -> (ReadHalf<SimplexStream>, WriteHalf<SimplexStream>) = tokio::io::simplex;
    let _: fn(usize) -> SimplexStream = SimplexStream::new_unsplit;
}

pub(in crate::parity) fn waits<'a>(
    barrier: &'a Barrier,
    cell: &'a OnceCell<u8>,
    once: &'a SetOnce<u8>,
) -> (
    impl Future<Output = BarrierWaitResult>,
    impl Future<Output = &'a u8>,
    impl Future<Output = Result<&'a u8, ()>>,
    impl Future<Output = &'a u8>,
) {
    let (init, try_init) = (|| async { 1 }, || async { Err(()) });
    (barrier.wait(), cell.get_or_init(init), cell.get_or_try_init(try_init), once.wait())
}

tokio::task_local! {
    static NUMBER: u32;
}

pub(in crate::parity) async fn macros() -> Vec<u32> {
    let future = async { 1 };
    tokio::pin!(future);
    tokio::pin! { let other = async { 2 }; }
    let (one, two) = tokio::join!(biased; future, other);
    let three: Result<(u32,), ()> = tokio::try_join!(async { Ok(3) });
    let four = tokio::select! { biased; n = async { 4 }, if one == 1 => n, else => 0 };
    let five = NUMBER.scope(5, async { NUMBER.get() }).await;
    let six = NUMBER.sync_scope(6, || NUMBER.with(|n| *n));
    vec![one, two, three.unwrap().0, four, five, six]
}

/// Runs what can be run without a runtime.
pub(in crate::parity) fn run() -> Vec<u32> {
    let lock = Mutex::new((1, 2));
    let owner = Arc::new(Mutex::new((1, 2)));
    super::locks::mutex();
    super::locks::mutex_guards(lock.try_lock().unwrap(), owner.try_lock_owned().unwrap());
    super::locks::rwlock();
    let owner = Arc::new(RwLock::new((1, 2)));
    super::locks::rwlock_guards(&owner, &Arc::new(RwLock::new((1, 2))));
    super::locks::semaphore();
    super::locks::notify();
    super::channels::bounded();
    super::channels::unbounded();
    super::channels::oneshot();
    super::channels::broadcast();
    super::channels::watch();
    all();
    ::futures::executor::block_on(macros())
}
