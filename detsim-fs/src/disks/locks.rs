//! Waiting for a lock of a file.
//!
//! Owns: who holds the locks of files and who waits for them, as the wait graph is to know it. Does not
//! own: which locks exclude which (`volume/handles.rs`), or a wait itself (`line.rs`). Invariant: a lock is here
//! while somebody holds it or waits for it.

use std::panic::Location;
use std::task::Waker;

use detsim_executor::block::{Block, Party, Role};
use detsim_executor::{Kernel, NodeId, OpKind, ResourceKind};

use super::line::{Line, wait_in_line};
use super::{Cost, Disks, State};
use crate::errno::{Errno, Outcome};
use crate::volume::{ByteRange, LockKind, LockOwner, PROCESS};

/// Which file: of which node, and its number.
type Key = (NodeId, u64);

/// The locks of one file.
pub(super) struct FileLock {
    line: Line,
    /// By the number of the open file.
    holders: Vec<(u64, Party)>,
}

impl FileLock {
    fn parties(&self) -> Vec<Party> {
        self.holders.iter().map(|(_, party)| *party).collect()
    }
}

/// What is asked for: the whole file or a part of it, locked so or given back.
struct Wanted {
    part: Option<(LockOwner, ByteRange)>,
    kind: Option<LockKind>,
}

impl Wanted {
    fn whole(kind: Option<LockKind>) -> Self {
        Self { part: None, kind }
    }
}

impl Disks {
    /// Locks a file, or changes how it is locked. See
    /// [`Volume::try_lock`](crate::Volume::try_lock).
    ///
    /// # Errors
    /// `EAGAIN` where another open file's lock forbids it, `EBADF`.
    #[track_caller]
    pub fn try_lock(&self, fd: i32, kind: LockKind) -> Outcome<()> {
        self.attempt(fd, &Wanted::whole(Some(kind)))
    }

    /// As [`Self::try_lock`], but waits for as long as another has the file locked.
    ///
    /// # Errors
    /// `EBADF`; `EDEADLK` where nobody can wait: outside of any task; `EIO` as of
    /// [`Self::blocking`].
    #[track_caller]
    pub fn lock(&self, fd: i32, kind: LockKind) -> Outcome<()> {
        self.wait_and_lock(fd, &Wanted::whole(Some(kind)))
    }

    /// Gives a lock back. See [`Volume::unlock`](crate::Volume::unlock).
    ///
    /// # Errors
    /// `EBADF`.
    #[track_caller]
    pub fn unlock(&self, fd: i32) -> Outcome<()> {
        self.attempt(fd, &Wanted::whole(None))
    }

    /// Locks a part of a file, or gives it back. See
    /// [`Volume::try_lock_range`](crate::Volume::try_lock_range). It `waits` for as long as another
    /// owner has it locked, or not.
    ///
    /// # Errors
    /// Those of [`Volume::try_lock_range`](crate::Volume::try_lock_range), and of [`Self::lock`]
    /// where it waits.
    #[track_caller]
    pub fn lock_range(
        &self,
        fd: i32,
        owner: LockOwner,
        range: ByteRange,
        kind: Option<LockKind>,
        waits: bool,
    ) -> Outcome<()> {
        let wanted = Wanted { part: Some((owner, range)), kind };
        match waits {
            true => self.wait_and_lock(fd, &wanted),
            false => self.attempt(fd, &wanted),
        }
    }

    #[track_caller]
    fn wait_and_lock(&self, fd: i32, wanted: &Wanted) -> Outcome<()> {
        loop {
            match self.blocking(Cost::Read, |disks| disks.attempt(fd, wanted)) {
                // Others ran while the call took its time: the lock may be free by now.
                Err(Errno::EAGAIN) => match self.attempt(fd, wanted) {
                    Err(Errno::EAGAIN) => self.wait_for_lock(fd)?,
                    outcome => return outcome,
                },
                outcome => return outcome,
            }
        }
    }

