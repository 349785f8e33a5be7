//! The file system of one node.
//!
//! Owns: [`Volume`], a file system as the system calls of Linux know it, with what a loss of power
//! does to it. It waits for nothing, draws nothing and knows no simulation: time is told to it
//! ([`Volume::set_now`]), draws are handed to the calls that need them, and failures of the medium are
//! injected by whoever owns it (`disks.rs`). Does not own: latencies, faults, nodes.
//!
//! Its parts: `contents.rs` (bytes of a file), `tree.rs` (inodes and names), `walk.rs` (paths),
//! `change.rs` and `journal.rs` (what is not durable yet), `order.rs` (what may be durable without
//! what), `crash.rs` (who survives), `handles.rs` (open files), `memory.rs` (file systems beside the disk),
//! `names.rs`, `files.rs`, `locks.rs`, `nameless.rs`, `room.rs` (the calls).
//!
//! # Invariants
//! - `live` is what calls see: every change carried out in order. `medium` is the durable changes,
//!   carried out in the order they were made; the rest is in `journal`, and `live` is `medium` with
//!   the journal carried out on it, but for times.
//! - A change reaches the medium through [`Volume::settle`] alone.

mod change;
mod contents;
mod crash;
mod device;
mod files;
mod handles;
mod journal;
mod locks;
mod memory;
mod nameless;
mod names;
mod order;
mod ranges;
mod room;
mod sockets;
mod tree;
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use detsim_executor::SimTime;

use crate::errno::{Errno, Outcome};
use crate::survivors::Pick;
use change::Change;
use handles::Handles;
use journal::{Durable, Journal, Pending};
use order::Atom;
use tree::{Ino, Inode, Kind, ROOT, Tree};
use walk::{Last, Walker};

pub use crash::{EXHAUSTIVE_ATOMS_MAX, SurvivorSet};
pub(crate) use device::DataAtom;
pub use files::{Seek, SyncPoint};
pub use handles::{Handle, LockKind};
pub use names::{DirEntry, FileKind, Metadata};
pub use order::CrashProfile;
pub(crate) use ranges::PROCESS;
pub use ranges::{ByteRange, LockOwner};
pub use room::Allocation;
pub use tree::Times;

/// How a file is opened.
///
/// # Examples
/// ```
/// use detsim_fs::OpenFlags;
/// let log = OpenFlags { append: true, create: true, ..OpenFlags::default() };
/// assert!(log.writes() && !log.read);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of open(2), one for one")]
pub struct OpenFlags {
    /// Reads are allowed.
    pub read: bool,
    /// Writes are allowed.
    pub write: bool,
    /// Writes are allowed, and go to the end.
    pub append: bool,
    /// The file is made where it is not there.
    pub create: bool,
    /// With `create`: what is there is an error.
    pub exclusive: bool,
    /// The file is emptied.
    pub truncate: bool,
    /// Anything but a directory is an error.
    pub directory: bool,
    /// A symbolic link at the end of the path is an error.
    pub nofollow: bool,
    /// Only names the file: neither reads nor writes are allowed.
    pub path_only: bool,
    /// A write is durable when it returns, as with `fdatasync`.
    pub data_sync: bool,
    /// A write is durable when it returns, as with `fsync`.
    pub sync: bool,
    /// Offsets and lengths are multiples of a sector.
    pub direct: bool,
}

impl OpenFlags {
    /// Are writes allowed?
    pub fn writes(self) -> bool {
        self.write || self.append
    }
}

/// How a volume is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeConfig {
    /// What a loss of power may leave.
    pub profile: CrashProfile,
    /// Bytes that files may take; pages of 4096 bytes are counted. A write beyond fails with
    /// `ENOSPC`. No limit by default.
    pub capacity: u64,
    /// The largest size of a file, beyond which `EFBIG` is given; at most `i64::MAX`. That of ext4 by
    /// default, 16 TiB less a page.
    pub file_bytes_max: u64,
    /// Nanoseconds after which the background write back has made a change durable for certain.
    /// 5 seconds by default.
    pub writeback_ns_max: u64,
    /// Most open files, beyond which `EMFILE` is given. 1024 by default.
    pub open_files_max: usize,
    /// Whether checks of permissions are passed, as by root. They are not by default.
    pub superuser: bool,
}

