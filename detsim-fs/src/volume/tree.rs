//! Inodes and the directories that name them.
//!
//! Owns: [`Tree`], one state of a file system, and how a [`Change`] is carried out on it. There are
//! two of them: what the running system sees, and what is on the medium; a change reaches the first
//! at once and the second when it becomes durable. Does not own: whether a change is allowed, and
//! when it becomes durable.
//!
//! Invariants: in the running tree every name leads to an inode. The medium holds each inode from
//! its birth on, whether a durable name leads to it or not; [`Tree::sweep`] drops those without.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use detsim_executor::SimTime;

use super::change::{Change, Entry};
use super::contents::Contents;

/// The number of an inode; none is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ino(pub(crate) u64);

/// The root directory.
pub(crate) const ROOT: Ino = Ino(1);

/// The bytes of a name within its directory.
pub(crate) type Name = Rc<[u8]>;

/// What an inode is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Dir(Dir),
    File(Contents),
    Symlink(Rc<[u8]>),
    /// A name for a pipe, which is none of the disk's.
    Fifo,
    /// A name for a local socket, which is none of the disk's.
    Socket,
}

/// A directory.
#[derive(Clone, Debug)]
pub(crate) struct Dir {
    pub(crate) entries: BTreeMap<Name, Ino>,
    pub(crate) parent: Ino,
}

/// When something was last done to a file, in nanoseconds since the simulation began; less than 0
/// for a moment before it, which a program may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// It was made.
    pub born_ns: i64,
    /// It was read.
    pub read_ns: i64,
    /// Its bytes were written; for a directory, its names.
    pub written_ns: i64,
    /// Anything of it was changed.
    pub changed_ns: i64,
}

impl Times {
    pub(crate) fn new(now: SimTime) -> Self {
        let now_ns = nanos(now);
        Self { born_ns: now_ns, read_ns: now_ns, written_ns: now_ns, changed_ns: now_ns }
    }

    pub(crate) fn write(&mut self, now: SimTime) {
        (self.written_ns, self.changed_ns) = (nanos(now), nanos(now));
    }
}

/// A moment of the simulation as times of files have it.
pub(crate) fn nanos(now: SimTime) -> i64 {
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

/// A file, directory or symbolic link.
#[derive(Clone, Debug)]
pub(crate) struct Inode {
    pub(crate) kind: Kind,
    /// The twelve bits of its permissions.
    pub(crate) mode: u32,
    /// How many names lead to it.
    pub(crate) links: u32,
    pub(crate) times: Times,
}

impl Inode {
    pub(crate) fn dir(&self) -> Option<&Dir> {
        match &self.kind {
            Kind::Dir(dir) => Some(dir),
            _ => None,
        }
    }

    pub(crate) fn file(&self) -> Option<&Contents> {
        match &self.kind {
            Kind::File(contents) => Some(contents),
            _ => None,
        }
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.dir().is_some()
    }
}

/// One state of a file system. Cloning it copies no inode.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    inodes: BTreeMap<Ino, Rc<Inode>>,
}

impl Tree {
    /// Nothing but a root directory.
    pub(crate) fn new() -> Self {
        let kind = Kind::Dir(Dir { entries: BTreeMap::new(), parent: ROOT });
        let root = Inode { kind, mode: 0o755, links: 1, times: Times::new(SimTime::ZERO) };
        Self { inodes: BTreeMap::from([(ROOT, Rc::new(root))]) }
    }

    pub(crate) fn find(&self, ino: Ino) -> Option<&Inode> {
        self.inodes.get(&ino).map(|inode| &**inode)
    }

    /// An inode that is known to be there.
    pub(crate) fn at(&self, ino: Ino) -> &Inode {
        self.find(ino).expect("invariant: every name and handle of the running tree has an inode")
    }

    pub(crate) fn at_mut(&mut self, ino: Ino) -> Option<&mut Inode> {
        self.inodes.get_mut(&ino).map(Rc::make_mut)
    }

    pub(crate) fn insert(&mut self, ino: Ino, inode: Inode) {
        self.inodes.insert(ino, Rc::new(inode));
    }

    pub(crate) fn remove(&mut self, ino: Ino) {
        self.inodes.remove(&ino);
    }

    /// What `name` of `dir` leads to.
    pub(crate) fn lookup(&self, dir: Ino, name: &[u8]) -> Option<Ino> {
        self.find(dir)?.dir()?.entries.get(name).copied()
    }

