//! Locks and permits: every method, by its type.
#![expect(dead_code, reason = "what waits is compiled, not called")]
#![expect(clippy::type_complexity, reason = "these are the types")]

use super::tokio;
use std::future::Future;
use std::sync::Arc;
use tokio::sync::*;

const _: Mutex<u8> = Mutex::const_new(1);
const _: RwLock<u8> = RwLock::const_new(1);
const _: RwLock<u8> = RwLock::const_with_max_readers(1, 2);
const _: Semaphore = Semaphore::const_new(1);
const _: Notify = Notify::const_new();
const _: usize = Semaphore::MAX_PERMITS;

type Pair = (u8, u16);
type Locked<T> = Result<T, TryLockError>;

pub(in crate::parity) fn mutex() {
    let _: fn(u8) -> Mutex<u8> = Mutex::new;
    let _: fn(u8) -> Mutex<u8> = Mutex::from;
    let _: fn(Mutex<u8>) -> u8 = Mutex::into_inner;
    let _: fn(&mut Mutex<u8>) -> &mut u8 = Mutex::get_mut;
    let _: fn(&Mutex<u8>) -> Locked<MutexGuard<'_, u8>> = Mutex::try_lock;
    let _: fn(Arc<Mutex<u8>>) -> Locked<OwnedMutexGuard<u8>> = Mutex::try_lock_owned;
    let _: fn(&Mutex<u8>) -> MutexGuard<'_, u8> = Mutex::blocking_lock;
    let _: fn(Arc<Mutex<u8>>) -> OwnedMutexGuard<u8> = Mutex::blocking_lock_owned;
    let _: fn(&MutexGuard<'static, u8>) -> &'static Mutex<u8> = MutexGuard::mutex;
    let _: fn(&OwnedMutexGuard<u8>) -> &Arc<Mutex<u8>> = OwnedMutexGuard::mutex;
}

pub(in crate::parity) fn mutex_guards(pair: MutexGuard<'_, Pair>, owned: OwnedMutexGuard<Pair>) {
    let mapped: MappedMutexGuard<'_, u8> = MutexGuard::map(pair, |pair| &mut pair.0);
    let mapped: MappedMutexGuard<'_, u8> = MappedMutexGuard::map(mapped, |part| part);
    let _: Result<MappedMutexGuard<'_, u8>, _> =
        MappedMutexGuard::try_map(mapped, |_| None::<&mut u8>);
    let owned = OwnedMutexGuard::try_map(owned, |pair| Some(&mut pair.0)).unwrap();
    let owned: OwnedMappedMutexGuard<Pair, u8> = OwnedMappedMutexGuard::map(owned, |part| part);
    let _: Result<_, OwnedMappedMutexGuard<Pair, u8>> =
        OwnedMappedMutexGuard::try_map(owned, |_| None::<&mut u8>);
}

pub(in crate::parity) fn mutex_waits<'a>(
    mutex: &'a Mutex<u8>,
    owner: Arc<Mutex<u8>>,
) -> (impl Future<Output = MutexGuard<'a, u8>>, impl Future<Output = OwnedMutexGuard<u8>>) {
    (mutex.lock(), owner.lock_owned())
}