impl Default for VolumeConfig {
    fn default() -> Self {
        Self {
            profile: CrashProfile::default(),
            capacity: u64::MAX,
            file_bytes_max: (1 << 44) - 4096,
            writeback_ns_max: 5_000_000_000,
            open_files_max: 1024,
            superuser: false,
        }
    }
}

/// What a loss of power did, in atoms: sectors of data, and every other change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrashOutcome {
    /// Atoms that survived.
    pub survived: usize,
    /// Atoms that are gone.
    pub lost: usize,
    /// Writes of which a part survived.
    pub torn: usize,
}

/// A file system that forgets what was not made durable.
///
/// # Examples
/// The name of a synced file is not durable before its directory is synced:
/// ```
/// use detsim_fs::{CrashProfile, OpenFlags, Volume, VolumeConfig};
/// use std::path::Path;
///
/// let config = VolumeConfig { profile: CrashProfile::Posix, ..VolumeConfig::default() };
/// let mut volume = Volume::new(config);
/// let flags = OpenFlags { write: true, create: true, ..OpenFlags::default() };
/// let file = volume.open(Path::new("/log"), flags, 0o644)?;
/// volume.write(file, b"entry")?;
/// volume.fsync(file)?;
/// let sets = volume.survivor_sets().expect("few changes are pending");
/// volume.crash_into(&sets[0]); // the worst
/// assert!(volume.metadata(Path::new("/log")).is_err());
/// # Ok::<(), detsim_fs::Errno>(())
/// ```
#[derive(Clone, Debug)]
pub struct Volume {
    config: VolumeConfig,
    live: Tree,
    medium: Tree,
    journal: Journal,
    handles: Handles,
    /// Pages that the files of `live` take.
    pages: u64,
    /// Files whose room changed since their last sync.
    resized: BTreeSet<Ino>,
    /// Files without a name that may get one.
    nameable: BTreeSet<Ino>,
    next_ino: u64,
    /// How many there are beside the disk.
    file_systems: u32,
    cwd: Ino,
    umask: u32,
    now: SimTime,
}

impl Volume {
    /// An empty file system: a root directory, and `/tmp` in it.
    pub fn new(config: VolumeConfig) -> Self {
        let mut volume = Self {
            config,
            live: Tree::new(),
            medium: Tree::new(),
            journal: Journal::default(),
            handles: Handles::default(),
            pages: 0,
            resized: BTreeSet::new(),
            nameable: BTreeSet::new(),
            next_ino: ROOT.0 + 1,
            file_systems: 0,
            cwd: ROOT,
            umask: 0o022,
            now: SimTime::ZERO,
        };
        let made = volume.create_dir(Path::new("/tmp"), 0o777);
        debug_assert_eq!(made, Ok(()));
        volume.sync_all();
        volume
    }

    /// How it is set up.
    pub fn config(&self) -> VolumeConfig {
        self.config
    }

    /// Another set-up, from now on.
    pub fn set_config(&mut self, config: VolumeConfig) {
        self.config = config;
    }

    /// Says what time it is. The background write back goes on until then.
    pub fn set_now(&mut self, now: SimTime) {
        self.now = now;
        let moment = crash::long_ago(now, self.config.writeback_ns_max);
        let old = self.journal.older_than(moment);
        self.settle_all(&old);
    }

    /// How many changes are not durable.
    pub fn pending(&self) -> usize {
        self.journal.len()
    }

    /// Makes everything durable, as `sync(2)`. Past every fault: this is how a test begins with a
    /// disk that holds something.
    pub fn sync_all(&mut self) {
        let all: Vec<u64> = self.journal.iter().map(|(seq, _)| seq).collect();
        self.settle_all(&all);
    }

