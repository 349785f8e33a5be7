//! Inside a run, without a handle.
//!
//! Owns: the way from the code that runs to the kernel of its simulation. Does not own: anything.
//! Invariant: [`with`] runs no user code, and panics where it is called inside a section.

use crate::SimTime;
use crate::bound::kernel;
use crate::event::NodeId;
use crate::join::{self, Belongs, JoinHandle};
use crate::kernel::Kernel;
use crate::sim::Sim;
use std::future::Future;

/// Gives `f` the kernel of the simulation that runs on this thread; `None` where none runs. `f`
/// must run no user code: nothing of a user is dropped, cloned, woken or called in it.
#[inline]
pub fn with<R>(f: impl FnOnce(&mut Kernel) -> R) -> Option<R> {
    let mut guard = kernel::enter()?;
    Some(f(&mut guard))
}

/// Does a simulation run on this thread?
#[inline]
pub fn is_inside() -> bool {
    crate::here::place().lane.is_some()
}

/// A handle of the simulation that runs on this thread.
pub fn sim() -> Option<Sim> {
    with(|kernel| kernel.shared()).flatten().map(Sim::from_shared)
}

/// Virtual time.
///
/// # Panics
/// Where no simulation runs on this thread.
#[track_caller]
pub fn now() -> SimTime {
    with(Kernel::read_clock).unwrap_or_else(|| outside())
}

/// What the system's clock shows since the beginning of the run: virtual time, without what a paused
/// clock has jumped, and with what the clock of whoever runs has gained by drifting.
///
/// # Panics
/// Where no simulation runs on this thread.
#[track_caller]
pub fn system_now() -> SimTime {
    with(Kernel::read_system_clock).unwrap_or_else(|| outside())
}

/// By how many nanoseconds the date of whoever runs is ahead of what its clock shows; negative where it is
/// behind. See [`crate::Node::set_clock_offset`].
///
/// # Panics
/// Where no simulation runs on this thread.
#[track_caller]
pub fn date_error_ns() -> i64 {
    with(|kernel| kernel.date_error_ns()).unwrap_or_else(|| outside())
}

/// Spawns a task on the node of whoever runs; an empty name is none.
///
/// # Panics
/// Where no simulation runs on this thread.
#[inline]
#[track_caller]
pub fn spawn<F>(name: &str, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let site = std::panic::Location::caller();
    match name {
        "" => join::spawn_here(future, site),
        name => {
            let sim = sim().unwrap_or_else(|| outside());
            join::spawn(&sim, future, Belongs { name, ..Belongs::default() }, site)
        }
    }
}

/// What [`glance`] sees.
#[derive(Clone, Copy, Debug)]
pub struct Glance<'a> {
    /// Virtual time.
    pub now: SimTime,
    /// The node of whoever runs.
    pub node: Option<&'a str>,
    /// The number of the task that runs, and its name.
    pub task: Option<(u32, Option<&'a str>)>,
}

/// Looks at the simulation that runs on this thread without costing it anything. Neither waits, nor
/// allocates, nor panics, so a signal handler may call it; `None` where no simulation runs, or where
/// it is inside a section.
pub fn glance<R>(f: impl FnOnce(&Glance<'_>) -> R) -> Option<R> {
    let lane = crate::here::place().lane?;
    if lane.bias.is_busy() {
        return None;
    }
    with(|kernel| {
        let (node, tag) = (kernel.current_node(), kernel.current_tag());
        f(&Glance {
            now: kernel.now(),
            node: (node != NodeId::NONE).then(|| kernel.nodes.name(node)),
            task: (!tag.is_nobody()).then(|| (tag.number, kernel.names.text(tag.name))),
        })
    })
}

/// The steps of the simulation that runs on this thread. As [`glance`], but inside a section too.
pub fn steps() -> Option<u64> {
    kernel::steps()
}

/// Draws from the choices of the run, as the program's own input: a number in `0..bound`, 0 being
/// the default. Recorded, replayed and minimised with the schedule.
///
/// # Panics
/// Where no simulation runs on this thread, or `bound` is 0.
#[track_caller]
pub fn choose(bound: u64) -> u64 {
    let draw = |kernel: &mut Kernel| {
        let (anchor, domain) = (kernel.anchor(), kernel.choices().domain("choose"));
        kernel.choices().draw(domain, anchor, bound, 0)
    };
    with(draw).unwrap_or_else(|| outside())
}

/// Puts a line of the program's own into the trace, as something of the task that runs; see
/// [`Sim::note`]. Outside of a simulation nothing happens, so code that is also run elsewhere may
/// call it.
pub fn note(text: impl FnOnce() -> String) {
    if let Some(sim) = sim() {
        sim.note(text);
    }
}

pub(crate) const OUTSIDE: &str = "detsim: no simulation is running on this thread";

#[track_caller]
#[cold]
pub(crate) fn outside() -> ! {
    panic!("{OUTSIDE}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sim;

    #[test]
    fn a_glance_sees_who_runs_and_costs_nothing() {
        let sim = Sim::new(1);
        assert_eq!((steps(), glance(|_| ())), (None, None));
        drop(sim.node("n1").spawn("looker", async {
            let before = now();
            let seen = glance(|at| {
                assert_eq!((at.now, at.node), (before, Some("n1")));
                at.task.map(|(_, name)| name == Some("looker"))
            });
            assert_eq!(seen, Some(Some(true)));
            assert!(steps().is_some());
            // In a section there is nothing to see but the steps.
            assert_eq!(with(|_| glance(|_| ())), Some(None));
            assert!(with(|_| steps()).flatten().is_some());
        }));
        sim.run().unwrap();
    }
}
