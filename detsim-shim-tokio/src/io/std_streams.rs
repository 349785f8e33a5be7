//! The standard streams.
//!
//! They belong to a runtime as tokio's do, but to no pool of threads: what is written is written at once,
//! and where a program reads, the run stands still until there is something to read. Does not own: the streams, which are
//! the process's and shared by all that run in it.

use crate::context;
use crate::runtime::scope;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The standard input.
#[derive(Debug)]
pub struct Stdin {
    std: io::Stdin,
}

/// The standard output.
#[derive(Debug)]
pub struct Stdout {
    std: io::Stdout,
}

/// The standard error output.
#[derive(Debug)]
pub struct Stderr {
    std: io::Stderr,
}

/// The standard input. What is read is no part of the run: it is not repeated by its seed.
pub fn stdin() -> Stdin {
    Stdin { std: io::stdin() }
}

/// The standard output.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::io::{AsyncWriteExt, stdout};
/// let sim = detsim_executor::Sim::new(7);
/// sim.block_on(async { stdout().write_all(b"hello\n").await.unwrap() }).unwrap();
/// ```
pub fn stdout() -> Stdout {
    Stdout { std: io::stdout() }
}

/// The standard error output.
pub fn stderr() -> Stderr {
    Stderr { std: io::stderr() }
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        check_runtime()?;
        let read = self.std.read(buf.initialize_unfilled())?;
        buf.advance(read);
        Poll::Ready(Ok(()))
    }
}

/// What tokio says where its pool of threads, which these streams do not need, would not do it.
///
/// # Panics
/// Outside of a runtime, in tokio's words.
fn check_runtime() -> io::Result<()> {
    match scope::current() {
        Some(runtime) => runtime.check_open(),
        None => context::missing(),
    }
}

/// What both outputs do.
macro_rules! writes_at_once {
    ($($output:ident)+) => { $(
        impl AsyncWrite for $output {
            fn poll_write(
                mut self: Pin<&mut Self>,
                _: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                Poll::Ready(check_runtime().and_then(|()| self.std.write(buf)))
            }

            fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(self.std.flush())
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }
    )+ };
}

writes_at_once!(Stdout Stderr);

/// What all of them are to the operating system.
macro_rules! has_descriptor {
    ($($stream:ident)+) => { $(
        impl AsRawFd for $stream {
            fn as_raw_fd(&self) -> RawFd {
                self.std.as_raw_fd()
            }
        }

        impl AsFd for $stream {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.std.as_fd()
            }
        }
    )+ };
}

has_descriptor!(Stdin Stdout Stderr);
