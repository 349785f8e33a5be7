//! What will happen later: timers, callbacks and the deadlines of devices.
//!
//! Owns: the one sequence that orders equal instants, the timer heap, the boxed callbacks, and the
//! known next deadline of each device. Does not own: the devices' own queues. Invariant: a device's
//! deadline here is current unless the device is marked as touched.

use crate::SimTime;
use crate::slots::Slots;
use crate::timer::{Action, Deadline, TimerKey, Timers};
use std::fmt;
use std::panic::Location;
use std::task::Waker;

/// A callback of the scenario.
pub(crate) struct Callback {
    pub(crate) run: Box<dyn FnOnce()>,
    pub(crate) site: &'static Location<'static>,
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callback({})", self.site)
    }
}

/// What is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Timer,
    Device(usize),
}

/// What is due next, where that is what it nearly always is.
pub(crate) enum Usual {
    /// A task of this run is to be woken: this is its word.
    Wake(u64),
    Device(usize),
}

/// Names a device of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId(pub(crate) u32);

/// The queue.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Queue {
    /// When the first is due, in nanoseconds; 0 while a device is touched.
    next_ns: u64,
    timers: Timers,
    callbacks: Slots<Callback>,
    /// Wakers that are not ours, each of one timer.
    wakers: Slots<Waker>,
    devices: Vec<Deadline>,
    /// One that keeps a run going, where no other has anything to do; or [`NO_DEVICE`].
    sole: usize,
    /// Which of them keep no run going.
    faint: Vec<bool>,
    /// What such a device waits for, and nothing else is due.
    dozing: Option<(Deadline, Due)>,
    touched: Vec<u32>,
    seq: u64,
    /// What is due first, as far as the devices have said, or [`NEVER`].
    first: (Deadline, Due),
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            timers: Timers::default(),
            callbacks: Slots::default(),
            wakers: Slots::default(),
            devices: Vec::new(),
            sole: NO_DEVICE,
            faint: Vec::new(),
            dozing: None,
            touched: Vec::new(),
            seq: 0,
            first: (NEVER, Due::Timer),
            next_ns: u64::MAX,
        }
    }
}

impl Queue {
    /// Forgets everything that was to happen; what had been put in is dropped by the caller,
    /// outside of the kernel.
    pub(crate) fn reset(&mut self) -> (Slots<Callback>, Slots<Waker>) {
        self.timers.clear();
        self.devices.clear();
        self.sole = NO_DEVICE;
        self.faint.clear();
        self.dozing = None;
        self.touched.clear();
        self.seq = 0;
        (self.first, self.next_ns) = ((NEVER, Due::Timer), u64::MAX);
        (std::mem::take(&mut self.callbacks), std::mem::take(&mut self.wakers))
    }

    /// The next number of the sequence.
    #[inline]
    pub(crate) fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    pub(crate) fn arm(&mut self, at: SimTime, action: Action) -> TimerKey {
        let deadline = Deadline { at, seq: self.next_seq() };
        self.advance_to(deadline, Due::Timer);
        let key = self.timers.arm(deadline, action);
        if self.dozing.is_some() {
            self.update();
        }
        key
    }

    /// Moves an armed timer to wake another task; false where it is no longer armed.
    pub(crate) fn retarget(&mut self, key: TimerKey, action: Action) -> bool {
        self.timers.retarget(key, action)
    }

    /// Moves an armed timer to another moment; `None` where it is no longer armed.
    pub(crate) fn rearm(&mut self, key: TimerKey, at: SimTime) -> Option<TimerKey> {
        let action = self.timers.cancel(key)?;
        self.update();
        Some(self.arm(at, action))
    }

    /// Has everybody look again who waits for a timer: the words of the tasks of this run, each once; wakers
    /// that are not ours are woken at `now`.
    pub(crate) fn look_again(&mut self, now: SimTime) -> Vec<u64> {
        let mut words = Vec::new();
        for (key, action) in self.timers.all() {
            match action {
                Action::Wake(word) => words.push(word),
                Action::Foreign(_) => drop(self.rearm(key, now)),
                Action::Call(_) => {}
            }
        }
        words.sort_unstable();
        words.dedup();
        words
    }

    /// One of the armed timers, whichever `pick` falls on.
    pub(crate) fn armed_timer(&self, pick: u64) -> Option<Deadline> {
        self.timers.armed(pick)
    }

    /// Takes the earliest timer.
    pub(crate) fn pop_timer(&mut self) -> Option<Action> {
        let action = self.timers.pop();
        self.update();
        action
    }

    /// Takes what is due first, where that is by `until`, and a timer which wakes a task of this run, and no
    /// device has to be asked before: when it is due, and the word of the task.
    pub(crate) fn pop_wake(&mut self, until: SimTime) -> Option<(SimTime, u64)> {
        let (deadline, due) = self.first;
        if due != Due::Timer || deadline.at > until || !self.touched.is_empty() {
            return None;
        }
        let Some(Action::Wake(word)) = self.timers.first() else { return None };
        self.timers.pop();
        self.update();
        Some((deadline.at, word))
    }

    /// As [`Self::pop_wake`], where the event of a device is not looked at but left for it.
    #[inline]
    pub(crate) fn take_usual(&mut self, until: SimTime) -> Option<(SimTime, Usual)> {
        let (deadline, due) = self.first;
        match due {
            Due::Timer => self.pop_wake(until).map(|(at, word)| (at, Usual::Wake(word))),
            Due::Device(index) => {
                let is_next = deadline.at <= until && self.touched.is_empty();
                is_next.then_some((deadline.at, Usual::Device(index)))
            }
        }
    }

