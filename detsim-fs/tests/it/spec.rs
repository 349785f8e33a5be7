//! The file system again, as simply as it can be said: one list of everything that was ever done, a
//! flag for what is durable, and a question that two entries of it answer: may this one be on the
//! medium without that one? Shares no code with the volume, and knows nothing of pages, indices or
//! open files. What a call does while no power is lost is `spec/calls.rs`.

mod calls;

use std::collections::BTreeSet;

use calls::Atom::{self, Name as Named, Put, Size};
use calls::{Id, Name, State};
use detsim_fs::CrashProfile::{self, Ext4Ordered, MetadataLog, Prefix};

pub(crate) use calls::{Call, Links, View, tell_links};

#[derive(Clone)]
pub(crate) struct Spec {
    profile: CrashProfile,
    base: State,
    log: Vec<(Atom, bool)>,
    dirs: BTreeSet<Id>,
    next: Id,
}

impl Spec {
    pub(crate) fn new(profile: CrashProfile) -> Self {
        let (base, log) = (State::default(), Vec::new());
        Self { profile, base, log, dirs: BTreeSet::from([0]), next: 1 }
    }

    fn state(&self, keep: impl Fn(usize) -> bool) -> State {
        let mut state = self.base.clone();
        let kept = (0..self.log.len()).filter(|i| self.log[*i].1 || keep(*i));
        kept.for_each(|i| state.apply(self.log[i].0));
        state
    }

    pub(crate) fn view(&self) -> View {
        let (mut view, mut links) = (View::new(), Links::new());
        self.state(|_| true).view(&self.dirs, 0, "", &mut view, &mut links);
        tell_links(&mut view, links);
        view
    }

    /// May `i` not be on the medium without `j`, which was before it?
    fn needs(&self, i: usize, j: usize) -> bool {
        let (later, earlier) = (self.log[i].0, self.log[j].0);
        let journals = |atom| match (self.profile, atom) {
            (Ext4Ordered, Size { was, to, .. }) => to < was,
            (Ext4Ordered | MetadataLog, atom) => !matches!(atom, Put { .. }),
            _ => false,
        };
        let is_ext4 = self.profile == Ext4Ordered;
        (self.profile == Prefix || (journals(later) && journals(earlier)))
            || match (later, earlier) {
                (Put { id, sector, .. }, Put { id: id2, sector: s2, .. }) => {
                    (id, sector) == (id2, s2)
                }
                (Put { id, sector, .. }, Size { id: id2, was, to }) => {
                    id == id2 && to < was && to / 512 <= sector
                }
                (Size { id, .. }, Size { id: id2, .. }) => id == id2,
                (Size { id, was, to }, Put { id: id2, sector, .. }) => {
                    let is_seen = to > was && sector >= was / 512 && sector * 512 < to;
                    is_ext4 && id == id2 && is_seen
                }
                (Named { id, over, dir, .. }, Put { id: id2, .. } | Size { id: id2, .. }) => {
                    is_ext4 && !dir && over.is_some() && id == id2
                }
                (
                    Named { old, new, id, over, dir },
                    Named { old: old2, new: new2, dir: dir2, .. },
                ) => {
                    let names = [old2, new2].into_iter().flatten();
                    let gone = if new.is_none() { Some(id) } else { over };
                    let moves =
                        |old: Option<Name>, new: Option<Name>| old.is_some() && new.is_some();
                    names.clone().any(|name| old == Some(name) || new == Some(name))
                        || (dir && names.clone().any(|(within, _)| gone == Some(within)))
                        || (dir && dir2 && moves(old, new) && moves(old2, new2))
                }
                (Put { .. } | Size { .. }, Named { .. }) => false,
            }
    }

    fn pending(&self) -> Vec<usize> {
        (0..self.log.len()).filter(|i| !self.log[*i].1).collect()
    }

    fn sync(&mut self, id: Id, data_only: bool) {
        let owns = |atom: Atom| match atom {
            Put { id: own, .. } | Size { id: own, .. } => own == id,
            Named { old, new, .. } => [old, new].into_iter().flatten().any(|(dir, _)| dir == id),
        };
        let is_data = |atom: Atom| !matches!(atom, Named { .. });
        let wants = |i: &usize| owns(self.log[*i].0) && (!data_only || is_data(self.log[*i].0));
        let mut wanted: Vec<usize> = self.pending().into_iter().filter(wants).collect();
        let sizes = wanted.iter().any(|i| matches!(self.log[*i].0, Size { .. }));
        if self.profile == Ext4Ordered && (!data_only || sizes) {
            let journal = |atom| match atom {
                Put { .. } => false,
                Size { was, to, .. } => to < was,
                Named { .. } => true,
            };
            wanted.extend(self.pending().into_iter().filter(|i| journal(self.log[*i].0)));
        }
        while let Some(i) = wanted.pop() {
            wanted.extend(self.pending().into_iter().filter(|j| *j < i && self.needs(i, *j)));
            self.log[i].1 = true;
        }
    }

    /// Everything that a crash may leave, as specifications to go on from. `None` where that is
    /// too much to list.
    pub(crate) fn crashes(&self, pending_max: usize) -> Option<Vec<Self>> {
        let pending = self.pending();
        if pending.len() > pending_max {
            return None;
        }
        let mask = |n: usize| -> u32 {
            let needed = (0..n).filter(|m| self.needs(pending[n], pending[*m]));
            needed.map(|m| 1 << m).sum()
        };
        let masks: Vec<u32> = (0..pending.len()).map(mask).collect();
        let legal =
            |set: &u32| (0..pending.len()).all(|n| set >> n & 1 == 0 || masks[n] & !set == 0);
        let left = |set: u32| {
            let kept =
                |i: usize| pending.iter().position(|p| *p == i).is_some_and(|n| set >> n & 1 == 1);
            let mut base = self.state(kept);
            base.bytes.values_mut().for_each(|file| file.0.truncate(file.1));
            Self { base, log: Vec::new(), ..self.clone() }
        };
        Some((0..1 << pending.len()).filter(legal).map(left).collect())
    }
}
