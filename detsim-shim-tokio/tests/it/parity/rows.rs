//! The methods that sockets of both families have, each by its type: one row for the network's and for those of
//! one host. What only one family has stands in its own file. Paths are those of the file that takes a row.

/// A listener, and the streams that it gives.
macro_rules! listener_rows {
    ($sync:ident $waits:ident: $Listener:ident $Stream:ident) => {
        pub(in crate::parity) fn $sync() {
            let _: fn(&$Listener, &mut Context<'_>) -> Poll<io::Result<($Stream, SocketAddr)>> =
                $Listener::poll_accept;
            let _: fn(net::$Listener) -> io::Result<$Listener> = $Listener::from_std;
            let _: fn($Listener) -> io::Result<net::$Listener> = $Listener::into_std;
            let _: fn(net::$Listener) -> io::Result<$Listener> = $Listener::try_from;
            let _: fn(&$Listener) -> io::Result<SocketAddr> = $Listener::local_addr;
        }

        pub(in crate::parity) async fn $waits() {
            let _: io::Result<($Stream, SocketAddr)> = $Listener::accept(any::<&$Listener>()).await;
        }
    };
}

/// What every socket has that reads or writes: addresses, readiness, operations of one's own.
macro_rules! socket_rows {
    ($sync:ident $waits:ident: $Socket:ident $poll_read:ident $poll_write:ident) => {
        pub(in crate::parity) fn $sync() {
            let _: fn(net::$Socket) -> io::Result<$Socket> = $Socket::from_std;
            let _: fn($Socket) -> io::Result<net::$Socket> = $Socket::into_std;
            let _: fn(net::$Socket) -> io::Result<$Socket> = $Socket::try_from;
            let _: [fn(&$Socket) -> io::Result<SocketAddr>; 2] =
                [$Socket::local_addr, $Socket::peer_addr];
            let _: fn(&$Socket) -> io::Result<Option<io::Error>> = $Socket::take_error;
            let _: [fn(&$Socket, &mut Context<'_>) -> Poll<io::Result<()>>; 2] =
                [$Socket::$poll_read, $Socket::$poll_write];
            let _: io::Result<u8> = $Socket::try_io(
                any::<&$Socket>(),
                any::<Interest>(),
                any::<fn() -> io::Result<u8>>(),
            );
        }

        pub(in crate::parity) async fn $waits() {
            let _: io::Result<Ready> = $Socket::ready(any::<&$Socket>(), any::<Interest>()).await;
            let _: io::Result<()> = $Socket::readable(any::<&$Socket>()).await;
            let _: io::Result<()> = $Socket::writable(any::<&$Socket>()).await;
            let _: io::Result<u8> = $Socket::async_io(
                any::<&$Socket>(),
                any::<Interest>(),
                any::<fn() -> io::Result<u8>>(),
            )
            .await;
        }
    };
}

/// A stream, beside what every socket has.
macro_rules! stream_rows {
    ($sync:ident: $Stream:ident) => {
        pub(in crate::parity) fn $sync() {
            let _: fn(&$Stream, &mut [u8]) -> io::Result<usize> = $Stream::try_read;
            let _: fn(&$Stream, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
                $Stream::try_read_vectored;
            let _: fn(&$Stream, &[u8]) -> io::Result<usize> = $Stream::try_write;
            let _: fn(&$Stream, &[io::IoSlice<'_>]) -> io::Result<usize> =
                $Stream::try_write_vectored;
            let _: fn(&mut $Stream) -> (ReadHalf<'_>, WriteHalf<'_>) = $Stream::split;
            let _: fn($Stream) -> (OwnedReadHalf, OwnedWriteHalf) = $Stream::into_split;
            let _: io::Result<usize> =
                $Stream::try_read_buf(any::<&$Stream>(), any::<&mut Vec<u8>>());
            let _: for<'a> fn(&'a ReadHalf<'static>) -> &'a $Stream = AsRef::as_ref;
            let _: for<'a> fn(&'a WriteHalf<'static>) -> &'a $Stream = AsRef::as_ref;
            let _: fn(&OwnedReadHalf) -> &$Stream = AsRef::as_ref;
            let _: fn(&OwnedWriteHalf) -> &$Stream = AsRef::as_ref;
            let _: fn(OwnedReadHalf, OwnedWriteHalf) -> Result<$Stream, ReuniteError> =
                OwnedReadHalf::reunite;
            let _: fn(OwnedWriteHalf, OwnedReadHalf) -> Result<$Stream, ReuniteError> =
                OwnedWriteHalf::reunite;
            let _: fn(OwnedWriteHalf) = OwnedWriteHalf::forget;
        }
    };
}

/// The half of a stream that reads.
macro_rules! read_half_rows {
    ($sync:ident $waits:ident: $Half:ty) => {
        pub(in crate::parity) fn $sync() {
            let _: fn(&$Half, &mut [u8]) -> io::Result<usize> = <$Half>::try_read;
            let _: fn(&$Half, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
                <$Half>::try_read_vectored;
            let _: [fn(&$Half) -> io::Result<SocketAddr>; 2] =
                [<$Half>::peer_addr, <$Half>::local_addr];
            let _: io::Result<usize> =
                <$Half>::try_read_buf(any::<&$Half>(), any::<&mut Vec<u8>>());
        }

        pub(in crate::parity) async fn $waits() {
            let _: io::Result<Ready> = <$Half>::ready(any::<&$Half>(), any::<Interest>()).await;
            let _: io::Result<()> = <$Half>::readable(any::<&$Half>()).await;
        }
    };
}

/// The half of a stream that writes.
macro_rules! write_half_rows {
    ($sync:ident $waits:ident: $Half:ty) => {
        pub(in crate::parity) fn $sync() {
            let _: fn(&$Half, &[u8]) -> io::Result<usize> = <$Half>::try_write;
            let _: fn(&$Half, &[io::IoSlice<'_>]) -> io::Result<usize> =
                <$Half>::try_write_vectored;
            let _: [fn(&$Half) -> io::Result<SocketAddr>; 2] =
                [<$Half>::peer_addr, <$Half>::local_addr];
        }

        pub(in crate::parity) async fn $waits() {
            let _: io::Result<Ready> = <$Half>::ready(any::<&$Half>(), any::<Interest>()).await;
            let _: io::Result<()> = <$Half>::writable(any::<&$Half>()).await;
        }
    };
}

/// A socket for datagrams, beside what every socket has.
macro_rules! datagram_rows {
    ($sync:ident $waits:ident: $Socket:ident) => {
        pub(in crate::parity) fn $sync() {
            type Taken = io::Result<(usize, SocketAddr)>;
            let _: fn(&$Socket, &mut Context<'_>, &[u8]) -> Poll<io::Result<usize>> =
                $Socket::poll_send;
            let _: fn(&$Socket, &[u8]) -> io::Result<usize> = $Socket::try_send;
            let _: fn(&$Socket, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<()>> =
                $Socket::poll_recv;
            let _: fn(&$Socket, &mut [u8]) -> io::Result<usize> = $Socket::try_recv;
            let _: fn(&$Socket, &mut [u8]) -> Taken = $Socket::try_recv_from;
            let _: fn(
                &$Socket,
                &mut Context<'_>,
                &mut ReadBuf<'_>,
            ) -> Poll<io::Result<SocketAddr>> = $Socket::poll_recv_from;
            let _: io::Result<usize> =
                $Socket::try_recv_buf(any::<&$Socket>(), any::<&mut Vec<u8>>());
            let _: Taken = $Socket::try_recv_buf_from(any::<&$Socket>(), any::<&mut Vec<u8>>());
        }

        pub(in crate::parity) async fn $waits() {
            type Taken = io::Result<(usize, SocketAddr)>;
            let _: io::Result<usize> = $Socket::send(any::<&$Socket>(), any::<&[u8]>()).await;
            let _: io::Result<usize> = $Socket::recv(any::<&$Socket>(), any::<&mut [u8]>()).await;
            let _: Taken = $Socket::recv_from(any::<&$Socket>(), any::<&mut [u8]>()).await;
            let _: io::Result<usize> =
                $Socket::recv_buf(any::<&$Socket>(), any::<&mut Vec<u8>>()).await;
            let _: Taken = $Socket::recv_buf_from(any::<&$Socket>(), any::<&mut Vec<u8>>()).await;
        }
    };
}
