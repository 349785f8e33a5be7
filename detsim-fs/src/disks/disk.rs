//! The disk of one node: a volume, and what goes wrong with it.
//!
//! Owns: which faults fire on a call, what they do, and their counts. Does not own: the volume's
//! calls, which know no fault (`volume/`).
//!
//! Invariants: each fault draws from a stream of its own (`disk/<node>/<fault>`), so a rate that is
//! changed shifts no other; a fault counts, and is an event, only where it had an effect; what is kept in
//! memory alone has no faults.

use std::collections::{BTreeMap, BTreeSet};

use detsim_executor::event::{DiskEvent, DiskFault, Event};
use detsim_executor::rng::{fold, hash_bytes};
use detsim_executor::{Domain, Kernel, NodeId};

use super::Cost;
use super::config::{DiskConfig, Rates, is_silent};
use crate::atom::SECTOR_BYTES;
use crate::errno::{Errno, Outcome};
use crate::volume::{FileKind, Handle, SyncPoint, Volume};

/// How many sectors a bad spot has at most.
const BAD_SECTORS_MAX: u64 = 8;
const SECTOR: u64 = SECTOR_BYTES as u64;

/// Places that went bad, by inode number and sector.
type Spots = BTreeSet<(u64, u64)>;

/// One disk.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) node: NodeId,
    pub(crate) volume: Volume,
    pub(crate) config: DiskConfig,
    pub(crate) counts: BTreeMap<DiskFault, u64>,
    rates: Rates,
    name: String,
    domains: BTreeMap<&'static str, Domain>,
    unreadable: Spots,
    rotten: Spots,
    /// What the last write replaced: inode, offset, bytes.
    replaced: Option<(u64, u64, Vec<u8>)>,
}

/// A call on a disk: it, and the kernel of its simulation.
pub(crate) struct Call<'a> {
    pub(crate) disk: &'a mut Disk,
    pub(crate) kernel: &'a mut Kernel,
    /// The nodes whose disks may be hurt silently: how many, and which are.
    pub(crate) hurt: &'a mut (usize, BTreeSet<NodeId>),
}

impl Disk {
    pub(crate) fn new(node: NodeId, name: &str, config: DiskConfig) -> Self {
        Self {
            node,
            volume: Volume::new(config.volume),
            rates: Rates::new(&config),
            config,
            counts: BTreeMap::new(),
            name: name.to_owned(),
            domains: BTreeMap::new(),
            unreadable: Spots::new(),
            rotten: Spots::new(),
            replaced: None,
        }
    }

    #[track_caller]
    pub(crate) fn set_config(&mut self, config: DiskConfig) {
        self.rates = Rates::new(&config);
        self.config = config;
        self.volume.set_config(config.volume);
    }

    /// A stream of this disk.
    pub(crate) fn domain(&mut self, kernel: &mut Kernel, what: &'static str) -> Domain {
        let Self { domains, name, .. } = self;
        let choices = || kernel.choices().domain(&format!("disk/{name}/{what}"));
        *domains.entry(what).or_insert_with(choices)
    }

    /// Draws a number below `bound`; 0 is nothing special.
    pub(crate) fn draw(&mut self, kernel: &mut Kernel, what: &'static str, bound: u64) -> u64 {
        let (domain, anchor) = (self.domain(kernel, what), kernel.anchor());
        kernel.choices().draw(domain, anchor, bound, 0)
    }
}

