//! The two directions of a local stream, borrowed.
//!
//! Mirrors tokio's. Owns: [`ReadHalf`] and [`WriteHalf`].

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::unix::SocketAddr;

use crate::net::unix::stream::UnixStream;

crate::net::halves::borrowed!(UnixStream, SocketAddr);