    /// The directory where relative paths begin.
    pub fn current_dir(&self) -> Outcome<PathBuf> {
        match self.cwd == ROOT || self.live.at(self.cwd).links > 0 {
            true => Ok(self.path_of(self.cwd)),
            false => Err(Errno::ENOENT),
        }
    }

    /// Changes the directory where relative paths begin.
    ///
    /// # Errors
    /// `ENOENT`, `ENOTDIR`, `EACCES`, `ELOOP`, `ENAMETOOLONG`.
    pub fn set_current_dir(&mut self, path: &Path) -> Outcome<()> {
        let ino = self.walker().find(path, Last::Follow)?;
        let inode = self.live.at(ino);
        if !inode.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        self.walker().check(inode, walk::Access::Search)?;
        self.cwd = ino;
        Ok(())
    }

    /// Sets the bits that the mode of a new file never has, and returns those before.
    pub fn set_umask(&mut self, mask: u32) -> u32 {
        std::mem::replace(&mut self.umask, mask & 0o777)
    }

    // ------------------------------------------------------------ the power goes

    /// Cuts the power. `pick` gives a number below its argument and draws who survives; where it
    /// always gives 0, everything does but data whose write back failed. Open files, locks and the current
    /// directory are gone as well.
    pub fn crash(&mut self, pick: Pick<'_>) -> CrashOutcome {
        let delay = self.config.writeback_ns_max;
        let pending = self.journal.len();
        let cut = if pending == 0 { 0 } else { pick(delay.saturating_add(1)) };
        let atoms = self.atoms();
        let written: Vec<u64> = self
            .journal
            .iter()
            .filter(|(_, op)| crash::is_written(op, self.now, delay, cut))
            .map(|(seq, _)| seq)
            .collect();
        let keep = crash::draw(&atoms, |seq| written.binary_search(&seq).is_ok(), pick);
        self.crash_with(&atoms, &keep)
    }

    /// Every set of pending changes that may survive a loss of power right now, the empty one first;
    /// `None` where more than [`EXHAUSTIVE_ATOMS_MAX`] atoms are pending.
    ///
    /// # Examples
    /// ```
    /// use detsim_fs::{Volume, VolumeConfig};
    /// use std::path::Path;
    /// let mut volume = Volume::new(VolumeConfig::default());
    /// volume.create_dir(Path::new("/a"), 0o755)?;
    /// volume.create_dir(Path::new("/b"), 0o755)?;
    /// // ext4 keeps the order: nothing, only the first, or both.
    /// assert_eq!(volume.survivor_sets().map(|sets| sets.len()), Some(3));
    /// # Ok::<(), detsim_fs::Errno>(())
    /// ```
    pub fn survivor_sets(&self) -> Option<Vec<SurvivorSet>> {
        crash::all(&self.atoms())
    }

    /// Cuts the power, with one of the sets of [`Self::survivor_sets`].
    ///
    /// # Panics
    /// Where the set is not one of this moment.
    #[track_caller]
    pub fn crash_into(&mut self, set: &SurvivorSet) -> CrashOutcome {
        let atoms = self.atoms();
        assert!(
            set.0.len() == atoms.len(),
            "detsim: a set of {} survivors for {} pending atoms; take it right before the crash",
            set.0.len(),
            atoms.len()
        );
        self.crash_with(&atoms, &set.0)
    }

    /// Ends the process: open files, locks and the current directory are gone, what was written
    /// stays in the cache.
    pub fn kill(&mut self) {
        self.cwd = ROOT;
        self.umask = 0o022;
        let held = self.handles.end();
        held.into_iter().for_each(|ino| self.bury(ino));
    }

    fn atoms(&self) -> Vec<Atom> {
        order::atoms(self.config.profile, self.journal.iter())
    }