impl Call<'_> {
    /// Does the fault fire?
    pub(crate) fn fires(&mut self, fault: DiskFault) -> bool {
        let ratio = self.disk.rates.of(fault);
        if ratio.is_never() || (is_silent(fault) && !self.may_hurt()) {
            return false;
        }
        let domain = self.disk.domain(self.kernel, fault.word());
        let anchor = self.kernel.anchor();
        self.kernel.choices().happens(domain, anchor, ratio)
    }

    /// May this disk be hurt silently, or have as many been as are allowed?
    fn may_hurt(&self) -> bool {
        let (most, hurt) = &*self.hurt;
        hurt.contains(&self.disk.node) || hurt.len() < *most
    }

    /// The fault had an effect.
    pub(crate) fn note(&mut self, fault: DiskFault) {
        let node = self.disk.node;
        if is_silent(fault) {
            self.hurt.1.insert(node);
        }
        *self.disk.counts.entry(fault).or_default() += 1;
        let what = fold(u64::from(node.0), fault as u64);
        let before = self.kernel.task_history().map_or(0, |history| *history);
        let event = fold(before, what);
        self.kernel.task_history().into_iter().for_each(|history| *history = event);
        self.kernel.fold_event(event);
        self.kernel.record_with(|_| Event::Disk(DiskEvent::Faulted { node, fault }));
    }

    /// Does the power go at this call, that lasts so long? After how many nanoseconds: 0 is before the
    /// call, and the last one after it.
    pub(crate) fn power_goes(&mut self, cost: Cost, lasts_ns: u64) -> Option<u64> {
        let ratio = self.disk.rates.power.times(cost.power_weight());
        if ratio.is_never() || self.disk.node == NodeId::NONE {
            return None;
        }
        let domain = self.disk.domain(self.kernel, "power");
        let anchor = self.kernel.anchor();
        if !self.kernel.choices().happens(domain, anchor, ratio) {
            return None;
        }
        match self.disk.draw(self.kernel, "power", 3) {
            0 => Some(lasts_ns + 1),
            1 => Some(0),
            _ => Some(1 + self.disk.draw(self.kernel, "power", lasts_ns.max(1))),
        }
    }

    fn below(&mut self, fault: DiskFault, bound: u64) -> u64 {
        self.disk.draw(self.kernel, fault.word(), bound)
    }

    // ------------------------------------------------------------ reading

    pub(crate) fn read(
        &mut self,
        handle: Handle,
        offset: Option<u64>,
        buf: &mut [u8],
    ) -> Outcome<usize> {
        if self.disk.volume.is_in_memory(handle)? {
            return match offset {
                Some(offset) => self.disk.volume.read_at(handle, offset, buf),
                None => self.disk.volume.read(handle, buf),
            };
        }
        let at = offset.map_or_else(|| self.disk.volume.position(handle), Ok)?;
        if !buf.is_empty() && self.fires(DiskFault::Interrupted) {
            self.note(DiskFault::Interrupted);
            return Err(Errno::EINTR);
        }
        let wanted = self.readable(handle, at, buf.len())?;
        let wanted = self.shortened(wanted, DiskFault::ShortRead);
        let buf = &mut buf[..wanted];
        let read = match offset {
            Some(offset) => self.disk.volume.read_at(handle, offset, buf)?,
            None => self.disk.volume.read(handle, buf)?,
        };
        self.spoil(handle, at, &mut buf[..read]);
        Ok(read)
    }

    /// How many bytes there are before a sector that cannot be read.
    fn readable(&mut self, handle: Handle, at: u64, len: usize) -> Outcome<usize> {
        let volume = &self.disk.volume;
        let len = volume.readable(handle, at, len)?;
        let is_file = volume.handle_metadata(handle)?.kind == FileKind::File;
        if len == 0 || !is_file || !volume.flags(handle)?.read {
            return Ok(len);
        }
        let end = at + len as u64;
        let ino = self.disk.volume.number(handle)?;
        if self.fires(DiskFault::ReadError) {
            let count = 1 + self.below(DiskFault::ReadError, BAD_SECTORS_MAX);
            self.disk.unreadable.extend((at / SECTOR..).take(count as usize).map(|s| (ino, s)));
        }
        let sectors = (ino, at / SECTOR)..(ino, end.div_ceil(SECTOR));
        let Some(&(_, bad)) = self.disk.unreadable.range(sectors).next() else { return Ok(len) };
        let good = (bad * SECTOR).saturating_sub(at) as usize;
        if good == 0 {
            self.note(DiskFault::ReadError);
            return Err(Errno::EIO);
        }
        Ok(good)
    }

    /// The silent faults of a read.
    fn spoil(&mut self, handle: Handle, at: u64, buf: &mut [u8]) {
        let Ok(ino) = self.disk.volume.number(handle) else { return };
        if buf.is_empty() {
            return;
        }
        if self.fires(DiskFault::BitRot) {
            self.disk.rotten.insert((ino, at / SECTOR));
        }
        let end = at + buf.len() as u64;
        let sectors = (ino, at / SECTOR)..(ino, end.div_ceil(SECTOR));
        let rotten: Vec<u64> = self.disk.rotten.range(sectors).map(|spot| spot.1).collect();
        for sector in rotten {
            let from = (sector * SECTOR).saturating_sub(at) as usize;
            let to = ((sector + 1) * SECTOR - at).min(buf.len() as u64) as usize;
            rot(&mut buf[from..to]);
            self.note(DiskFault::BitRot);
        }
        let Some((of, was_at, was)) = self.disk.replaced.take() else { return };
        let overlap = at.max(was_at)..end.min(was_at + was.len() as u64);
        if of == ino && !overlap.is_empty() && self.fires(DiskFault::StaleRead) {
            let old = &was[(overlap.start - was_at) as usize..(overlap.end - was_at) as usize];
            let new = &mut buf[(overlap.start - at) as usize..(overlap.end - at) as usize];
            if old != new {
                new.copy_from_slice(old);
                self.note(DiskFault::StaleRead);
            }
            return;
        }
        self.disk.replaced = Some((of, was_at, was));
    }

    /// Fewer bytes, where the fault fires; never none.
    fn shortened(&mut self, len: usize, fault: DiskFault) -> usize {
        if len < 2 || !self.fires(fault) {
            return len;
        }
        self.note(fault);
        1 + self.below(fault, len as u64 - 1) as usize
    }

    // ------------------------------------------------------------ writing

    pub(crate) fn write(
        &mut self,
        handle: Handle,
        offset: Option<u64>,
        bytes: &[u8],
    ) -> Outcome<usize> {
        if self.disk.volume.is_in_memory(handle)? {
            return self.disk.volume.put(handle, offset, bytes);
        }
        if !bytes.is_empty() {
            for (fault, errno) in
                [(DiskFault::Interrupted, Errno::EINTR), (DiskFault::WriteError, Errno::EIO)]
            {
                if self.fires(fault) {
                    self.note(fault);
                    return Err(errno);
                }
            }
        }
        let bytes = &bytes[..self.shortened(bytes.len(), DiskFault::ShortWrite)];
        let volume = &mut self.disk.volume;
        let ino = volume.number(handle)?;
        let at = match (volume.flags(handle)?.append, offset) {
            (true, _) => volume.handle_metadata(handle)?.size,
            (false, Some(offset)) => offset,
            (false, None) => volume.position(handle)?,
        };
        let before = self.peek(handle, at, bytes.len());
        let written = self.disk.volume.put(handle, offset, bytes);
        let written = written.inspect_err(|errno| self.refused(*errno, at, bytes.len()))?;
        self.wrote(at, written);
        self.rewrite(handle, at, &before[..written], &bytes[..written])?;
        self.heal(ino, at, written);
        self.disk.replaced = Some((ino, at, before));
        if let Some(point) = self.disk.volume.sync_of_write(handle).filter(|_| written > 0) {
            self.finish_sync(point)?;
        }
        Ok(written)
    }

    fn wrote(&mut self, at: u64, len: usize) {
        let (node, offset) = (self.disk.node, detsim_executor::event::Wide::new(at));
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.kernel.record_with(|_| Event::Disk(DiskEvent::Wrote { node, offset, len }));
    }

    fn refused(&mut self, errno: Errno, at: u64, len: usize) {
        if errno == Errno::ENOSPC {
            let (node, offset) = (self.disk.node, detsim_executor::event::Wide::new(at));
            let len = u32::try_from(len).unwrap_or(u32::MAX);
            self.kernel.record_with(|_| Event::Disk(DiskEvent::Full { node, offset, len }));
        }
    }

    /// What is there now, for the faults that need it.
    fn peek(&mut self, handle: Handle, at: u64, len: usize) -> Vec<u8> {
        let faults = [DiskFault::StaleRead, DiskFault::LostWrite, DiskFault::MisdirectedWrite];
        let mut bytes = vec![0; len];
        if faults.iter().any(|fault| !self.disk.rates.of(*fault).is_never()) {
            self.disk.volume.peek(handle, at, &mut bytes);
        }
        bytes
    }

    /// The silent faults of a write: the bytes go to the place and are taken back.
    fn rewrite(&mut self, handle: Handle, at: u64, before: &[u8], bytes: &[u8]) -> Outcome<()> {
        let size = self.disk.volume.handle_metadata(handle)?.size;
        let elsewhere = size.saturating_sub(bytes.len() as u64) / SECTOR;
        if bytes.is_empty() || before == bytes {
            return Ok(());
        }
        if self.fires(DiskFault::LostWrite) {
            self.disk.volume.patch(handle, at, before)?;
            self.note(DiskFault::LostWrite);
        } else if elsewhere > 0 && self.fires(DiskFault::MisdirectedWrite) {
            let sector = self.below(DiskFault::MisdirectedWrite, elsewhere);
            self.disk.volume.patch(handle, at, before)?;
            self.disk.volume.patch(handle, sector * SECTOR, bytes)?;
            self.note(DiskFault::MisdirectedWrite);
        }
        Ok(())
    }

    /// A sector that is written is good again.
    fn heal(&mut self, ino: u64, at: u64, len: usize) {
        for sector in at / SECTOR..(at + len as u64).div_ceil(SECTOR) {
            self.disk.unreadable.remove(&(ino, sector));
            self.disk.rotten.remove(&(ino, sector));
        }
    }

    // ------------------------------------------------------------ syncs

    pub(crate) fn finish_sync(&mut self, point: SyncPoint) -> Outcome<()> {
        if point.is_in_memory() {
            return self.disk.volume.finish_sync(point);
        }
        if self.fires(DiskFault::SyncError) {
            self.disk.volume.fail_sync(point)?;
            self.note(DiskFault::SyncError);
            return Err(Errno::EIO);
        }
        let may_lie = !self.disk.rates.of(DiskFault::LostSync).is_never();
        if may_lie && self.disk.volume.is_covering(point) && self.fires(DiskFault::LostSync) {
            self.note(DiskFault::LostSync);
            return Ok(());
        }
        let before = self.disk.volume.pending();
        let done = self.disk.volume.finish_sync(point);
        self.synced(before);
        done
    }

    /// Makes everything durable, as `sync(2)`: on a drive that lies, nothing.
    pub(crate) fn sync_all(&mut self) {
        let before = self.disk.volume.pending();
        if before > 0 && self.fires(DiskFault::LostSync) {
            self.note(DiskFault::LostSync);
            return;
        }
        self.disk.volume.sync_all();
        self.synced(before);
    }

    fn synced(&mut self, before: usize) {
        let changes = before - self.disk.volume.pending();
        let sectors = u32::try_from(changes).unwrap_or(u32::MAX);
        let node = self.disk.node;
        self.kernel.record_with(|_| Event::Disk(DiskEvent::Synced { node, sectors }));
    }
}

/// Changes a bit that the contents themselves choose, so that reading again does not help.
fn rot(sector: &mut [u8]) {
    if sector.is_empty() {
        return;
    }
    let hash = hash_bytes(sector);
    sector[(hash >> 8) as usize % sector.len()] ^= 1 << (hash % 8);
}
