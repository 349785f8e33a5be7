//! What calls do to a file system that loses no power: the atoms that each appends, and the view of
//! them that a reader has.

use std::collections::{BTreeMap, BTreeSet};

use super::Spec;
use Atom::{Name as Named, Put, Size};

/// A call; paths are of at most two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Create(&'static str),
    DataSync(&'static str),
    Link(&'static str, &'static str),
    MakeDir(&'static str),
    Remove(&'static str),
    RemoveDir(&'static str),
    Rename(&'static str, &'static str),
    Sync(&'static str),
    Truncate(&'static str, usize),
    Write(&'static str, usize, usize, u8),
}

impl Call {
    /// What it is about first of all.
    fn path(self) -> &'static str {
        match self {
            Self::Create(path) | Self::DataSync(path) | Self::MakeDir(path) => path,
            Self::Remove(path) | Self::RemoveDir(path) | Self::Sync(path) => path,
            Self::Link(path, _) | Self::Rename(path, _) => path,
            Self::Truncate(path, _) | Self::Write(path, ..) => path,
        }
    }
}

pub(super) type Id = usize;
pub(super) type Name = (Id, &'static str);

/// The smallest thing that is on the medium or not.
#[derive(Clone, Copy, Debug)]
pub(super) enum Atom {
    Put { id: Id, sector: usize, from: usize, to: usize, byte: u8 },
    Size { id: Id, was: usize, to: usize },
    Name { old: Option<Name>, new: Option<Name>, id: Id, over: Option<Id>, dir: bool },
}
/// All paths, with the bytes of files; and `/a = /b` where two names are one file's.
pub(crate) type View = BTreeMap<String, Option<Vec<u8>>>;
/// By the number of a file, its names.
pub(crate) type Links = BTreeMap<u64, BTreeSet<String>>;

/// Adds to a view which names are one file's: two that look the same need not be.
pub(crate) fn tell_links(view: &mut View, links: Links) {
    let several = links.into_values().filter(|names| names.len() > 1);
    let told = several.map(|names| names.into_iter().collect::<Vec<_>>().join(" = "));
    view.extend(told.map(|names| (names, None)));
}

#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) names: BTreeMap<Name, Id>,
    pub(super) bytes: BTreeMap<Id, (Vec<u8>, usize)>,
}

impl State {
    pub(super) fn apply(&mut self, atom: Atom) {
        match atom {
            Put { id, from, to, byte, .. } => {
                let bytes = &mut self.bytes.entry(id).or_default().0;
                bytes.resize(bytes.len().max(to), 0);
                bytes[from..to].fill(byte);
            }
            Size { id, was, to } => {
                let file = self.bytes.entry(id).or_default();
                file.1 = to;
                if to < was {
                    file.0.truncate(to);
                }
            }
            Named { old, new, id, .. } => {
                old.map(|old| self.names.remove(&old));
                new.map(|new| self.names.insert(new, id));
            }
        }
    }

    pub(super) fn find(&self, path: &str) -> (Option<Name>, Option<Id>) {
        let mut at = (None, Some(0));
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let Some(dir) = at.1 else { return (None, None) };
            let name = ["a", "b", "d", "e"].into_iter().find(|known| *known == name).unwrap();
            at = (Some((dir, name)), self.names.get(&(dir, name)).copied());
        }
        at
    }

    pub(super) fn view(
        &self,
        dirs: &BTreeSet<Id>,
        dir: Id,
        path: &str,
        view: &mut View,
        links: &mut Links,
    ) {
        for ((_, name), id) in self.names.range((dir, "")..(dir + 1, "")) {
            let path = format!("{path}/{name}");
            if dirs.contains(id) {
                self.view(dirs, *id, &path, view, links);
                view.insert(path, None);
            } else {
                let (mut bytes, size) = self.bytes.get(id).cloned().unwrap_or_default();
                bytes.resize(size, 0);
                view.insert(path.clone(), Some(bytes));
                links.entry(*id as u64).or_default().insert(path);
            }
        }
    }
}

impl Spec {
    /// Carries out a call; false where it fails.
    pub(crate) fn call(&mut self, call: Call) -> bool {
        let now = self.state(|_| true);
        let is_dir = |id: Option<Id>| id.is_some_and(|id| self.dirs.contains(&id));
        let is_empty = |dir: Id| !now.names.keys().any(|(within, _)| *within == dir);
        let name = |old, new, id, over, dir| Named { old, new, id, over, dir };
        let (entry, there) = now.find(call.path());
        let parent_is_dir =
            |entry: Option<Name>| entry.is_some_and(|(dir, _)| self.dirs.contains(&dir));
        let size = there.and_then(|id| now.bytes.get(&id)).map_or(0, |file| file.1);
        let mut atoms = Vec::new();
        match (call, there) {
            (Call::Create(_), Some(id)) => return !self.dirs.contains(&id),
            (Call::Create(_) | Call::MakeDir(_), None) if parent_is_dir(entry) => {
                let dir = matches!(call, Call::MakeDir(_));
                atoms.push(name(None, entry, self.next, None, dir));
                if dir {
                    self.dirs.insert(self.next);
                }
                self.next += 1;
            }
            (Call::Remove(_), Some(id)) if !is_dir(there) => {
                atoms.push(name(entry, None, id, None, false))
            }
            (Call::RemoveDir(_), Some(id)) if is_dir(there) && is_empty(id) && entry.is_some() => {
                atoms.push(name(entry, None, id, None, true));
            }
            (Call::Link(_, to), Some(id)) => {
                let (new, taken) = now.find(to);
                if taken.is_some() || is_dir(there) || !parent_is_dir(new) {
                    return false;
                }
                atoms.push(name(None, new, id, None, false));
            }
            (Call::Rename(_, to), Some(id)) => {
                let (new, over) = now.find(to);
                let fits = over.is_none_or(|o| {
                    is_dir(Some(o)) == is_dir(there) && (!is_dir(there) || is_empty(o))
                });
                let within = is_dir(there) && new.is_some_and(|(dir, _)| dir == id);
                if over == there {
                    return true;
                }
                if !fits || within || !parent_is_dir(new) {
                    return false;
                }
                atoms.push(name(entry, new, id, over, is_dir(there)));
            }
            (Call::Truncate(_, to), Some(id)) if !is_dir(there) => {
                atoms.extend((to != size).then_some(Size { id, was: size, to }));
            }
            (Call::Write(_, at, len, byte), Some(id)) if !is_dir(there) => {
                for sector in at / 512..(at + len).div_ceil(512) {
                    let (from, to) = (at.max(sector * 512), (at + len).min(sector * 512 + 512));
                    atoms.push(Put { id, sector, from, to, byte });
                }
                atoms.extend((at + len > size).then_some(Size { id, was: size, to: at + len }));
            }
            (Call::Sync(_), Some(id)) => self.sync(id, false),
            (Call::DataSync(_), Some(id)) => self.sync(id, true),
            _ => return false,
        }
        self.log.extend(atoms.into_iter().map(|atom| (atom, false)));
        true
    }
}
