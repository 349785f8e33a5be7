//! Tasks and their sets: every method, by its type.
#![expect(dead_code, reason = "it is compiled, not called")]
#![expect(clippy::let_underscore_future, reason = "handles are only looked at")]
#![expect(clippy::type_complexity, reason = "these are the types")]

use super::tokio;
use std::any::Any;
use std::future::{Future, Ready, ready};
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::runtime::{Handle, Runtime};
use tokio::task::coop::{self, Coop, RestoreOnPending};
use tokio::task::*;

type Payload = Box<dyn Any + Send + 'static>;
type Joined<T> = Result<T, JoinError>;

pub(in crate::parity) fn spawning() {
    let _: JoinHandle<u8> = spawn(async { 1 });
    let _: JoinHandle<Rc<u8>> = spawn_local(async { Rc::new(1) });
    let _: JoinHandle<u8> = spawn_blocking(|| 1);
    let _: u8 = block_in_place(|| 1);
    let _: fn() -> Id = id;
    let _: fn() -> Option<Id> = try_id;
}

pub(in crate::parity) fn handles() {
    let _: fn(&JoinHandle<u8>) = JoinHandle::abort;
    let _: fn(&JoinHandle<u8>) -> bool = JoinHandle::is_finished;
    let _: fn(&JoinHandle<u8>) -> AbortHandle = JoinHandle::abort_handle;
    let _: fn(&JoinHandle<u8>) -> Id = JoinHandle::id;
    let _: fn(&AbortHandle) = AbortHandle::abort;
    let _: fn(&AbortHandle) -> bool = AbortHandle::is_finished;
    let _: fn(&AbortHandle) -> Id = AbortHandle::id;
    let _: fn(&JoinError) -> bool = JoinError::is_cancelled;
    let _: fn(&JoinError) -> bool = JoinError::is_panic;
    let _: fn(JoinError) -> Payload = JoinError::into_panic;
    let _: fn(JoinError) -> Result<Payload, JoinError> = JoinError::try_into_panic;
    let _: fn(&JoinError) -> Id = JoinError::id;
    let _: fn(JoinError) -> std::io::Error = std::io::Error::from;
}

pub(in crate::parity) fn join_set(set: &mut JoinSet<u8>, runtime: &Handle, local: &LocalSet) {
    let _: fn() -> JoinSet<u8> = JoinSet::new;
    let _: fn(&JoinSet<u8>) -> usize = JoinSet::len;
    let _: fn(&JoinSet<u8>) -> bool = JoinSet::is_empty;
    let _: AbortHandle = set.spawn(async { 1 });
    let _: AbortHandle = set.spawn_on(async { 1 }, runtime);
    let _: AbortHandle = set.spawn_local(async { 1 });
    let _: AbortHandle = set.spawn_local_on(async { 1 }, local);
    let _: AbortHandle = set.spawn_blocking(|| 1);
    let _: AbortHandle = set.spawn_blocking_on(|| 1, runtime);
    let _: fn(&mut JoinSet<u8>) -> Option<Joined<u8>> = JoinSet::try_join_next;
    let _: fn(&mut JoinSet<u8>) -> Option<Joined<(Id, u8)>> = JoinSet::try_join_next_with_id;
    let _: fn(&mut JoinSet<u8>, &mut Context<'_>) -> Poll<Option<Joined<u8>>> =
        JoinSet::poll_join_next;
    let _: fn(&mut JoinSet<u8>, &mut Context<'_>) -> Poll<Option<Joined<(Id, u8)>>> =
        JoinSet::poll_join_next_with_id;
    let _: fn(&mut JoinSet<u8>) = JoinSet::abort_all;
    let _: fn(&mut JoinSet<u8>) = JoinSet::detach_all;
    let _: JoinSet<u8> = [ready(1)].into_iter().collect();
    set.extend([ready(1)]);
}

pub(in crate::parity) async fn joining(mut set: JoinSet<u8>) {
    let _: Option<Joined<u8>> = set.join_next().await;
    let _: Option<Joined<(Id, u8)>> = set.join_next_with_id().await;
    let () = set.shutdown().await;
    let _: Vec<u8> = set.join_all().await;
}

pub(in crate::parity) fn local_set(set: &LocalSet, runtime: &Runtime) -> impl Future<Output = u8> {
    let _: fn() -> LocalSet = LocalSet::new;
    let _: fn(&LocalSet) -> LocalEnterGuard = LocalSet::enter;
    let _: fn(&LocalSet) -> tokio::runtime::Id = LocalSet::id;
    let _: JoinHandle<Rc<u8>> = set.spawn_local(async { Rc::new(1) });
    let _: u8 = set.block_on(runtime, async { 1 });
    set.run_until(async { 1 })
}

pub(in crate::parity) async fn local_set_ends(set: LocalSet) {
    let () = set.await;
}

pub(in crate::parity) async fn budgets() {
    let _: fn() -> bool = coop::has_budget_remaining;
    let _: fn(&mut Context<'_>) -> Poll<RestoreOnPending> = coop::poll_proceed;
    let _: fn(&RestoreOnPending) = RestoreOnPending::made_progress;
    let _: fn(Ready<u8>) -> Coop<Ready<u8>> = coop::cooperative;
    let _: fn(Ready<u8>) -> Unconstrained<Ready<u8>> = unconstrained;
    let () = consume_budget().await;
    let () = yield_now().await;
}