    /// Something more is due, perhaps first.
    #[inline]
    fn advance_to(&mut self, deadline: Deadline, due: Due) {
        if deadline < self.first.0 {
            self.first = (deadline, due);
            self.next_ns = self.next_ns.min(deadline.at.as_nanos());
        }
    }

    /// Looks for what is due first, after what was first has gone.
    fn update(&mut self) {
        if let Some(deadline) = self.devices.get(self.sole).filter(|_| self.touched.is_empty()) {
            return self.update_with(*deadline, Due::Device(self.sole));
        }
        let mut first = (self.timers.next().unwrap_or(NEVER), Due::Timer);
        if self.devices.is_empty() {
            (self.first, self.next_ns) = (first, first.0.at.as_nanos());
            return;
        }
        let mut faint = (NEVER, Due::Timer);
        for (index, deadline) in self.devices.iter().enumerate() {
            // Most have nothing to do, and that nobody has before the others.
            if deadline.at == SimTime::MAX {
                continue;
            }
            let first = if self.faint[index] { &mut faint } else { &mut first };
            if *deadline < first.0 {
                *first = (*deadline, Due::Device(index));
            }
        }
        self.dozing = (first.0 == NEVER && faint.0 != NEVER).then_some(faint);
        if self.dozing.is_none() && faint.0 < first.0 {
            first = faint;
        }
        self.first = first;
        self.next_ns = if self.touched.is_empty() { first.0.at.as_nanos() } else { 0 };
    }

    /// Whether at `now_ns` something is due, or a device is touched.
    #[inline]
    pub(crate) fn is_disturbed(&self, now_ns: u64) -> bool {
        self.next_ns <= now_ns
    }

    pub(crate) fn call_at(&mut self, at: SimTime, callback: Callback) {
        let index = self.callbacks.insert(callback);
        self.arm(at, Action::Call(index));
    }

    /// A timer for a waker that is not one of ours.
    pub(crate) fn wake_at(&mut self, at: SimTime, waker: Waker) -> TimerKey {
        let index = self.wakers.insert(waker);
        self.arm(at, Action::Foreign(index))
    }

    /// The waker of [`Action::Foreign`].
    pub(crate) fn take_waker(&mut self, index: u32) -> Option<Waker> {
        self.wakers.take(index)
    }

    /// Cancels a timer; a foreign waker comes back, to be dropped outside of the kernel.
    pub(crate) fn cancel(&mut self, key: TimerKey) -> Option<Waker> {
        let action = self.timers.cancel(key)?;
        self.update();
        match action {
            Action::Foreign(index) => self.take_waker(index),
            Action::Wake(_) | Action::Call(_) => None,
        }
    }

    pub(crate) fn take_callback(&mut self, index: u32) -> Option<Callback> {
        self.callbacks.take(index)
    }

    /// One more device; a faint one keeps no run going.
    pub(crate) fn add_device(&mut self, is_faint: bool) -> DeviceId {
        self.devices.push(NEVER);
        self.faint.push(is_faint);
        let id = self.devices.len() as u32 - 1;
        self.touched.push(id);
        self.next_ns = 0;
        DeviceId(id)
    }

    /// The device's deadline may have changed.
    #[inline]
    pub(crate) fn touch(&mut self, device: DeviceId) {
        if !self.touched.contains(&device.0) {
            self.touched.push(device.0);
            self.next_ns = 0;
        }
    }

    #[inline]
    pub(crate) fn pop_touched(&mut self) -> Option<usize> {
        self.touched.pop().map(|device| device as usize)
    }

    /// A device of a simulation that has ended says this to no effect.
    #[inline(always)]
    pub(crate) fn set_deadline(&mut self, device: usize, deadline: Option<Deadline>) {
        let deadline = deadline.filter(|deadline| deadline.at != SimTime::MAX).unwrap_or(NEVER);
        // Most often one device has something to do, again and again.
        let is_sole = self.sole == device;
        match self.devices.get_mut(device) {
            Some(known) if is_sole && self.touched.is_empty() => {
                *known = deadline;
                self.update_with(deadline, Due::Device(device));
            }
            _ => self.set_any_deadline(device, deadline),
        }
    }

    #[inline(never)]
    fn set_any_deadline(&mut self, device: usize, deadline: Deadline) {
        let Some(known) = self.devices.get_mut(device) else { return };
        // Nothing is new, and no device has to be asked any more.
        if *known == deadline && self.next_ns != 0 {
            return;
        }
        *known = deadline;
        let mut others = self.devices.iter().enumerate().filter(|(other, _)| *other != device);
        let is_sole = !self.faint[device] && others.all(|(_, deadline)| *deadline == NEVER);
        self.sole = if is_sole { device } else { NO_DEVICE };
        self.update();
    }

    /// As [`Self::update`], where nothing but this and the timers is to come.
    #[inline]
    fn update_with(&mut self, deadline: Deadline, due: Due) {
        let first = (self.timers.next().unwrap_or(NEVER), Due::Timer);
        let is_first = deadline.order() < first.0.order();
        self.first = if is_first { (deadline, due) } else { first };
        self.next_ns = self.first.0.at.as_nanos();
        self.dozing = None;
    }

    /// What a run that has somewhere to go until `until` meets on its way, though nothing keeps it going.
    #[cold]
    pub(crate) fn on_the_way(&self, until: SimTime) -> Option<(Deadline, Due)> {
        self.dozing.filter(|(deadline, _)| deadline.at <= until)
    }

    /// What is due first, with its deadline. No device may be marked as touched.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Deadline, Due)> {
        (self.first.0 != NEVER).then_some(self.first)
    }
}

/// The place of no device.
const NO_DEVICE: usize = usize::MAX;

/// The deadline of nothing: no sequence comes this far.
const NEVER: Deadline = Deadline { at: SimTime::MAX, seq: u64::MAX };
