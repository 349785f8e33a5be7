//! Calls of the system by a thread that has a simulation and does not drive it just now.
//!
//! Owns: which simulation that is ([`attend`]), and the ways into it for whoever defines the calls:
//! [`inside`] for what takes no time, [`blocked`] for what waits. Does not own: the simulation, which
//! whoever attends keeps.
//!
//! A program may make a runtime, start threads, and wait for them without ever blocking on the runtime.
//! Its threads are part of the run, so the run has to go on while it waits: a call that blocks is a task
//! of the run whose poll blocks, and the thread drives the run until the call is over.
//!
//! Invariants: a call is the simulation's only where the program makes it, as [`is_programs`] says it of
//! calls in a run; while the thread drives the simulation it attends to none, since what it does then
//! (waiting for the baton, for one) is the kernel's own business.

use std::panic::Location;

use crate::baton::is_programs;
use crate::failure::Failure;
use crate::group::GroupId;
use crate::here;
use crate::kernel::Kernel;
use crate::lost::JoinError;
use crate::sim::Sim;
use crate::waker::unpack;

impl Kernel {
    /// A call that waits comes first: it then has the thread that made it for itself, and what the others
    /// do to a thread, such as parking it, they do to others.
    pub(crate) fn put_first(&mut self, word: u64) {
        if self.threads.attended {
            self.threads.first = Some(unpack(word).1);
            self.settle();
        }
    }

    fn attended_to(&mut self) {
        (self.threads.attended, self.threads.first) = (false, None);
        self.settle();
    }
}

/// Finds the simulation of the thread that calls. A function, so that a thread-local without a
/// destructor can keep it.
pub(crate) type Finds = fn() -> Option<Sim>;

/// The calls that this thread makes outside of any run are from now on those of the run that `find`
/// gives: it reads its clock, its threads are started in it, and where it waits, the run goes on.
pub fn attend(find: fn() -> Option<Sim>) {
    here::set_attended(Some(find));
}

/// Attends to nothing, until it is dropped: for what the simulator does with the system between runs.
#[derive(Debug)]
#[must_use = "the thread attends again when this is dropped"]
pub struct Aside(Option<Finds>);

/// This thread attends to no simulation until the mark is dropped.
pub fn aside() -> Aside {
    Aside(here::set_attended(None))
}

impl Drop for Aside {
    fn drop(&mut self) {
        here::set_attended(self.0);
    }
}

/// The simulation whose business a call of this thread is, which is in none.
fn attended() -> Option<Sim> {
    let find = here::attended()?;
    if here::place().lane.is_some() || here::is_outside() || here::is_in_section() {
        return None;
    }
    find().filter(|sim| sim.is_alive() && !sim.is_looked_into())
}

/// Runs `f` in the run that this thread drives or attends to; `None` where the call is not the program's
/// or there is no such run.
pub fn inside<R>(f: impl FnOnce() -> R) -> Option<R> {
    if is_programs() {
        return Some(f());
    }
    attended().map(|sim| sim.enter(f))
}

/// The same for what waits: the run goes on meanwhile.
///
/// # Errors
/// Where the run that this thread attends to fails. The caller is to say so: nobody else will.
#[track_caller]
pub fn blocked<R: 'static>(f: impl FnOnce() -> R + 'static) -> Option<Result<R, Failure>> {
    if is_programs() {
        return Some(Ok(f()));
    }
    let sim = attended()?;
    let site = Location::caller();
    sim.with(|kernel| kernel.threads.attended = true);
    let ended = sim.block_on_in(GroupId::ROOT, false, site, async move { f() });
    sim.with(Kernel::attended_to);
    match ended {
        Ok(Ok(output)) => Some(Ok(output)),
        Ok(Err(error)) => unwind(error),
        Err(failure) => Some(Err(failure)),
    }
}

/// Whether this thread attends to a run that goes on.
pub fn attends() -> bool {
    attended().is_some_and(|sim| sim.with(|kernel| kernel.failure.is_none()))
}

/// Whether the run that this thread attends to has failed: nothing in it ends a wait any more.
pub fn is_over() -> bool {
    attended().is_some_and(|sim| sim.with(|kernel| kernel.failure.is_some()))
}

#[track_caller]
fn unwind(error: JoinError) -> ! {
    match error.try_into_panic() {
        Ok(payload) => std::panic::resume_unwind(payload),
        Err(error) => panic!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SimTime, context, sleep_until, threads};
    use std::cell::RefCell;
    use std::time::Duration;

    thread_local! {
        static SIM: RefCell<Option<Sim>> = const { RefCell::new(None) };
    }

    fn find() -> Option<Sim> {
        SIM.with_borrow(Clone::clone)
    }

    /// A simulation that this thread attends to.
    fn attending() -> (Sim, Aside) {
        let aside = aside();
        let sim = Sim::new(1);
        SIM.set(Some(sim.clone()));
        attend(find);
        (sim, aside)
    }

    #[test]
    fn a_thread_without_a_run_makes_the_systems_calls() {
        assert!(inside(|| 1).is_none() && blocked(|| 1).is_none());
    }

    #[test]
    fn a_wait_drives_the_run() {
        let (sim, _aside) = attending();
        let task = sim.spawn("task", async {
            sleep_until(SimTime::from_secs(3)).await;
            context::now()
        });
        blocked(|| threads::sleep(Duration::from_secs(5))).unwrap().unwrap();
        assert!(task.is_finished());
        let now = inside(context::now).unwrap();
        assert!((SimTime::from_secs(5)..SimTime::from_secs(6)).contains(&now), "{now}");
    }

    #[test]
    fn what_the_simulator_does_itself_is_none_of_it() {
        let (_sim, _attends) = attending();
        let own = aside();
        assert_eq!(inside(|| 1), None);
        drop(own);
        assert_eq!(inside(|| 1), Some(1));
        let _own = threads::outside();
        assert_eq!(inside(|| 1), None);
    }

    #[test]
    fn a_wait_that_never_ends_is_reported() {
        let (_sim, _aside) = attending();
        let word = 0_u32;
        let address = std::ptr::from_ref(&word).addr();
        let wait = move || threads::wait_at(address, u32::MAX, None, || true);
        assert!(!is_over());
        assert_eq!(blocked(wait).unwrap().unwrap_err().verdict(), "deadlock");
        assert!(is_over());
    }
}