    fn crash_with(&mut self, atoms: &[Atom], keep: &[bool]) -> CrashOutcome {
        let mut outcome = CrashOutcome::default();
        let mut at = 0;
        for write in atoms.chunk_by(|a, b| a.seq == b.seq) {
            let kept = keep[at..at + write.len()].iter().filter(|keep| **keep).count();
            at += write.len();
            outcome.survived += kept;
            outcome.lost += write.len() - kept;
            outcome.torn += usize::from(kept > 0 && kept < write.len());
        }
        let survivors = self.journal.take(atoms, keep);
        for Durable { at, change } in &survivors {
            self.medium.apply(change, *at);
            self.stamp(change, *at);
        }
        self.journal.clear();
        self.medium.sweep();
        self.live = self.medium.clone();
        self.pages = self.live.pages();
        self.resized.clear();
        self.nameable.clear();
        self.kill();
        outcome
    }

    /// The times of an inode are not in the log: on the medium they are as of its last durable change.
    fn stamp(&mut self, change: &Change, at: SimTime) {
        let (Change::Data { ino, .. } | Change::Size { ino, .. } | Change::Mode { ino, .. }) =
            change
        else {
            return;
        };
        if let Some(inode) = self.medium.at_mut(*ino) {
            let at_ns = tree::nanos(at);
            inode.times.changed_ns = at_ns.max(inode.times.changed_ns);
            if change.is_of_data() {
                inode.times.written_ns = at_ns.max(inode.times.written_ns);
            }
        }
    }

    // ------------------------------------------------------------ for the calls

    fn walker(&self) -> Walker<'_> {
        Walker { tree: &self.live, base: self.cwd, superuser: self.config.superuser }
    }

    fn path_of(&self, dir: Ino) -> PathBuf {
        use std::os::unix::ffi::OsStringExt;
        PathBuf::from(std::ffi::OsString::from_vec(self.walker().path_of(dir)))
    }

    /// A fresh inode without a name, of the file system that a directory is of.
    fn bear(&mut self, dir: Ino, kind: Kind, mode: u32) -> Ino {
        let ino = Ino::of(dir.file_system(), self.next_ino);
        self.next_ino += 1;
        let inode = Inode { kind, mode, links: 0, times: Times::new(self.now) };
        self.live.insert(ino, inode.clone());
        if !ino.is_in_memory() {
            self.medium.insert(ino, inode);
        }
        ino
    }

    /// Carries out a change: at once for whoever looks, durable later.
    fn make(&mut self, change: Change) {
        let ino = change.named()[0];
        let of_dir = ino.is_some_and(|ino| self.live.at(ino).is_dir());
        self.live.apply(&change, self.now);
        if !change.is_in_memory() {
            self.journal.push(Pending::new(self.now, change, of_dir));
        }
    }

    /// Takes changes to the medium, and what they need.
    fn settle_all(&mut self, wanted: &[u64]) {
        let durable = self.journal.harden(self.config.profile, wanted);
        self.settle(durable);
    }

    fn settle(&mut self, durable: Vec<Durable>) {
        for Durable { at, change } in durable {
            self.medium.apply(&change, at);
            self.medium.share(&self.live, &change);
            self.stamp(&change, at);
            change.named().into_iter().flatten().for_each(|ino| self.bury(ino));
        }
    }

    /// Forgets an inode that nothing leads to any more: not in the running system, and not after any
    /// loss of power.
    fn bury(&mut self, ino: Ino) {
        let Some(inode) = self.live.find(ino) else {
            return self.bury_on_medium(ino);
        };
        if inode.links > 0 || self.handles.hold(ino) || ino == ROOT || self.cwd == ino {
            return;
        }
        self.pages -= self.pages_of(ino);
        self.resized.remove(&ino);
        self.nameable.remove(&ino);
        self.live.remove(ino);
        self.bury_on_medium(ino);
    }

    fn bury_on_medium(&mut self, ino: Ino) {
        if self.journal.names(ino) || self.medium.find(ino).is_none_or(|inode| inode.links > 0) {
            return;
        }
        self.journal.forget(ino);
        self.medium.remove(ino);
    }

    /// The target of a symbolic link.
    fn target(&self, ino: Ino) -> Option<Rc<[u8]>> {
        match &self.live.at(ino).kind {
            Kind::Symlink(target) => Some(Rc::clone(target)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
