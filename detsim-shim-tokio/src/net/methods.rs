//! What sockets of several kinds can do.
//!
//! Owns: the methods and traits that tokio gives to more than one kind of socket, as macros over the
//! fields `socket`, `site` and `descriptor`. Does not own: what halves of streams pass on to their
//! stream (`halves.rs`), or what a call does (`ready.rs`).

/// `ready`.
macro_rules! ready {
    () => {
        /// Waits until it is ready for something of interest.
        ///
        /// # Errors
        /// EBADF where its node has stopped.
        #[track_caller]
        pub fn ready(
            &self,
            interest: ::tokio::io::Interest,
        ) -> impl Future<Output = std::io::Result<::tokio::io::Ready>> + '_ {
            crate::net::ready::ready(&self.socket, interest, std::panic::Location::caller())
        }
    };
}

/// `readable`, and the poll for it, which is called `$name`.
macro_rules! readable {
    ($name:ident) => {
        /// Waits until it may be read.
        ///
        /// # Errors
        /// As [`Self::ready`].
        #[track_caller]
        pub fn readable(&self) -> impl Future<Output = std::io::Result<()>> + '_ {
            let ready = self.ready(::tokio::io::Interest::READABLE);
            async move { ready.await.map(drop) }
        }

        /// Polls for being readable.
        ///
        /// # Errors
        /// As [`Self::ready`].
        pub fn $name(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            crate::net::ready::poll_ready(&self.socket, cx, self.site, [true, false])
        }
    };
}

/// `writable`, and the poll for it, which is called `$name`.
macro_rules! writable {
    ($name:ident) => {
        /// Waits until it may be written.
        ///
        /// # Errors
        /// As [`Self::ready`].
        #[track_caller]
        pub fn writable(&self) -> impl Future<Output = std::io::Result<()>> + '_ {
            let ready = self.ready(::tokio::io::Interest::WRITABLE);
            async move { ready.await.map(drop) }
        }

        /// Polls for being writable.
        ///
        /// # Errors
        /// As [`Self::ready`].
        pub fn $name(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            crate::net::ready::poll_ready(&self.socket, cx, self.site, [false, true])
        }
    };
}

/// `try_io` and `async_io`.
macro_rules! operations {
    () => {
        /// An operation of the program's own on the descriptor, where the socket is ready for it.
        ///
        /// # Errors
        /// Those of `f`; `WouldBlock` where the socket is not ready.
        pub fn try_io<R>(
            &self,
            interest: ::tokio::io::Interest,
            f: impl FnOnce() -> std::io::Result<R>,
        ) -> std::io::Result<R> {
            crate::net::ready::try_io(&self.socket, interest, f)
        }

        /// As [`Self::try_io`], again and again until it does not have to wait.
        ///
        /// # Errors
        /// Those of `f`.
        #[track_caller]
        pub fn async_io<R>(
            &self,
            interest: ::tokio::io::Interest,
            f: impl FnMut() -> std::io::Result<R>,
        ) -> impl Future<Output = std::io::Result<R>> {
            crate::net::ready::async_io(&self.socket, interest, std::panic::Location::caller(), f)
        }
    };
}

/// Reading bytes without waiting.
macro_rules! reads {
    () => {
        /// Reads without waiting.
        ///
        /// # Errors
        /// `WouldBlock` where there is nothing to read; ECONNRESET.
        #[track_caller]
        pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
            self.try_read_vectored(&mut [std::io::IoSliceMut::new(buf)])
        }

        /// Reads into several buffers without waiting.
        ///
        /// # Errors
        /// As [`Self::try_read`].
        #[track_caller]
        pub fn try_read_vectored(
            &self,
            bufs: &mut [std::io::IoSliceMut<'_>],
        ) -> std::io::Result<usize> {
            self.socket.told(detsim_net::Side::Read)?.try_read(bufs)
        }

        /// Reads behind what the buffer holds, without waiting.
        ///
        /// # Errors
        /// As [`Self::try_read`].
        #[cfg(feature = "io-util")]
        #[track_caller]
        pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
            crate::net::ready::read_buf(buf, |room| self.try_read(room))
        }
    };
}

/// Writing bytes without waiting.
macro_rules! writes {
    () => {
        /// Writes without waiting.
        ///
        /// # Errors
        /// `WouldBlock` where there is no room; EPIPE, ECONNRESET.
        #[track_caller]
        pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
            self.try_write_vectored(&[std::io::IoSlice::new(buf)])
        }

        /// Writes from several buffers without waiting.
        ///
        /// # Errors
        /// As [`Self::try_write`].
        #[track_caller]
        pub fn try_write_vectored(&self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
            self.socket.told(detsim_net::Side::Write)?.try_write(bufs)
        }
    };
}

