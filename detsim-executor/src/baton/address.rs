//! Waits for a word of memory: what locks, condition variables and parked threads are made of.
//!
//! Owns: who waits at which address ([`Addresses`]), and the doors for whoever defines the system's
//! calls ([`wait_at`], [`wake_at`]). Does not own: the words; whoever asks to wait has looked at them.
//!
//! Invariants: a wait stands here until it is woken, its time is over, or its thread unwinds; who is
//! woken, where more than one waits, is a choice; an address is never part of a report or a decision.

use std::ops::DerefMut;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::call::Armed;
use super::enter;
use super::host::{suspend, suspend_ready};
use crate::SimTime;
use crate::block::{Block, Object, OpKind, ResourceKind, Waiter};
use crate::kernel::Kernel;
use crate::lane::{LANE_SHIFT, Lane};
use crate::waker::waker;
use crate::{context, here};

/// All waits of a run for words of memory.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    words: Vec<Word>,
    waits: Vec<Wait>,
}

/// A word that somebody waits for.
#[derive(Debug)]
struct Word {
    address: usize,
    object: Object,
}

#[derive(Debug)]
struct Wait {
    id: u64,
    address: usize,
    /// Which kinds of waiters it is one of; a wake names those that it is for.
    mask: u32,
    task: u64,
    waiter: Waiter,
}

/// Numbers of waits, of all simulations. Only ever compared; 0 is none.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// How a wait for a word ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Somebody woke it, or nobody did: it is to look at the word again.
    Yes,
    /// Its time was over.
    TimedOut,
    /// It never began.
    NotDue,
}

impl Addresses {
    pub(crate) fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.waits.clear();
    }
}

impl Kernel {
    fn wait_for_word(
        &mut self,
        address: usize,
        mask: u32,
        site: &'static Location<'static>,
    ) -> u64 {
        let words = &mut self.threads.addresses.words;
        let known = words.iter().position(|word| word.address == address);
        let mut word = match known {
            Some(index) => words.swap_remove(index),
            None => Word { address, object: Object::new(ResourceKind::Word, site) },
        };
        let task = self.current().1;
        self.operate(&mut word.object, OpKind::Park);
        let object = &mut word.object;
        let waiter = Block::wait(Some(self), object, OpKind::Park, site, &[], waker(task));
        let addresses = &mut self.threads.addresses;
        addresses.words.push(word);
        let id = NEXT.fetch_add(1, Relaxed);
        addresses.waits.push(Wait { id, address, mask, task, waiter });
        id
    }

    fn waits_for_word(&self, id: u64) -> bool {
        self.threads.addresses.waits.iter().any(|wait| wait.id == id)
    }

    /// Ends a wait: the word of its task, where it stood.
    fn end_wait_for_word(&mut self, id: u64) -> Option<u64> {
        let addresses = &mut self.threads.addresses;
        let at = addresses.waits.iter().position(|wait| wait.id == id)?;
        let Wait { address, task, waiter, .. } = addresses.waits.remove(at);
        let at = addresses.words.iter().position(|word| word.address == address)?;
        let mut word = addresses.words.swap_remove(at);
        // A word: nothing to wake or drop outside of the kernel.
        drop(Block::wake(Some(self), &mut word.object, waiter));
        let addresses = &mut self.threads.addresses;
        if addresses.waits.iter().any(|wait| wait.address == address) {
            addresses.words.push(word);
        }
        Some(task)
    }

    /// Wakes one of those who wait at the address, of the kinds in `mask`.
    fn wake_one_at(&mut self, address: usize, mask: u32) -> bool {
        let waits = self.threads.addresses.waits.iter();
        let asked = waits.filter(|wait| wait.address == address && wait.mask & mask != 0);
        let ids: Vec<u64> = asked.map(|wait| wait.id).collect();
        let Some(first) = ids.first() else { return false };
        let id = match ids.len() {
            1 => *first,
            count => {
                let (anchor, domain) = (self.anchor(), self.choices().domain("wake"));
                ids[self.choices().draw(domain, anchor, count as u64, 0) as usize]
            }
        };
        if let Some(task) = self.end_wait_for_word(id) {
            self.resume(task);
        }
        true
    }

    fn operate_on_word(&mut self, address: usize, kind: OpKind) {
        let words = &mut self.threads.addresses.words;
        let Some(at) = words.iter().position(|word| word.address == address) else { return };
        let mut word = words.swap_remove(at);
        self.operate(&mut word.object, kind);
        self.threads.addresses.words.push(word);
    }
}

/// Whether what this thread asks the system for is asked by the program under test: it holds the baton
/// of a simulation, is in no section, and not about the kernel's own business.
pub fn is_programs() -> bool {
    let place = here::place();
    place.lane.is_some_and(|lane| !lane.bias.is_busy()) && !here::is_locked() && !here::is_outside()
}

/// Waits until [`wake_at`] is called for this address and one of the kinds in `mask`, or until
/// `timeout` of virtual time has passed. The others run meanwhile. `is_due` is asked once the wait
/// stands, so that no wake is missed: where it says no, there is nothing to wait for.
#[track_caller]
pub fn wait_at(
    address: usize,
    mask: u32,
    timeout: Option<Duration>,
    is_due: impl FnOnce() -> bool,
) -> Woken {
    let site = Location::caller();
    let wait = Standing::begin(address, mask, timeout, site);
    if !is_due() {
        return Woken::NotDue;
    }
    suspend(site);
    let mut kernel = enter();
    match wait.deadline {
        Some(at) if kernel.waits_for_word(wait.id) && kernel.now() >= at => {
            kernel.sleep_beside(timeout.unwrap_or_default());
            Woken::TimedOut
        }
        _ => Woken::Yes,
    }
}

