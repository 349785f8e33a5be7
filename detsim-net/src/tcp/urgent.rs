//! The urgent byte of a connection.
//!
//! Owns: sending and taking it. Does not own: its way (`wire.rs`). As on Linux where nobody asks for it
//! in line, it is no part of the stream that is read. Unlike there, a read does not stop at the place where
//! it was written. Invariant: an end has one at most; a newer one takes the place of one that nobody took.

use std::io;

use detsim_executor::{Kernel, OpKind};

use crate::errno::{Errno, Result};
use crate::sockets::{Socket, SocketKey, SocketKind, World};
use crate::waits::Side;

impl Socket {
    /// Sends a byte beside the stream, which its peer may be told of before it reads on.
    ///
    /// # Errors
    /// As [`Self::try_write`]; EOPNOTSUPP where it is no socket of TCP.
    pub fn try_send_urgent(&self, byte: u8) -> io::Result<()> {
        self.attempt(OpKind::Send, Side::Write, |world, kernel, key| {
            world.tcp_send_urgent(kernel, key, byte)
        })
    }

    /// Takes the byte that the peer has sent so, or only looks at it.
    ///
    /// # Errors
    /// EINVAL where there is none; EOPNOTSUPP where it is no socket of TCP.
    pub fn try_receive_urgent(&self, peeks: bool) -> io::Result<u8> {
        self.attempt(OpKind::Recv, Side::Read, |world, _, key| world.tcp_take_urgent(key, peeks))
    }
}

impl World {
    fn tcp_send_urgent(&mut self, kernel: &mut Kernel, key: SocketKey, byte: u8) -> Result<()> {
        self.check_tcp(key)?;
        let (key, side) = self.end_of(key)?;
        if self.connection_mut(key)?.room(kernel, side)? == 0 {
            return Err(Errno::AGAIN);
        }
        self.send_urgent(kernel, key, side, byte);
        Ok(())
    }

    fn tcp_take_urgent(&mut self, key: SocketKey, peeks: bool) -> Result<u8> {
        self.check_tcp(key)?;
        let (key, side) = self.end_of(key)?;
        let urgent = &mut self.connection_mut(key)?.ends[side].urgent;
        let byte = if peeks { *urgent } else { urgent.take() };
        byte.ok_or(Errno::INVALID)
    }

    fn check_tcp(&self, key: SocketKey) -> Result<()> {
        match self.entry(key)?.kind {
            SocketKind::Tcp(_) => Ok(()),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }
}
