//! What every kind of socket can do.
//!
//! Owns: which protocol answers a call, what tokio remembers of readiness, and what is told of a call to
//! the scheduler and the wait graph. Does not own: protocols or waiting.

use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::panic::Location;
use std::task::Context;

use detsim_executor::{Kernel, OpKind, Party, Role, TaskTag};

use super::{Entry, Gone, SocketKey, SocketKind, World};
use crate::errno::{Errno, Result};
use crate::tcp::calls::Readiness;
use crate::unix::{Stream, Unix};
use crate::waits::Side;

/// The most parts that one call takes on Linux; std and tokio give it no more of those they have.
const PARTS_MAX: usize = 1_024;

/// Whether an operation that may wait begins.
pub(super) enum Begins {
    Now,
    /// The task is stopped before it.
    Later,
    /// Its owner has gone.
    Never(Gone),
}

impl World {
    pub(super) fn read(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        buffers: &mut [IoSliceMut<'_>],
        peeks: bool,
    ) -> Result<usize> {
        let (buffers, _) = buffers.split_at_mut(buffers.len().min(PARTS_MAX));
        match &self.entry(key)?.kind {
            SocketKind::Unix(Unix::Stream(Stream { read, .. }) | Unix::Receiver(read)) => {
                let channel = *read;
                self.channel_read(kernel, channel, buffers, peeks)
            }
            SocketKind::Unix(_) => Err(Errno::INVALID),
            _ => self.tcp_read(kernel, key, buffers, peeks),
        }
    }

    pub(super) fn write(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        buffers: &[IoSlice<'_>],
    ) -> Result<usize> {
        let buffers = &buffers[..buffers.len().min(PARTS_MAX)];
        match &self.entry(key)?.kind {
            SocketKind::Unix(Unix::Stream(Stream { write, .. }) | Unix::Sender(write)) => {
                let channel = *write;
                self.channel_write(kernel, channel, buffers)
            }
            SocketKind::Unix(_) => Err(Errno::NOT_CONNECTED),
            _ => self.tcp_write(kernel, key, buffers),
        }
    }

    /// A call that waits has done less than it was asked for: tokio takes that for the end of readiness,
    /// which calls that only try do not.
    pub(super) fn fell_short(&mut self, key: SocketKey, side: Side) -> Result<()> {
        let truth = self.truth(key)?;
        let entry = self.entry_mut(key)?;
        match side {
            Side::Write => entry.ready[1] &= truth.writable,
            _ => entry.ready[0] &= truth.readable,
        }
        Ok(())
    }

    pub(super) fn truth(&self, key: SocketKey) -> Result<Readiness> {
        match &self.entry(key)?.kind {
            SocketKind::Tcp(_) => self.tcp_readiness(key),
            SocketKind::Udp(udp) => Ok(udp.readiness()),
            SocketKind::Unix(_) => self.unix_readiness(key),
        }
    }

    pub(super) fn bind(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        address: SocketAddr,
    ) -> Result<()> {
        match &self.entry(key)?.kind {
            SocketKind::Tcp(_) => self.tcp_bind(kernel, key, address)?,
            SocketKind::Udp(_) => self.udp_bind(kernel, key, address)?,
            SocketKind::Unix(_) => return Err(Errno::FAMILY),
        }
        if let IpAddr::V6(ip) = address.ip() {
            // An address of IPv6 alone takes no IPv4, and the socket says so from then on.
            let is_of_both = ip.is_unspecified() || ip.to_ipv4_mapped().is_some();
            self.entry_mut(key)?.options.only_v6 |= !is_of_both;
        }
        Ok(())
    }

    pub(super) fn local(&self, key: SocketKey) -> Result<SocketAddr> {
        let local = match &self.entry(key)?.kind {
            SocketKind::Tcp(_) => self.tcp_local(key),
            SocketKind::Udp(udp) => udp.local.ok_or(Errno::INVALID),
            SocketKind::Unix(_) => Err(Errno::FAMILY),
        };
        Ok(self.shown(key, local?))
    }

    pub(super) fn peer(&self, key: SocketKey) -> Result<SocketAddr> {
        let peer = match &self.entry(key)?.kind {
            SocketKind::Tcp(_) => self.tcp_peer(key),
            SocketKind::Udp(udp) => udp.peer.ok_or(Errno::NOT_CONNECTED),
            SocketKind::Unix(_) => Err(Errno::FAMILY),
        };
        Ok(self.shown(key, peer?))
    }

    /// An address as a socket of IPv6 names it: one of IPv4 is mapped.
    pub(super) fn shown(&self, key: SocketKey, address: SocketAddr) -> SocketAddr {
        let is_v6 = self.entry(key).is_ok_and(|entry| match &entry.kind {
            SocketKind::Tcp(tcp) => tcp.is_v6,
            SocketKind::Udp(udp) => udp.is_v6,
            SocketKind::Unix(_) => false,
        });
        match address {
            SocketAddr::V4(v4) if is_v6 => {
                SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port())
            }
            address => address,
        }
    }

    pub(super) fn receive(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        buffer: &mut [u8],
        peeks: bool,
    ) -> Result<(usize, SocketAddr)> {
        let (bytes, from) = self.udp_receive(kernel, key, buffer, peeks)?;
        Ok((bytes, self.shown(key, from)))
    }

    pub(super) fn pending_error(&mut self, key: SocketKey) -> Result<Option<Errno>> {
        match &mut self.entry_mut(key)?.kind {
            SocketKind::Tcp(_) => self.tcp_error(key),
            SocketKind::Udp(udp) => Ok(udp.take_error()),
            SocketKind::Unix(Unix::Stream(stream)) => {
                let read = stream.read;
                let channel = self.channels.get_mut(read);
                Ok(channel.and_then(|channel| channel.error.take()))
            }
            SocketKind::Unix(Unix::Datagrams(datagrams)) => Ok(datagrams.take_error()),
            SocketKind::Unix(_) => Ok(None),
        }
    }

    /// What tokio remembers: what was ready once is, until an operation finds that it is not.
    pub(super) fn remembered(
        &mut self,
        kernel: Option<&Kernel>,
        key: SocketKey,
    ) -> Result<Readiness> {
        let truth = self.truth(key)?;
        let entry = self.entry_mut(key)?;
        entry.ready[0] |= truth.readable && !entry.denied[0];
        entry.ready[1] |= truth.writable && !entry.denied[1];
        let untold = kernel.map_or([false, false], |kernel| entry.untold.sides(kernel));
        let [readable, writable] = [0, 1].map(|at| entry.ready[at] && !untold[at]);
        let read_closed = truth.read_closed && !untold[0];
        let write_closed = truth.write_closed && !untold[1];
        Ok(Readiness { readable, writable, read_closed, write_closed, ..truth })
    }

    /// Whether this operation of the task that runs begins.
    #[inline]
    pub(super) fn begins(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        op: OpKind,
        side: Side,
        cx: &Context<'_>,
    ) -> Begins {
        let Some(entry) = self.sockets.get_mut(key) else { return Begins::Now };
        if let Some(gone) = entry.owner.gone {
            return Begins::Never(gone);
        }
        let asked = &mut entry.asked[usize::from(side == Side::Write)];
        match kernel.stops_before(&mut entry.object, op, asked, cx.waker()) {
            true => Begins::Later,
            false => Begins::Now,
        }
    }

    /// An operation took place, or found that it has to wait.
    #[inline]
    pub(super) fn note(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        op: OpKind,
        side: Side,
        site: &'static Location<'static>,
        error: Option<Errno>,
    ) {
        let Some(entry) = self.sockets.get_mut(key) else { return };
        if error == Some(Errno::AGAIN) {
            entry.ready[0] &= side == Side::Write;
            entry.ready[1] &= side == Side::Read;
            return kernel.operate(&mut entry.object, OpKind::Read);
        }
        kernel.operate(&mut entry.object, op);
        entry.asked[usize::from(side == Side::Write)] = false;
        if op != OpKind::Read && entry.note_use(kernel, side, site) {
            self.tell_peer(kernel, key, side);
        }
    }

    /// Whoever waits at the other end of a connection waits for whom used this one last.
    #[cold]
    pub(super) fn tell_peer(&self, kernel: &mut Kernel, key: SocketKey, side: Side) {
        let peer = self.end_of(key).ok().and_then(|(connection, own)| {
            let connection = self.connections.get(connection)?;
            self.sockets.get(connection.ends[1 - own].socket?)
        });
        if let (Some(peer), Some(own)) = (peer, self.sockets.get(key)) {
            let party = &own.parties[usize::from(side == Side::Write)];
            peer.waits.tell(kernel, &peer.object, side == Side::Read, party.as_slice());
        }
    }

    /// Who used the other end last, so that a wait for this one could end.
    pub(super) fn other_party(&self, key: SocketKey, side: Side) -> Option<Party> {
        let other = match &self.entry(key).ok()?.kind {
            SocketKind::Unix(Unix::Stream(stream)) => self.channels.get(stream.read)?.writer?,
            SocketKind::Unix(Unix::Receiver(channel)) => self.channels.get(*channel)?.writer?,
            SocketKind::Unix(Unix::Sender(channel)) => self.channels.get(*channel)?.reader?,
            _ => {
                let (connection, own) = self.end_of(key).ok()?;
                self.connections.get(connection)?.ends[1 - own].socket?
            }
        };
        self.sockets.get(other)?.parties[usize::from(side != Side::Write)]
    }
}

impl Entry {
    /// An operation took place. True where whoever did it, or the line, is another than the last time.
    #[inline(always)]
    pub(super) fn note_use(
        &mut self,
        kernel: &Kernel,
        side: Side,
        site: &'static Location<'static>,
    ) -> bool {
        let at = usize::from(side == Side::Write);
        self.asked[at] = false;
        if let Some(party) = &self.parties[at]
            && kernel.is_current(party.task)
            && std::ptr::eq(party.site, site)
        {
            return false;
        }
        let task = kernel.current_tag();
        let role = if side == Side::Write { Role::LastSent } else { Role::LastReceived };
        self.parties[at] =
            (task != TaskTag::NOBODY).then_some(Party { task, role, site, count: 1 });
        true
    }
}