/// What the two directions of a stream, and the stream itself, are polled through.
macro_rules! shared {
    () => {
        pub(super) fn poll_read_shared(
            &self,
            cx: &mut std::task::Context<'_>,
            buf: &mut ::tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            let unfilled = buf.initialize_unfilled();
            match self.socket.read_at_once(cx, self.site, unfilled) {
                Some(std::task::Poll::Ready(read)) => {
                    buf.advance(read);
                    std::task::Poll::Ready(Ok(()))
                }
                Some(std::task::Poll::Pending) => std::task::Poll::Pending,
                None => self.poll_read_oddly(cx, buf),
            }
        }

        #[inline(never)]
        fn poll_read_oddly(
            &self,
            cx: &mut std::task::Context<'_>,
            buf: &mut ::tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            let unfilled = buf.initialize_unfilled();
            let read =
                crate::net::world::inside(|| self.socket.poll_read_one(cx, self.site, unfilled));
            buf.advance(std::task::ready!(read)?);
            std::task::Poll::Ready(Ok(()))
        }

        pub(super) fn poll_write_shared(
            &self,
            cx: &mut std::task::Context<'_>,
            buf: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            match self.socket.write_at_once(self.site, buf) {
                Some(written) => std::task::Poll::Ready(Ok(written)),
                None => {
                    crate::net::world::inside(|| self.socket.poll_write_one(cx, self.site, buf))
                }
            }
        }

        pub(super) fn poll_write_vectored_shared(
            &self,
            cx: &mut std::task::Context<'_>,
            bufs: &[std::io::IoSlice<'_>],
        ) -> std::task::Poll<std::io::Result<usize>> {
            crate::net::world::inside(|| {
                let how = detsim_net::How::poller_at(detsim_executor::OpKind::Send, self.site);
                self.socket.poll_write(cx, how, bufs)
            })
        }

        pub(super) fn shutdown_write(&self) -> std::io::Result<()> {
            self.socket.shutdown()
        }

        fn stream(&self) -> &Self {
            self
        }
    };
}

/// What every stream is, with [`shared!`] among its methods.
macro_rules! stream {
    ($Stream:ident) => {
        crate::net::halves::async_read!($Stream);
        crate::net::halves::async_write!($Stream, |_: &mut $Stream| ());

        impl AsRef<Self> for $Stream {
            fn as_ref(&self) -> &Self {
                self
            }
        }

        impl std::fmt::Debug for $Stream {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let (addr, peer) = (self.local_addr().ok(), self.peer_addr().ok());
                f.debug_struct(stringify!($Stream))
                    .field("addr", &addr)
                    .field("peer", &peer)
                    .finish()
            }
        }
    };
}

/// `Debug` of a socket that is no stream.
macro_rules! addressed {
    ($Socket:ident) => {
        impl std::fmt::Debug for $Socket {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Socket)).field("addr", &self.local_addr().ok()).finish()
            }
        }
    };
}

/// The descriptor of a socket that can be reached by it.
macro_rules! lent {
    ($Socket:ident) => {
        impl std::os::fd::AsFd for $Socket {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.descriptor.fd_of(&self.socket)
            }
        }

        impl std::os::fd::AsRawFd for $Socket {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::os::fd::AsFd::as_fd(self).as_raw_fd()
            }
        }
    };
}

/// As `from_std`.
macro_rules! try_from_std {
    ($Std:ty, $Socket:ident) => {
        impl TryFrom<$Std> for $Socket {
            type Error = std::io::Error;

            #[track_caller]
            fn try_from(socket: $Std) -> std::io::Result<Self> {
                Self::from_std(socket)
            }
        }
    };
}

/// Getters and setters of options, over the methods `options` and `set_options`.
macro_rules! options {
    ($($(#[$doc:meta])* $get:ident, $set:ident: $type:ty = $field:ident;)+) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// EBADF where its node has stopped.
        pub fn $get(&self) -> std::io::Result<$type> {
            self.options(|options| options.$field)
        }

        /// Sets what the getter of the same name gives.
        ///
        /// # Errors
        /// EBADF where its node has stopped.
        pub fn $set(&self, value: $type) -> std::io::Result<()> {
            self.set_options(|options| options.$field = value)
        }
    )+ };
}

/// Getters and setters of options that are numbers, over the methods `number` and `set_number`.
macro_rules! numbers {
    ($($(#[$doc:meta])* $get:ident, $set:ident = $number:ident;)+) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// EBADF where its node has stopped; EOPNOTSUPP where such a socket has no such option.
        pub fn $get(&self) -> std::io::Result<u32> {
            self.number(detsim_net::Number::$number).map(i32::cast_unsigned)
        }

        /// Sets what the getter of the same name gives.
        ///
        /// # Errors
        /// EINVAL for what Linux does not take; ENOPROTOOPT where such a socket has no such option; EBADF
        /// where its node has stopped.
        pub fn $set(&self, value: u32) -> std::io::Result<()> {
            self.set_number(detsim_net::Number::$number, value.cast_signed())
        }
    )+ };
}

pub(super) use {
    addressed, lent, numbers, operations, options, readable, reads, ready, shared, stream,
    try_from_std, writable, writes,
};