/// A wait as threads see it that cannot look into its simulation.
struct Abroad {
    address: usize,
    task: u64,
    id: u64,
    /// It was woken from where no other lock may be taken: it is told when its run has nothing to do.
    late: bool,
}

/// The same waits, for threads that belong to no simulation. The last lock that anybody takes.
static ABROAD: Mutex<Vec<Abroad>> = Mutex::new(Vec::new());

fn abroad() -> impl DerefMut<Target = Vec<Abroad>> {
    let _ours = here::outside();
    ABROAD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes the tasks of this simulation that were to be told late; false where there is none.
pub(crate) fn wake_late(lane: u64) -> bool {
    let mut tasks = Vec::new();
    for wait in abroad().iter_mut().filter(|wait| wait.task >> LANE_SHIFT == lane) {
        if std::mem::take(&mut wait.late) {
            tasks.push(wait.task);
        }
    }
    let mut kernel = enter();
    tasks.iter().for_each(|task| kernel.resume(*task));
    !tasks.is_empty()
}

/// Whether [`wake_from_elsewhere`] could find anybody. A hint, for the price of a load.
pub fn is_waited_for_elsewhere() -> bool {
    WAITING.load(SeqCst) != 0
}

static WAITING: AtomicUsize = AtomicUsize::new(0);

/// A thread that belongs to no simulation, or is about the kernel's own business, wakes whoever waits at
/// the address: one of a simulation may be among them, where they share a lock. A program in a run wakes
/// those of other simulations so; its own are [`wake_at`]'s.
pub fn wake_from_elsewhere(address: usize) {
    let own = here::place().lane.filter(|_| is_programs()).map(Lane::index);
    let in_section = here::is_in_section();
    let mut tasks = Vec::new();
    let is_meant = |wait: &Abroad| wait.address == address && Some(wait.task >> LANE_SHIFT) != own;
    for wait in abroad().iter_mut().filter(|wait| is_meant(wait)) {
        wait.late |= in_section;
        tasks.push(wait.task);
    }
    if !in_section {
        tasks.into_iter().for_each(crate::waker::wake_word);
    }
}

/// A wait that stands; dropping it, in an unwinding too, ends it.
pub(super) struct Standing {
    id: u64,
    deadline: Option<SimTime>,
    /// Goes after the wait.
    _timer: Option<Armed>,
}

impl Standing {
    pub(super) fn begin(
        address: usize,
        mask: u32,
        timeout: Option<Duration>,
        site: &'static Location<'static>,
    ) -> Self {
        let mut kernel = enter();
        let id = kernel.wait_for_word(address, mask, site);
        let task = kernel.current().1;
        let deadline = timeout.map(|timeout| kernel.when(kernel.node_now() + timeout));
        let timer = deadline.map(|at| Armed::of_current(&mut kernel, at));
        drop(kernel);
        abroad().push(Abroad { address, task, id, late: false });
        WAITING.fetch_add(1, SeqCst);
        Self { id, deadline, _timer: timer }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, SeqCst);
        abroad().retain(|wait| wait.id != self.id);
        context::with(|kernel| {
            kernel.end_wait_for_word(self.id);
        });
    }
}

/// Wakes up to `count` of those who wait at the address for one of the kinds in `mask`; how many.
pub fn wake_at(address: usize, count: usize, mask: u32) -> usize {
    let mut kernel = enter();
    kernel.operate_on_word(address, OpKind::Unpark);
    (0..count).take_while(|_| kernel.wake_one_at(address, mask)).count()
}

/// Lets up to `count` of those who wait at `from` wait at `to` instead; how many.
pub fn move_waits(from: usize, to: usize, count: usize) -> usize {
    let mut kernel = enter();
    let waits = kernel.threads.addresses.waits.iter();
    let ids: Vec<u64> = waits.filter(|w| w.address == from).map(|w| w.id).take(count).collect();
    for id in &ids {
        kernel.move_wait(*id, to);
    }
    ids.len()
}

impl Kernel {
    /// The wait stays where the graph has it: what it is for has changed its address.
    fn move_wait(&mut self, id: u64, to: usize) {
        let addresses = &mut self.threads.addresses;
        let Some(wait) = addresses.waits.iter().find(|wait| wait.id == id) else { return };
        let (from, mask, task) = (wait.address, wait.mask, wait.task);
        let at = addresses.words.iter().position(|word| word.address == from);
        let Some(site) = at.map(|at| addresses.words[at].object.site()) else { return };
        let current = self.current();
        self.end_wait_for_word(id);
        let (_, slot) = crate::waker::unpack(task);
        self.set_current(slot, task, current.2);
        let fresh = self.wait_for_word(to, mask, site);
        self.set_current(current.0, current.1, current.2);
        if let Some(wait) = self.threads.addresses.waits.iter_mut().find(|wait| wait.id == fresh) {
            wait.id = id;
        }
    }
}

/// Lets virtual time pass for the current task, while the others run: what a thread that sleeps does. A
/// paused clock does not move for it.
#[track_caller]
pub fn sleep(time: Duration) {
    let site = Location::caller();
    let (deadline, _armed) = {
        let mut kernel = enter();
        let deadline = kernel.end_of_sleep(time);
        (deadline, Armed::of_current(&mut kernel, deadline))
    };
    loop {
        suspend(site);
        if enter().now() >= deadline {
            return;
        }
    }
}

/// Lets others run, as a thread does that yields.
#[track_caller]
pub fn yield_thread() {
    // The kernel is left before the thread is put aside.
    let can = enter().can_suspend();
    if can {
        suspend_ready(Location::caller());
    }
}