    /// Takes a lock or gives it back, where that can be done at once; whoever waits looks again.
    #[track_caller]
    fn attempt(&self, fd: i32, wanted: &Wanted) -> Outcome<()> {
        let (node, handle) = self.find(fd)?;
        let Wanted { part, kind } = *wanted;
        let (ino, open) = self.volume(node, |volume| {
            match (part, kind) {
                (None, Some(kind)) => volume.try_lock(handle, kind)?,
                (None, None) => volume.unlock(handle)?,
                (Some((owner, range)), kind) => {
                    volume.try_lock_range(handle, owner, range, kind)?
                }
            }
            let open = match part {
                Some((LockOwner::Process, _)) => PROCESS,
                _ => volume.open_number(handle)?,
            };
            Ok((volume.number(handle)?, open))
        })?;
        if let Some(kind) = kind {
            self.note_holder((node, ino), open, kind, Location::caller());
        }
        self.settle_lock((node, ino));
        Ok(())
    }

    fn note_holder(&self, key: Key, open: u64, kind: LockKind, site: &'static Location<'static>) {
        let state = &mut *self.state.borrow_mut();
        let lock = state.locks.entry(key).or_insert_with(|| FileLock {
            line: Line::new(ResourceKind::FileLock, site),
            holders: Vec::new(),
        });
        self.sim.with(|kernel| {
            lock.holders.retain(|(holder, _)| *holder != open);
            let party = Party { task: kernel.current_tag(), role: role(kind), site, count: 1 };
            lock.holders.push((open, party));
            kernel.operate(&mut lock.line.object, OpKind::Lock);
        });
    }

    /// Forgets those who do not hold the locks of a file any more, and wakes who waits where there are
    /// any.
    pub(super) fn settle_lock(&self, key: Key) {
        if !self.state.borrow().locks.contains_key(&key) {
            return;
        }
        let (node, ino) = key;
        let holds = self.volume(node, |volume| volume.locked_by(ino));
        let state = &mut *self.state.borrow_mut();
        let woken = self.sim.with(|kernel| settle(state, kernel, key, &holds));
        woken.into_iter().for_each(Waker::wake);
    }

    /// Queues the current task until somebody gives a lock of the file back.
    #[track_caller]
    fn wait_for_lock(&self, fd: i32) -> Outcome<()> {
        let (node, handle) = self.find(fd)?;
        let ino = self.volume(node, |volume| volume.number(handle))?;
        let (key, site) = ((node, ino), Location::caller());
        let place = {
            let state = &mut *self.state.borrow_mut();
            // Locked through a way that leaves no word here: there is nobody to wait for.
            let lock = state.locks.get_mut(&key).ok_or(Errno::EDEADLK)?;
            let parties = lock.parties();
            self.sim.with(|kernel| lock.line.join(kernel, OpKind::Lock, site, &parties))
        };
        wait_in_line(place, |place| {
            if let Some(lock) = self.state.borrow_mut().locks.get_mut(&key) {
                self.sim.with(|kernel| lock.line.leave(kernel, place));
            }
        })
    }

    /// The process of a node is gone, and its locks with it.
    pub(super) fn forget_locks(&self, node: NodeId) {
        let mut state = self.state.borrow_mut();
        state.locks.retain(|(of, _), lock| *of != node || !lock.line.is_empty());
    }
}

fn settle(state: &mut State, kernel: &mut Kernel, key: Key, holds: &[u64]) -> Vec<Waker> {
    let Some(lock) = state.locks.get_mut(&key) else { return Vec::new() };
    lock.holders.retain(|(open, _)| holds.contains(open));
    kernel.operate(&mut lock.line.object, OpKind::Unlock);
    let woken = lock.line.wake(kernel);
    Block::held_by(Some(kernel), &lock.line.object, &lock.parties());
    if lock.holders.is_empty() {
        state.locks.remove(&key);
    }
    woken
}

fn role(kind: LockKind) -> Role {
    match kind {
        LockKind::Exclusive => Role::Writes,
        LockKind::Shared => Role::Reads,
    }
}
