//! The two directions of a stream.
//!
//! Owns: what the halves of every kind of stream have in common, as macros over the stream's own
//! methods. Does not own: what only TCP has (`tcp/split.rs`).

/// What a reading half passes on to its stream.
macro_rules! reading {
    ($Address:ty) => {
        /// Waits until it is ready for something of interest.
        ///
        /// # Errors
        /// EBADF where its node has stopped.
        #[track_caller]
        pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + '_ {
            self.stream().ready(interest)
        }

        /// Waits until it may be read.
        ///
        /// # Errors
        /// EBADF where its node has stopped.
        #[track_caller]
        pub fn readable(&self) -> impl Future<Output = io::Result<()>> + '_ {
            self.stream().readable()
        }

        /// Reads without waiting.
        ///
        /// # Errors
        /// `WouldBlock` where there is nothing to read; ECONNRESET.
        #[track_caller]
        pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.stream().try_read(buf)
        }

        /// Reads into several buffers without waiting.
        ///
        /// # Errors
        /// As [`Self::try_read`].
        #[track_caller]
        pub fn try_read_vectored(&self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
            self.stream().try_read_vectored(bufs)
        }

        /// Reads behind what the buffer holds, without waiting.
        ///
        /// # Errors
        /// As [`Self::try_read`].
        #[cfg(feature = "io-util")]
        #[track_caller]
        pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> io::Result<usize> {
            self.stream().try_read_buf(buf)
        }

        crate::net::halves::addresses!($Address);
    };
}

/// What a writing half passes on to its stream.
macro_rules! writing {
    ($Address:ty) => {
        /// Waits until it is ready for something of interest.
        ///
        /// # Errors
        /// EBADF where its node has stopped.
        #[track_caller]
        pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + '_ {
            self.stream().ready(interest)
        }

        /// Waits until it may be written.
        ///
        /// # Errors
        /// EBADF where its node has stopped.
        #[track_caller]
        pub fn writable(&self) -> impl Future<Output = io::Result<()>> + '_ {
            self.stream().writable()
        }

        /// Writes without waiting.
        ///
        /// # Errors
        /// `WouldBlock` where there is no room; EPIPE, ECONNRESET.
        #[track_caller]
        pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
            self.stream().try_write(buf)
        }

        /// Writes from several buffers without waiting.
        ///
        /// # Errors
        /// As [`Self::try_write`].
        #[track_caller]
        pub fn try_write_vectored(&self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
            self.stream().try_write_vectored(bufs)
        }

        crate::net::halves::addresses!($Address);
    };
}

macro_rules! addresses {
    ($Address:ty) => {
        /// The address of the peer.
        ///
        /// # Errors
        /// ENOTCONN where the connection is no more.
        pub fn peer_addr(&self) -> io::Result<$Address> {
            self.stream().peer_addr()
        }

        /// The own address.
        ///
        /// # Errors
        /// EBADF where its node has stopped.
        pub fn local_addr(&self) -> io::Result<$Address> {
            self.stream().local_addr()
        }
    };
}

/// Reading through a half.
macro_rules! async_read {
    ($Half:ty) => {
        impl AsyncRead for $Half {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.stream().poll_read_shared(cx, buf)
            }
        }
    };
}

