//! The options of a socket in the hands of a program.
//!
//! Owns: how they are looked at and set, and what else `getsockopt` knows of a socket. Does not own: which
//! there are (`crate::options`), or what one does.

use std::io;
use std::net::Ipv4Addr;

use super::{Socket, SocketKind};
use crate::errno::Errno;
use crate::options::{Family, Number, Options};
use crate::tcp::State;
use crate::udp::QUEUE_BYTES_MAX;
use crate::unix::Unix;

impl Socket {
    /// Looks at its options.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn options<R>(&self, f: impl FnOnce(&Options) -> R) -> io::Result<R> {
        self.look(|world, key| Ok(f(&world.entry(key)?.options)))
    }

    /// Changes its options.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        self.call(|world, kernel, key| {
            change(&mut world.entry_mut(key)?.options);
            world.tcp_options_changed(kernel, key);
            Ok(())
        })
    }

    /// An option that is a number.
    ///
    /// # Errors
    /// EOPNOTSUPP or ENOPROTOOPT, as Linux has it, where it has no such option.
    pub fn number(&self, number: Number) -> io::Result<i32> {
        self.look(|world, key| {
            let entry = world.entry(key)?;
            entry.options.read_number(entry.family()?, number)
        })
    }

    /// Sets an option that is a number.
    ///
    /// # Errors
    /// EINVAL for a value that Linux does not take, ENOPROTOOPT where it has no such option; EBADF where its
    /// node has stopped.
    pub fn set_number(&self, number: Number, value: i32) -> io::Result<()> {
        self.call(|world, kernel, key| {
            let entry = world.entry_mut(key)?;
            entry.options.change_number(entry.family()?, number, value)?;
            world.tcp_options_changed(kernel, key);
            Ok(())
        })
    }

    /// `SO_SNDBUF` and `SO_RCVBUF` as they read.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn buffer_sizes(&self) -> io::Result<[u32; 2]> {
        self.look(|world, key| {
            let entry = world.entry(key)?;
            let options = &entry.options;
            Ok(match entry.kind {
                SocketKind::Tcp(_) => [options.send_buffer_size(), options.receive_buffer_size()],
                _ => [options.send_buffer, options.receive_buffer]
                    .map(|bytes| bytes.unwrap_or(QUEUE_BYTES_MAX as u32)),
            })
        })
    }

    /// What it is to its options.
    ///
    /// # Errors
    /// EOPNOTSUPP for a local socket.
    pub fn family(&self) -> io::Result<Family> {
        self.look(|world, key| world.entry(key)?.family())
    }

    /// `SO_ACCEPTCONN`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn is_listening(&self) -> io::Result<bool> {
        self.look(|world, key| {
            Ok(match &world.entry(key)?.kind {
                SocketKind::Tcp(tcp) => matches!(tcp.state, State::Listening(_)),
                SocketKind::Unix(unix) => matches!(unix, Unix::Listener(_)),
                SocketKind::Udp(_) => false,
            })
        })
    }

    /// `IP_MULTICAST_IF`, as the address of an interface.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn multicast_interface(&self) -> io::Result<Ipv4Addr> {
        self.options(|options| options.multicast_interface)
    }

    /// Sets `IP_MULTICAST_IF`. A node has one interface, which every group is on, whatever this says.
    ///
    /// # Errors
    /// EADDRNOTAVAIL for an address that its node has not, EINVAL for a socket of TCP.
    pub fn set_multicast_interface(&self, address: Ipv4Addr) -> io::Result<()> {
        self.call(|world, _, key| {
            let entry = world.entry(key)?;
            if entry.family()?.is_tcp {
                return Err(Errno::INVALID);
            }
            let node = entry.node;
            if !world.ways.hosts.of(node).is_own(address.into()) {
                return Err(Errno::ADDRESS_NOT_AVAILABLE);
            }
            world.entry_mut(key)?.options.multicast_interface = address;
            Ok(())
        })
    }
}