pub(in crate::parity) fn rwlock() {
    let _: fn(u8) -> RwLock<u8> = RwLock::new;
    let _: fn(u8, u32) -> RwLock<u8> = RwLock::with_max_readers;
    let _: fn(u8) -> RwLock<u8> = RwLock::from;
    let _: fn(RwLock<u8>) -> u8 = RwLock::into_inner;
    let _: fn(&mut RwLock<u8>) -> &mut u8 = RwLock::get_mut;
    let _: fn(&RwLock<u8>) -> Locked<RwLockReadGuard<'_, u8>> = RwLock::try_read;
    let _: fn(&RwLock<u8>) -> Locked<RwLockWriteGuard<'_, u8>> = RwLock::try_write;
    let _: fn(Arc<RwLock<u8>>) -> Locked<OwnedRwLockReadGuard<u8>> = RwLock::try_read_owned;
    let _: fn(Arc<RwLock<u8>>) -> Locked<OwnedRwLockWriteGuard<u8>> = RwLock::try_write_owned;
    let _: fn(&RwLock<u8>) -> RwLockReadGuard<'_, u8> = RwLock::blocking_read;
    let _: fn(&RwLock<u8>) -> RwLockWriteGuard<'_, u8> = RwLock::blocking_write;
    let _: fn(RwLockWriteGuard<'static, u8>) -> RwLockReadGuard<'static, u8> =
        RwLockWriteGuard::downgrade;
    let _: fn(RwLockWriteGuard<'static, u8>) -> RwLockMappedWriteGuard<'static, u8> =
        RwLockWriteGuard::into_mapped;
    let _: fn(OwnedRwLockWriteGuard<u8>) -> OwnedRwLockReadGuard<u8> =
        OwnedRwLockWriteGuard::downgrade;
    let _: fn(OwnedRwLockWriteGuard<u8>) -> OwnedRwLockMappedWriteGuard<u8> =
        OwnedRwLockWriteGuard::into_mapped;
    let _: fn(&OwnedRwLockReadGuard<u8>) -> &Arc<RwLock<u8>> = OwnedRwLockReadGuard::rwlock;
    let _: fn(&OwnedRwLockWriteGuard<u8>) -> &Arc<RwLock<u8>> = OwnedRwLockWriteGuard::rwlock;
    let _: fn(&OwnedRwLockMappedWriteGuard<u8, u16>) -> &Arc<RwLock<u8>> =
        OwnedRwLockMappedWriteGuard::rwlock;
}

pub(in crate::parity) fn rwlock_guards(lock: &RwLock<Pair>, owner: &Arc<RwLock<Pair>>) {
    let read = RwLockReadGuard::map(lock.try_read().unwrap(), |pair| &pair.0);
    let _: Result<RwLockReadGuard<'_, u8>, RwLockReadGuard<'_, u8>> =
        RwLockReadGuard::try_map(read, |_| None::<&u8>);
    let write = RwLockWriteGuard::map(lock.try_write().unwrap(), |pair| &mut pair.0);
    let write: RwLockMappedWriteGuard<'_, u8> = RwLockMappedWriteGuard::map(write, |part| part);
    let _ = RwLockMappedWriteGuard::try_map(write, |_| None::<&mut u8>).map_err(drop);
    let write = lock.try_write().unwrap();
    let write = RwLockWriteGuard::try_map(write, |_| None::<&mut u8>).unwrap_err();
    let write = RwLockWriteGuard::try_downgrade_map(write, |_| None::<&u8>).unwrap_err();
    let _: RwLockReadGuard<'_, u16> = RwLockWriteGuard::downgrade_map(write, |pair| &pair.1);
    let read = owner.clone().try_read_owned().unwrap();
    let read = OwnedRwLockReadGuard::map(read, |pair| &pair.0);
    let _: Result<OwnedRwLockReadGuard<Pair, u8>, _> =
        OwnedRwLockReadGuard::try_map(read, |_| None::<&u8>);
    let write = owner.clone().try_write_owned().unwrap();
    let write = OwnedRwLockWriteGuard::try_map(write, |_| None::<&mut u8>).unwrap_err();
    let write = OwnedRwLockWriteGuard::try_downgrade_map(write, |_| None::<&u8>).unwrap_err();
    let write = OwnedRwLockWriteGuard::map(write, |pair| &mut pair.0);
    let write = OwnedRwLockMappedWriteGuard::map(write, |part| part);
    let _: Result<OwnedRwLockMappedWriteGuard<Pair, u8>, _> =
        OwnedRwLockMappedWriteGuard::try_map(write, |_| None::<&mut u8>);
    let write = owner.clone().try_write_owned().unwrap();
    let _: OwnedRwLockReadGuard<Pair, u16> =
        OwnedRwLockWriteGuard::downgrade_map(write, |pair| &pair.1);
}

pub(in crate::parity) fn rwlock_waits<'a>(
    lock: &'a RwLock<u8>,
    owner: &Arc<RwLock<u8>>,
) -> (
    impl Future<Output = RwLockReadGuard<'a, u8>>,
    impl Future<Output = RwLockWriteGuard<'a, u8>>,
    impl Future<Output = OwnedRwLockReadGuard<u8>> + use<'a>,
    impl Future<Output = OwnedRwLockWriteGuard<u8>> + use<'a>,
) {
    let (one, other) = (Arc::clone(owner), Arc::clone(owner));
    (lock.read(), lock.write(), one.read_owned(), other.write_owned())
}

pub(in crate::parity) fn semaphore() {
    type Tried<T> = Result<T, TryAcquireError>;
    type Acquired<T> = Result<T, AcquireError>;
    let _: fn(usize) -> Semaphore = Semaphore::new;
    let _: fn(&Semaphore) -> usize = Semaphore::available_permits;
    let _: fn(&Semaphore, usize) = Semaphore::add_permits;
    let _: fn(&Semaphore, usize) -> usize = Semaphore::forget_permits;
    let _: fn(&Semaphore) = Semaphore::close;
    let _: fn(&Semaphore) -> bool = Semaphore::is_closed;
    let _: fn(&Semaphore) -> Tried<SemaphorePermit<'_>> = Semaphore::try_acquire;
    let _: fn(&Semaphore, u32) -> Tried<SemaphorePermit<'_>> = Semaphore::try_acquire_many;
    let _: fn(Arc<Semaphore>) -> Tried<OwnedSemaphorePermit> = Semaphore::try_acquire_owned;
    let _: fn(Arc<Semaphore>, u32) -> Tried<OwnedSemaphorePermit> =
        Semaphore::try_acquire_many_owned;
    let _: fn(&Semaphore) -> Acquired<SemaphorePermit<'_>> = Semaphore::blocking_acquire;
    let _: fn(&Semaphore, u32) -> Acquired<SemaphorePermit<'_>> = Semaphore::blocking_acquire_many;
    let _: fn(Arc<Semaphore>) -> Acquired<OwnedSemaphorePermit> = Semaphore::blocking_acquire_owned;
    let _: fn(Arc<Semaphore>, u32) -> Acquired<OwnedSemaphorePermit> =
        Semaphore::blocking_acquire_many_owned;
    let _: fn(SemaphorePermit<'static>) = SemaphorePermit::forget;
    let _: fn(&mut SemaphorePermit<'static>, SemaphorePermit<'static>) = SemaphorePermit::merge;
    let _: fn(&mut SemaphorePermit<'static>, usize) -> Option<SemaphorePermit<'static>> =
        SemaphorePermit::split;
    let _: fn(&SemaphorePermit<'static>) -> usize = SemaphorePermit::num_permits;
    let _: fn(OwnedSemaphorePermit) = OwnedSemaphorePermit::forget;
    let _: fn(&mut OwnedSemaphorePermit, OwnedSemaphorePermit) = OwnedSemaphorePermit::merge;
    let _: fn(&mut OwnedSemaphorePermit, usize) -> Option<OwnedSemaphorePermit> =
        OwnedSemaphorePermit::split;
    let _: fn(&OwnedSemaphorePermit) -> &Arc<Semaphore> = OwnedSemaphorePermit::semaphore;
    let _: fn(&OwnedSemaphorePermit) -> usize = OwnedSemaphorePermit::num_permits;
}

pub(in crate::parity) fn semaphore_waits<'a>(
    semaphore: &'a Semaphore,
    owner: &Arc<Semaphore>,
) -> (
    impl Future<Output = Result<SemaphorePermit<'a>, AcquireError>>,
    impl Future<Output = Result<SemaphorePermit<'a>, AcquireError>>,
    impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + use<'a>,
    impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + use<'a>,
) {
    let (one, other) = (Arc::clone(owner), Arc::clone(owner));
    let waits = (semaphore.acquire(), semaphore.acquire_many(2));
    (waits.0, waits.1, one.acquire_owned(), other.acquire_many_owned(2))
}

pub(in crate::parity) fn notify() {
    use std::pin::Pin;
    use tokio::sync::futures::{Notified, OwnedNotified};
    let _: fn() -> Notify = Notify::new;
    let _: fn(&Notify) -> Notified<'_> = Notify::notified;
    let _: fn(Arc<Notify>) -> OwnedNotified = Notify::notified_owned;
    let _: [fn(&Notify); 3] = [Notify::notify_one, Notify::notify_last, Notify::notify_waiters];
    let _: fn(Pin<&mut Notified<'static>>) -> bool = Notified::enable;
    let _: fn(Pin<&mut OwnedNotified>) -> bool = OwnedNotified::enable;
}