/// Writing through a half; `$shut` is told when the direction is closed.
macro_rules! async_write {
    ($Half:ty, $shut:expr) => {
        impl AsyncWrite for $Half {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.stream().poll_write_shared(cx, buf)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[io::IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.stream().poll_write_vectored_shared(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(
                mut self: Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<io::Result<()>> {
                let result = self.stream().shutdown_write();
                if result.is_ok() {
                    ($shut)(&mut *self);
                }
                Poll::Ready(result)
            }
        }
    };
}

/// Halves that borrow their stream.
macro_rules! borrowed {
    ($Stream:ident, $Address:ty) => {
        /// The reading direction of a stream, borrowed.
        #[derive(Debug)]
        pub struct ReadHalf<'a>(&'a $Stream);

        /// The writing direction of a stream, borrowed.
        #[derive(Debug)]
        pub struct WriteHalf<'a>(&'a $Stream);

        /// Both directions of a stream.
        pub(crate) fn split(stream: &mut $Stream) -> (ReadHalf<'_>, WriteHalf<'_>) {
            (ReadHalf(stream), WriteHalf(stream))
        }

        impl ReadHalf<'_> {
            crate::net::halves::reading!($Address);

            fn stream(&self) -> &$Stream {
                self.0
            }
        }

        impl WriteHalf<'_> {
            crate::net::halves::writing!($Address);

            fn stream(&self) -> &$Stream {
                self.0
            }
        }

        crate::net::halves::async_read!(ReadHalf<'_>);
        crate::net::halves::async_write!(WriteHalf<'_>, |_: &mut WriteHalf<'_>| ());

        impl AsRef<$Stream> for ReadHalf<'_> {
            fn as_ref(&self) -> &$Stream {
                self.0
            }
        }

        impl AsRef<$Stream> for WriteHalf<'_> {
            fn as_ref(&self) -> &$Stream {
                self.0
            }
        }
    };
}

/// Halves that share their stream.
macro_rules! owned {
    ($Stream:ident, $Address:ty) => {
        /// The reading direction of a stream.
        #[derive(Debug)]
        pub struct OwnedReadHalf(Arc<$Stream>);

        /// The writing direction of a stream. Dropping it says that nothing more will be written.
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            stream: Arc<$Stream>,
            shuts_on_drop: bool,
        }

        /// Halves of two streams; both are given back.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        /// Both directions of a stream.
        pub(crate) fn split(stream: $Stream) -> (OwnedReadHalf, OwnedWriteHalf) {
            let stream = Arc::new(stream);
            let write = OwnedWriteHalf { stream: Arc::clone(&stream), shuts_on_drop: true };
            (OwnedReadHalf(stream), write)
        }

        fn reunite(read: OwnedReadHalf, write: OwnedWriteHalf) -> Result<$Stream, ReuniteError> {
            if !Arc::ptr_eq(&read.0, &write.stream) {
                return Err(ReuniteError(read, write));
            }
            write.forget();
            let stream = Arc::into_inner(read.0);
            Ok(stream.expect("invariant: a stream has two halves"))
        }

        impl OwnedReadHalf {
            /// The stream again.
            ///
            /// # Errors
            /// Both halves, where they are of two streams.
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$Stream, ReuniteError> {
                reunite(self, other)
            }

            crate::net::halves::reading!($Address);

            fn stream(&self) -> &$Stream {
                &self.0
            }
        }

        impl OwnedWriteHalf {
            /// The stream again.
            ///
            /// # Errors
            /// Both halves, where they are of two streams.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$Stream, ReuniteError> {
                reunite(other, self)
            }

            /// Goes without closing its direction.
            pub fn forget(mut self) {
                self.shuts_on_drop = false;
            }

            crate::net::halves::writing!($Address);

            fn stream(&self) -> &$Stream {
                &self.stream
            }
        }

        crate::net::halves::async_read!(OwnedReadHalf);
        crate::net::halves::async_write!(OwnedWriteHalf, |half: &mut OwnedWriteHalf| {
            half.shuts_on_drop = false;
        });

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.shuts_on_drop {
                    // A connection that is no more needs no end.
                    let _ended = self.stream.shutdown_write();
                }
            }
        }

        impl AsRef<$Stream> for OwnedReadHalf {
            fn as_ref(&self) -> &$Stream {
                &self.0
            }
        }

        impl AsRef<$Stream> for OwnedWriteHalf {
            fn as_ref(&self) -> &$Stream {
                &self.stream
            }
        }

        impl fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tried to reunite halves that are not from the same socket")
            }
        }

        impl std::error::Error for ReuniteError {}
    };
}

pub(crate) use {addresses, async_read, async_write, borrowed, owned, reading, writing};
