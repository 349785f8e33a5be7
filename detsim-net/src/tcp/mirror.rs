//! A socket that is connected to itself.
//!
//! Owns: how it comes about, and that it reads what it wrote. Does not own: segments. Invariants: such a
//! connection has the program's socket at its first end and nobody at its second, which sends back whatever
//! arrives there, the end of the stream included; both ends have the same address, and so the same port.

use detsim_executor::Kernel;

use super::ConnectionKey;
use super::connection::Phase;
use super::lane::Fin;
use crate::sockets::World;

/// What the second end holds in each direction: the program's own buffers are those of the first.
const HELD_BYTES_MAX: usize = 1 << 16;

impl World {
    /// Does this connection lead from a socket to itself?
    pub(super) fn leads_back(&self, key: ConnectionKey) -> bool {
        self.connections.get(key).is_some_and(|connection| {
            let [own, peer] = &connection.ends;
            (own.node, own.local) == (peer.node, peer.local)
        })
    }

    /// A SYN has come to the socket that sent it: that opens the connection, as Linux has it.
    pub(super) fn open_mirror(&mut self, key: ConnectionKey) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.is_mirror = true;
        let shares = connection.ends[0].shares_port;
        let end = &mut connection.ends[1];
        end.phase = Phase::SynReceived;
        (end.nodelay, end.shares_port) = (true, shares);
        (end.send_capacity, end.receive_capacity) = (HELD_BYTES_MAX, HELD_BYTES_MAX);
        let (node, port) = (end.node, end.local.port());
        self.ways.hosts.of(node).connect(port, shares, None);
    }

    /// Something happened at an end that no program has: where it is a mirror, it sends back what it has got.
    #[cold]
    pub(super) fn reflect(&mut self, kernel: &mut Kernel, key: ConnectionKey) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if !connection.is_mirror || connection.ends[1].phase != Phase::Established {
            return;
        }
        let [there, back] = &mut connection.lanes;
        back.take_acks(kernel.now());
        let room = HELD_BYTES_MAX.saturating_sub(back.outstanding());
        let mut bytes = vec![0; room.min(there.readable())];
        there.take(&mut bytes);
        back.write(&bytes);
        back.starved = there.readable() > 0;
        let is_over = there.fin == Fin::Arrived && there.readable() == 0;
        self.transmit(kernel, key, 1);
        self.expect_acks(kernel, key, 1);
        self.update_window(kernel, key, 0);
        if is_over {
            self.finish(kernel, key, 1);
        }
    }
}
