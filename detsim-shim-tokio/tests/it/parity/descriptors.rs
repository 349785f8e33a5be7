//! Descriptors, and the streams of the process: every method, by its type.
#![expect(clippy::type_complexity, reason = "these are the types")]
#![expect(dead_code, reason = "it is compiled, not called")]
#![expect(deprecated, reason = "it is there all the same")]

use super::tokio;
use crate::parity::any;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::task::{Context, Poll};
use tokio::io::unix::*;
use tokio::io::{AsyncRead, AsyncWrite, Interest, Ready, Stderr, Stdin, Stdout};

type Fd = std::os::fd::OwnedFd;

pub(in crate::parity) fn async_fd() {
    // Not safe to call, so that their types cannot be written down here.
    let _ = AsyncFd::<Fd>::register;
    let _ = AsyncFd::<Fd>::register_with_interest;
    let _: fn(&AsyncFd<Fd>) -> &Fd = AsyncFd::get_ref;
    let _: fn(&mut AsyncFd<Fd>) -> &mut Fd = AsyncFd::get_mut;
    let _: fn(AsyncFd<Fd>) -> Fd = AsyncFd::into_inner;
    let _: fn(Fd) -> io::Result<AsyncFd<Fd>> = AsyncFd::new;
    let _: fn(Fd, Interest) -> io::Result<AsyncFd<Fd>> = AsyncFd::with_interest;
    let _: fn(Fd) -> Result<AsyncFd<Fd>, AsyncFdRegisterError<Fd>> = AsyncFd::try_new;
    let _: fn(Fd, Interest) -> Result<AsyncFd<Fd>, AsyncFdRegisterError<Fd>> =
        AsyncFd::try_with_interest;
    let _: for<'a> fn(
        &'a AsyncFd<Fd>,
        &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, Fd>>> = AsyncFd::poll_read_ready;
    let _: for<'a> fn(
        &'a mut AsyncFd<Fd>,
        &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, Fd>>> = AsyncFd::poll_read_ready_mut;
    let _: for<'a> fn(
        &'a AsyncFd<Fd>,
        &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, Fd>>> = AsyncFd::poll_write_ready;
    let _: for<'a> fn(
        &'a mut AsyncFd<Fd>,
        &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, Fd>>> = AsyncFd::poll_write_ready_mut;
    let _: io::Result<u8> = AsyncFd::try_io(
        any::<&AsyncFd<Fd>>(),
        any::<Interest>(),
        any::<fn(&Fd) -> io::Result<u8>>(),
    );
    let _: io::Result<u8> = AsyncFd::try_io_mut(
        any::<&mut AsyncFd<Fd>>(),
        any::<Interest>(),
        any::<fn(&mut Fd) -> io::Result<u8>>(),
    );
}

pub(in crate::parity) async fn async_fd_waits() {
    let _: io::Result<AsyncFdReadyGuard<'_, Fd>> =
        AsyncFd::ready(any::<&AsyncFd<Fd>>(), any::<Interest>()).await;
    let _: io::Result<AsyncFdReadyMutGuard<'_, Fd>> =
        AsyncFd::ready_mut(any::<&mut AsyncFd<Fd>>(), any::<Interest>()).await;
    let _: io::Result<AsyncFdReadyGuard<'_, Fd>> = AsyncFd::readable(any::<&AsyncFd<Fd>>()).await;
    let _: io::Result<AsyncFdReadyMutGuard<'_, Fd>> =
        AsyncFd::readable_mut(any::<&mut AsyncFd<Fd>>()).await;
    let _: io::Result<AsyncFdReadyGuard<'_, Fd>> = AsyncFd::writable(any::<&AsyncFd<Fd>>()).await;
    let _: io::Result<AsyncFdReadyMutGuard<'_, Fd>> =
        AsyncFd::writable_mut(any::<&mut AsyncFd<Fd>>()).await;
    let _: io::Result<u8> = AsyncFd::async_io(
        any::<&AsyncFd<Fd>>(),
        any::<Interest>(),
        any::<fn(&Fd) -> io::Result<u8>>(),
    )
    .await;
    let _: io::Result<u8> = AsyncFd::async_io_mut(
        any::<&mut AsyncFd<Fd>>(),
        any::<Interest>(),
        any::<fn(&mut Fd) -> io::Result<u8>>(),
    )
    .await;
}

