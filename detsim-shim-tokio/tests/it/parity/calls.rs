//! Futures that methods of sockets, files and descriptors return, of which the traits are looked up.
#![expect(clippy::disallowed_types, reason = "std's times are among the arguments")]
#![expect(unused_imports, reason = "no future has some of these traits, and all have others")]

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
use crate::parity::{Fact, any, made};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use tokio::io::Interest;

/// Calls that are not made: what they would return is looked at.
macro_rules! calls {
    ($($call:expr),+ $(,)?) => {
        vec![$( fact!(stringify!($call), made(|| $call)) ),+]
    };
}

pub(in crate::parity) fn calls() -> Vec<Fact> {
    [tcp(), local(), files(), descriptors()].into_iter().flatten().collect()
}

fn tcp() -> Vec<Fact> {
    use tokio::net::tcp::*;
    use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
    calls![
        TcpListener::bind(any::<&str>()),
        TcpListener::accept(any::<&TcpListener>()),
        TcpStream::connect(any::<&str>()),
        TcpStream::ready(any::<&TcpStream>(), any::<Interest>()),
        TcpStream::readable(any::<&TcpStream>()),
        TcpStream::writable(any::<&TcpStream>()),
        TcpStream::async_io(
            any::<&TcpStream>(),
            any::<Interest>(),
            any::<fn() -> io::Result<u8>>()
        ),
        TcpStream::peek(any::<&TcpStream>(), any::<&mut [u8]>()),
        TcpSocket::connect(any::<TcpSocket>(), any::<SocketAddr>()),
        ReadHalf::peek(any::<&mut ReadHalf<'static>>(), any::<&mut [u8]>()),
        ReadHalf::ready(any::<&ReadHalf<'static>>(), any::<Interest>()),
        ReadHalf::readable(any::<&ReadHalf<'static>>()),
        WriteHalf::ready(any::<&WriteHalf<'static>>(), any::<Interest>()),
        WriteHalf::writable(any::<&WriteHalf<'static>>()),
        OwnedReadHalf::peek(any::<&mut OwnedReadHalf>(), any::<&mut [u8]>()),
        OwnedReadHalf::ready(any::<&OwnedReadHalf>(), any::<Interest>()),
        OwnedReadHalf::readable(any::<&OwnedReadHalf>()),
        OwnedWriteHalf::ready(any::<&OwnedWriteHalf>(), any::<Interest>()),
        OwnedWriteHalf::writable(any::<&OwnedWriteHalf>()),
        UdpSocket::bind(any::<&str>()),
        UdpSocket::connect(any::<&UdpSocket>(), any::<&str>()),
        UdpSocket::ready(any::<&UdpSocket>(), any::<Interest>()),
        UdpSocket::writable(any::<&UdpSocket>()),
        UdpSocket::send(any::<&UdpSocket>(), any::<&[u8]>()),
        UdpSocket::readable(any::<&UdpSocket>()),
        UdpSocket::recv(any::<&UdpSocket>(), any::<&mut [u8]>()),
        UdpSocket::recv_buf(any::<&UdpSocket>(), any::<&mut Vec<u8>>()),
        UdpSocket::recv_buf_from(any::<&UdpSocket>(), any::<&mut Vec<u8>>()),
        UdpSocket::send_to(any::<&UdpSocket>(), any::<&[u8]>(), any::<&str>()),
        UdpSocket::recv_from(any::<&UdpSocket>(), any::<&mut [u8]>()),
        UdpSocket::async_io(
            any::<&UdpSocket>(),
            any::<Interest>(),
            any::<fn() -> io::Result<u8>>()
        ),
        UdpSocket::peek(any::<&UdpSocket>(), any::<&mut [u8]>()),
        UdpSocket::peek_from(any::<&UdpSocket>(), any::<&mut [u8]>()),
        UdpSocket::peek_sender(any::<&UdpSocket>()),
    ]
}

fn local() -> Vec<Fact> {
    use tokio::net::unix::{
        pipe::{Receiver, Sender},
        *,
    };
    use tokio::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
    calls![
        UnixListener::accept(any::<&UnixListener>()),
        UnixStream::connect(any::<&Path>()),
        UnixStream::connect_addr(any::<&SocketAddr>()),
        UnixStream::ready(any::<&UnixStream>(), any::<Interest>()),
        UnixStream::readable(any::<&UnixStream>()),
        UnixStream::writable(any::<&UnixStream>()),
        UnixStream::async_io(
            any::<&UnixStream>(),
            any::<Interest>(),
            any::<fn() -> io::Result<u8>>()
        ),
        UnixSocket::connect(any::<UnixSocket>(), any::<&Path>()),
        ReadHalf::ready(any::<&ReadHalf<'static>>(), any::<Interest>()),
        ReadHalf::readable(any::<&ReadHalf<'static>>()),
        WriteHalf::ready(any::<&WriteHalf<'static>>(), any::<Interest>()),
        WriteHalf::writable(any::<&WriteHalf<'static>>()),
        OwnedReadHalf::ready(any::<&OwnedReadHalf>(), any::<Interest>()),
        OwnedReadHalf::readable(any::<&OwnedReadHalf>()),
        OwnedWriteHalf::ready(any::<&OwnedWriteHalf>(), any::<Interest>()),
        OwnedWriteHalf::writable(any::<&OwnedWriteHalf>()),
        UnixDatagram::ready(any::<&UnixDatagram>(), any::<Interest>()),
        UnixDatagram::writable(any::<&UnixDatagram>()),
        UnixDatagram::readable(any::<&UnixDatagram>()),
        UnixDatagram::send(any::<&UnixDatagram>(), any::<&[u8]>()),
        UnixDatagram::recv(any::<&UnixDatagram>(), any::<&mut [u8]>()),
        UnixDatagram::recv_buf_from(any::<&UnixDatagram>(), any::<&mut Vec<u8>>()),
        UnixDatagram::recv_buf(any::<&UnixDatagram>(), any::<&mut Vec<u8>>()),
        UnixDatagram::send_to(any::<&UnixDatagram>(), any::<&[u8]>(), any::<&Path>()),
        UnixDatagram::recv_from(any::<&UnixDatagram>(), any::<&mut [u8]>()),
        UnixDatagram::async_io(
            any::<&UnixDatagram>(),
            any::<Interest>(),
            any::<fn() -> io::Result<u8>>()
        ),
        Sender::ready(any::<&Sender>(), any::<Interest>()),
        Sender::writable(any::<&Sender>()),
        Receiver::ready(any::<&Receiver>(), any::<Interest>()),
        Receiver::readable(any::<&Receiver>()),
    ]
}

fn files() -> Vec<Fact> {
    use std::fs::Permissions;
    use tokio::fs::*;
    calls![
        File::open(any::<&Path>()),
        File::create(any::<&Path>()),
        File::create_new(any::<&Path>()),
        File::sync_all(any::<&File>()),
        File::sync_data(any::<&File>()),
        File::set_len(any::<&File>(), any::<u64>()),
        File::metadata(any::<&File>()),
        File::try_clone(any::<&File>()),
        File::into_std(any::<File>()),
        File::set_permissions(any::<&File>(), any::<Permissions>()),
        File::set_times(any::<&File>(), any::<FileTimes>()),
        File::set_modified(any::<&File>(), any::<std::time::SystemTime>()),
        OpenOptions::open(any::<&OpenOptions>(), any::<&Path>()),
        DirBuilder::create(any::<&DirBuilder>(), any::<&Path>()),
        ReadDir::next_entry(any::<&mut ReadDir>()),
        DirEntry::metadata(any::<&DirEntry>()),
        DirEntry::file_type(any::<&DirEntry>()),
    ]
}

fn descriptors() -> Vec<Fact> {
    use tokio::io::unix::*;
    type Fd = std::os::fd::OwnedFd;
    calls![
        AsyncFd::ready(any::<&AsyncFd<Fd>>(), any::<Interest>()),
        AsyncFd::ready_mut(any::<&mut AsyncFd<Fd>>(), any::<Interest>()),
        AsyncFd::readable(any::<&AsyncFd<Fd>>()),
        AsyncFd::readable_mut(any::<&mut AsyncFd<Fd>>()),
        AsyncFd::writable(any::<&AsyncFd<Fd>>()),
        AsyncFd::writable_mut(any::<&mut AsyncFd<Fd>>()),
        AsyncFd::async_io(
            any::<&AsyncFd<Fd>>(),
            any::<Interest>(),
            any::<fn(&Fd) -> io::Result<u8>>()
        ),
        AsyncFd::async_io_mut(
            any::<&mut AsyncFd<Fd>>(),
            any::<Interest>(),
            any::<fn(&mut Fd) -> io::Result<u8>>()
        ),
    ]
}