    /// How many pages all files take.
    pub(crate) fn pages(&self) -> u64 {
        self.inodes.values().filter_map(|inode| inode.file()).map(Contents::pages).sum()
    }

    /// Carries out a change of the moment `now`. What it would change and is not there is left out:
    /// on the medium an inode may be gone by then.
    pub(crate) fn apply(&mut self, change: &Change, now: SimTime) {
        match change {
            Change::Data { ino, offset, bytes } => self.write(*ino, *offset, bytes),
            Change::Size { ino, size, .. } => self.resize(*ino, *size),
            Change::Mode { ino, mode } => self.with(*ino, |inode| inode.mode = *mode),
            Change::Link { at, ino } => self.link(at, *ino, now),
            Change::Unlink { at, ino } => self.unlink(at, *ino, now),
            Change::Rename { from, to, ino, over } => {
                self.unlink(from, *ino, now);
                if let Some(over) = over {
                    self.unlink(to, *over, now);
                }
                self.link(to, *ino, now);
            }
        }
    }

    fn write(&mut self, ino: Ino, offset: u64, bytes: &[u8]) {
        if let Some(Inode { kind: Kind::File(contents), .. }) = self.at_mut(ino) {
            contents.write(offset, bytes);
        }
    }

    /// Bytes of a file have come to this tree that are in the other one too: whole pages are kept once.
    pub(crate) fn share(&mut self, other: &Self, change: &Change) {
        let Change::Data { ino, offset, bytes } = change else { return };
        if let (Some(Inode { kind: Kind::File(own), .. }), Some(theirs)) =
            (self.at_mut(*ino), other.find(*ino).and_then(Inode::file))
        {
            own.share(theirs, *offset, bytes.len());
        }
    }

    fn resize(&mut self, ino: Ino, size: u64) {
        if let Some(Inode { kind: Kind::File(contents), .. }) = self.at_mut(ino) {
            contents.set_size(size);
        }
    }

    fn with(&mut self, ino: Ino, f: impl FnOnce(&mut Inode)) {
        self.at_mut(ino).map(f);
    }

    fn entries(&mut self, dir: Ino, now: SimTime) -> Option<&mut BTreeMap<Name, Ino>> {
        let inode = self.at_mut(dir)?;
        inode.times.write(now);
        match &mut inode.kind {
            Kind::Dir(dir) => Some(&mut dir.entries),
            _ => None,
        }
    }

    fn link(&mut self, at: &Entry, ino: Ino, now: SimTime) {
        if self.find(ino).is_none() {
            return;
        }
        let Some(entries) = self.entries(at.dir, now) else { return };
        entries.insert(Rc::clone(&at.name), ino);
        self.with(ino, |inode| {
            inode.links += 1;
            inode.times.changed_ns = nanos(now);
            if let Kind::Dir(dir) = &mut inode.kind {
                dir.parent = at.dir;
            }
        });
    }

    fn unlink(&mut self, at: &Entry, ino: Ino, now: SimTime) {
        let Some(entries) = self.entries(at.dir, now) else { return };
        if entries.get(&at.name) != Some(&ino) {
            return;
        }
        entries.remove(&at.name);
        self.with(ino, |inode| {
            inode.links -= 1;
            inode.times.changed_ns = nanos(now);
        });
    }

    /// Drops every inode that no path leads to, names that lead nowhere, and bytes past the end of
    /// files: what a check of the file system does before it is used again.
    pub(crate) fn sweep(&mut self) {
        let reached = self.reachable();
        self.inodes.retain(|ino, _| reached.contains(ino));
        for inode in self.inodes.values_mut() {
            match &inode.kind {
                Kind::File(_) => {
                    let Kind::File(contents) = &mut Rc::make_mut(inode).kind else { continue };
                    contents.trim();
                }
                Kind::Dir(dir) if dir.entries.values().any(|ino| !reached.contains(ino)) => {
                    let Kind::Dir(dir) = &mut Rc::make_mut(inode).kind else { continue };
                    dir.entries.retain(|_, ino| reached.contains(ino));
                }
                _ => {}
            }
        }
    }

    fn reachable(&self) -> BTreeSet<Ino> {
        let mut reached = BTreeSet::new();
        let mut rest = vec![ROOT];
        while let Some(ino) = rest.pop() {
            let Some(inode) = self.find(ino) else { continue };
            if reached.insert(ino)
                && let Some(dir) = inode.dir()
            {
                rest.extend(dir.entries.values());
            }
        }
        reached
    }
}
