//! A file as a bare device, for the byte-addressed face of the disk (`crate::disk`).
//!
//! Owns: a look at the data that is pending, bytes put on the medium past the log, and a loss of power
//! whose survivors the caller names. Does not own: which atoms bring which along (`order.rs`).

use std::rc::Rc;

use super::change::Change;
use super::handles::Handle;
use super::{Volume, order};

/// The part of a pending write that falls into one sector.
#[derive(Clone, Debug)]
pub(crate) struct DataAtom {
    /// Which write: grows with time.
    pub(crate) write: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: Rc<[u8]>,
}

impl Volume {
    /// All data that is not durable, oldest first.
    pub(crate) fn pending_data(&self) -> Vec<DataAtom> {
        let parts = self.atoms().into_iter().filter_map(|atom| {
            let sector = atom.sector?;
            let part = self.journal.change(atom.seq).of_sector(sector);
            let Change::Data { offset, bytes, .. } = part else {
                return None;
            };
            Some(DataAtom { write: atom.seq, offset, bytes })
        });
        parts.collect()
    }

    /// Puts bytes of a file on the medium, beneath whatever is pending.
    pub(crate) fn imprint(&mut self, handle: Handle, offset: u64, bytes: &[u8]) {
        let Ok(ino) = self.handles.find(handle).map(|open| open.ino) else { return };
        let change = Change::Data { ino, offset, bytes: bytes.into() };
        self.medium.apply(&change, self.now);
        self.live.apply(&change, self.now);
        for (_, pending) in self.journal.iter() {
            self.live.apply(&pending.change, pending.at);
        }
        self.pages = self.live.pages();
    }

    /// Cuts the power. `keep` says which pending atoms survive; it is returned with those added that
    /// they bring along.
    pub(crate) fn crash_keeping(&mut self, mut keep: Vec<bool>) -> Vec<bool> {
        let atoms = self.atoms();
        assert_eq!(atoms.len(), keep.len(), "invariant: one fate for each pending atom");
        order::close(&atoms, &mut keep);
        self.crash_with(&atoms, &keep);
        keep
    }
}
