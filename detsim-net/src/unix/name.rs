//! Names of local sockets, and who has which.
//!
//! Owns: [`Whom`], by what a local socket is found; [`Name`], what it is called; [`NameTable`]. Does not own:
//! files. A name that is a path stands for a file of the node's disk, which whoever binds a socket makes
//! and whoever looks for one finds; here it is the file's number. Invariants: a name is free again when its
//! socket is closed, which is why the file that is left leads to nobody.

use std::collections::BTreeMap;

use detsim_executor::NodeId;

use crate::errno::{Errno, Result};
use crate::sockets::SocketKey;

/// By what a local socket is found on its node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whom {
    /// An abstract name, with the zero byte that it begins with.
    Abstract(Vec<u8>),
    /// The file that its path leads to, by a number that no other file of the node ever has.
    File(u64),
    /// It was looked for in vain: an error of this number.
    Nobody(i32),
}

/// Of which type a socket is. Each has abstract names of its own; files are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Type {
    Stream,
    Datagram,
}

/// What a local socket is called; nothing for most of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Name {
    /// As it was bound: a path, or an abstract name with its zero byte.
    pub(crate) shown: Vec<u8>,
    file: Option<u64>,
}

impl Name {
    pub(crate) fn new(shown: Vec<u8>, file: Option<u64>) -> Self {
        Self { shown, file }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.shown.is_empty()
    }

    fn whom(&self) -> Whom {
        self.file.map_or_else(|| Whom::Abstract(self.shown.clone()), Whom::File)
    }
}

/// Where a name stands: of files the type does not matter.
type Place = (NodeId, Whom, Option<Type>);

fn place(node: NodeId, whom: Whom, of: Type) -> Place {
    let of = matches!(whom, Whom::Abstract(_)).then_some(of);
    (node, whom, of)
}

/// Who has which name.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    bound: BTreeMap<Place, SocketKey>,
    /// The next number for a socket that does not care for its name.
    next: BTreeMap<NodeId, u32>,
}

impl NameTable {
    /// Gives a name.
    ///
    /// # Errors
    /// EADDRINUSE.
    pub(super) fn bind(
        &mut self,
        node: NodeId,
        name: &Name,
        of: Type,
        socket: SocketKey,
    ) -> Result<()> {
        let place = place(node, name.whom(), of);
        if self.bound.contains_key(&place) {
            return Err(Errno::ADDRESS_IN_USE);
        }
        self.bound.insert(place, socket);
        Ok(())
    }

    /// An abstract name that nobody has: five digits, as Linux gives.
    pub(super) fn free(&mut self, node: NodeId, of: Type) -> Name {
        let next = self.next.entry(node).or_default();
        loop {
            let shown = format!("\0{next:05x}").into_bytes();
            *next = (*next + 1) & 0xf_ffff;
            let name = Name::new(shown, None);
            if !self.bound.contains_key(&place(node, name.whom(), of)) {
                return name;
            }
        }
    }

    /// Takes a name back from the socket that has it.
    pub(super) fn unbind(&mut self, node: NodeId, name: &Name, of: Type, socket: SocketKey) {
        if name.is_none() {
            return;
        }
        let place = place(node, name.whom(), of);
        if self.bound.get(&place) == Some(&socket) {
            self.bound.remove(&place);
        }
    }

    /// Who has a name.
    ///
    /// # Errors
    /// ECONNREFUSED where nobody has it.
    pub(super) fn find(&self, node: NodeId, whom: &Whom, of: Type) -> Result<SocketKey> {
        if let Whom::Nobody(errno) = whom {
            return Err(Errno(*errno));
        }
        self.bound.get(&place(node, whom.clone(), of)).copied().ok_or(Errno::REFUSED)
    }
}
