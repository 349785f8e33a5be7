//! The two directions of a local stream, each to be moved to where it is used.
//!
//! Mirrors tokio's. Owns: [`OwnedReadHalf`], [`OwnedWriteHalf`], [`ReuniteError`].

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::unix::SocketAddr;

use crate::net::unix::stream::UnixStream;

crate::net::halves::owned!(UnixStream, SocketAddr);
