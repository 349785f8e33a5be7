//! Clocks and sleeping: `clock_gettime`, `clock_nanosleep`, `nanosleep`, `sched_yield`.
//!
//! Owns: what std's `Instant` and `SystemTime`, and threads that sleep, see in a run: virtual time, as the
//! clock of the node shows it, and on a calendar that begins with the year 2030, by as much off as that of the
//! node. Does not own: virtual time. A clock that is not one of time's passing (processor time) is the system's own, in a
//! run too.
#![expect(unsafe_code, reason = "functions that libc's callers link to")]

use std::time::Duration;

use detsim_executor::{context, threads};

use super::syscall::{into_errno, raw};

/// The first moment of a run: 2030-01-01 in UTC.
pub(super) const BEGINNING: Duration = Duration::from_secs(1_893_456_000);
/// How long the system has been up then: programs subtract from `Instant`s.
const UPTIME: Duration = Duration::from_secs(1 << 20);

/// The time of a clock in a run.
pub(super) fn now(realtime: bool) -> Duration {
    let since = Duration::from_nanos(context::system_now().as_nanos());
    if !realtime {
        return since + UPTIME;
    }
    let error_ns = context::date_error_ns();
    let error = Duration::from_nanos(error_ns.unsigned_abs());
    let date = since + BEGINNING;
    if error_ns < 0 { date.saturating_sub(error) } else { date.saturating_add(error) }
}

pub(super) fn duration(time: &libc::timespec) -> Duration {
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Whether a clock tells the date; `None` for one that does not tell time's passing.
fn tells_date(clock: libc::clockid_t) -> Option<bool> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => Some(true),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_BOOTTIME => Some(false),
        _ => None,
    }
}

/// libc's `clock_gettime`.
///
/// # Safety
/// As of libc's: `time` is valid for the write.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    let told = tells_date(clock).and_then(|realtime| threads::inside(|| now(realtime)));
    if let Some(now) = told {
        let told = libc::timespec {
            tv_sec: now.as_secs() as libc::time_t,
            tv_nsec: now.subsec_nanos().into(),
        };
        // SAFETY: the caller vouches for the place.
        unsafe { time.write(told) };
        return 0;
    }
    let words = [clock as usize, time.expose_provenance(), 0, 0, 0, 0];
    // SAFETY: the arguments are the caller's, for the same call.
    into_errno(unsafe { raw(libc::SYS_clock_gettime, words) }) as libc::c_int
}

/// libc's `clock_nanosleep`, which returns what went wrong. In a run nothing interrupts a sleep.
///
/// # Safety
/// As of libc's: `request` is valid for the read, and `rest` for a write, or null.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: libc::c_int,
    request: *const libc::timespec,
    rest: *mut libc::timespec,
) -> libc::c_int {
    if let Some(realtime) = tells_date(clock) {
        // SAFETY: the caller vouches for the time.
        let time = duration(unsafe { &*request });
        let is_absolute = flags & libc::TIMER_ABSTIME != 0;
        let sleeps = move || {
            threads::sleep(if is_absolute { time.saturating_sub(now(realtime)) } else { time });
        };
        if let Some(Ok(())) = threads::blocked(sleeps) {
            return 0;
        }
    }
    let (request, rest) = (request.expose_provenance(), rest.expose_provenance());
    let words = [clock as usize, flags as usize, request, rest, 0, 0];
    // SAFETY: the arguments are the caller's, for the same call.
    -unsafe { raw(libc::SYS_clock_nanosleep, words) } as libc::c_int
}

/// libc's `nanosleep`.
///
/// # Safety
/// As of [`clock_nanosleep`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn nanosleep(
    request: *const libc::timespec,
    rest: *mut libc::timespec,
) -> libc::c_int {
    // SAFETY: as of the caller.
    let failed = unsafe { clock_nanosleep(libc::CLOCK_MONOTONIC, 0, request, rest) };
    into_errno(-(failed as isize)) as libc::c_int
}

/// libc's `sched_yield`.
#[unsafe(no_mangle)]
extern "C-unwind" fn sched_yield() -> libc::c_int {
    if let Some(Ok(())) = threads::blocked(threads::yield_thread) {
        return 0;
    }
    // SAFETY: the call takes nothing and gives a number.
    into_errno(unsafe { raw(libc::SYS_sched_yield, [0; 6]) }) as libc::c_int
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "what unmodified code reads")]
mod tests {
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    use detsim_executor::{Sim, SimTime, Skew, sleep_until};

    use super::*;
    use crate::NodeBuilder;

    /// Milliseconds since the run began, by the date and by what passes, as a node's programs read them after
    /// a thousand seconds.
    fn told(node: &detsim_executor::Node, sim: &Sim) -> (i64, i64) {
        let task = node.spawn("looks", async {
            let begun = Instant::now();
            sleep_until(SimTime::from_secs(1_000)).await;
            let date = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let date_ms = date.as_millis() as i64 - BEGINNING.as_millis() as i64;
            (date_ms, begun.elapsed().as_millis() as i64)
        });
        sim.block_on(task).unwrap().unwrap()
    }

    #[test]
    fn each_node_has_a_date_and_a_clock_of_its_own() {
        let second = Duration::from_secs(1);
        let told_of = |builder: NodeBuilder, step: Option<Skew>| {
            let sim = Sim::new(1);
            let node = builder.build(&sim);
            if let Some(step) = step {
                let stepped = node.clone();
                sim.after(500 * second, move || stepped.step_clock(step));
            }
            told(&node, &sim)
        };
        let node = || NodeBuilder::new("n1");
        assert_eq!(told_of(node(), None), (1_000_000, 1_000_000));
        let behind = node().clock_offset(Skew::Behind(2 * second));
        assert_eq!(told_of(behind, None), (998_000, 1_000_000));
        assert_eq!(told_of(node().clock_drift(200), None), (1_000_200, 1_000_200));
        let both = node().clock_offset(Skew::Ahead(second)).clock_drift(-100);
        assert_eq!(told_of(both, Some(Skew::Behind(4 * second))), (996_900, 999_900));
    }

    #[test]
    fn a_clock_that_is_set_goes_on_through_a_restart_and_stands_in_the_trace() {
        let mut config = detsim_executor::SimConfig::default();
        config.record = true;
        let sim = Sim::with_config(1, config);
        let (node, other) = (sim.node("n1"), sim.node("n2"));
        node.set_clock_offset(Skew::Ahead(Duration::from_secs(3)));
        node.crash();
        node.restart();
        assert_eq!(told(&node, &sim).0, 1_003_000);
        assert_eq!(other.clock_offset(), Skew::Ahead(Duration::ZERO));
        let trace = sim.trace().to_string();
        assert!(trace.contains("n1 notes: its clock is 3s ahead"), "{trace}");
    }
}