pub(in crate::parity) fn async_fd_ready_guard() {
    let _: [fn(&mut AsyncFdReadyGuard<'static, Fd>); 2] =
        [AsyncFdReadyGuard::clear_ready, AsyncFdReadyGuard::retain_ready];
    let _: fn(&mut AsyncFdReadyGuard<'static, Fd>, Ready) = AsyncFdReadyGuard::clear_ready_matching;
    let _: fn(&AsyncFdReadyGuard<'static, Fd>) -> Ready = AsyncFdReadyGuard::ready;
    let _: fn(&AsyncFdReadyGuard<'static, Fd>) -> &'static AsyncFd<Fd> = AsyncFdReadyGuard::get_ref;
    let _: fn(&AsyncFdReadyGuard<'static, Fd>) -> &'static Fd = AsyncFdReadyGuard::get_inner;
    let _: Result<io::Result<u8>, TryIoError> = AsyncFdReadyGuard::try_io(
        any::<&mut AsyncFdReadyGuard<'static, Fd>>(),
        any::<fn(&AsyncFd<Fd>) -> io::Result<u8>>(),
    );
}

pub(in crate::parity) fn async_fd_ready_mut_guard() {
    let _: [fn(&mut AsyncFdReadyMutGuard<'static, Fd>); 2] =
        [AsyncFdReadyMutGuard::clear_ready, AsyncFdReadyMutGuard::retain_ready];
    let _: fn(&mut AsyncFdReadyMutGuard<'static, Fd>, Ready) =
        AsyncFdReadyMutGuard::clear_ready_matching;
    let _: fn(&AsyncFdReadyMutGuard<'static, Fd>) -> Ready = AsyncFdReadyMutGuard::ready;
    let _: Result<io::Result<u8>, TryIoError> = AsyncFdReadyMutGuard::try_io(
        any::<&mut AsyncFdReadyMutGuard<'static, Fd>>(),
        any::<fn(&mut AsyncFd<Fd>) -> io::Result<u8>>(),
    );
    let _: for<'a> fn(&'a AsyncFdReadyMutGuard<'static, Fd>) -> &'a AsyncFd<Fd> =
        AsyncFdReadyMutGuard::get_ref;
    let _: for<'a> fn(&'a mut AsyncFdReadyMutGuard<'static, Fd>) -> &'a mut AsyncFd<Fd> =
        AsyncFdReadyMutGuard::get_mut;
    let _: for<'a> fn(&'a AsyncFdReadyMutGuard<'static, Fd>) -> &'a Fd =
        AsyncFdReadyMutGuard::get_inner;
    let _: for<'a> fn(&'a mut AsyncFdReadyMutGuard<'static, Fd>) -> &'a mut Fd =
        AsyncFdReadyMutGuard::get_inner_mut;
}

pub(in crate::parity) fn async_fd_register_error() {
    let _: fn(AsyncFdRegisterError<Fd>) -> (Fd, io::Error) = AsyncFdRegisterError::into_parts;
}

fn reads<T: AsyncRead + AsFd + AsRawFd>() {}

fn writes<T: AsyncWrite + AsFd + AsRawFd>() {}

pub(in crate::parity) fn streams() {
    let _: fn() -> Stdin = tokio::io::stdin;
    let _: fn() -> Stdout = tokio::io::stdout;
    let _: fn() -> Stderr = tokio::io::stderr;
    reads::<Stdin>();
    writes::<Stdout>();
    writes::<Stderr>();
}
