//! Where the sweep meets the kernel: a test's function as a run.
//!
//! Owns: what the attributes call ([`scenario`], [`run_async`], [`main`]), the set-up of a
//! simulation from a [`Spec`], and the verdict on it; and what a signal handler and a log line ask
//! the kernel. Does not own: the process around a run ([`crate::attempt`], [`crate::worker`]) nor
//! the kernel. Invariant: a run that failed has the hash of what it did until then.

mod disks;

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::io::Write;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use detsim_executor::{Failure, Preempt, Sim, SimConfig, context};

use crate::attempt::panicked;
use crate::config::Config;
use crate::hook;
use crate::outcome::{Failed, Keeps, Kind, RunOptions, RunOutcome, TestOutput, Verdict};
use crate::recording::Recording;
use crate::spec::Spec;
use crate::sweep::{fail, sweep};
use crate::{attempt, signature};
use disks::Walk;

/// Runs a scenario of the kernel as a test: `run` gets a fresh simulation for every seed.
///
/// # Panics
/// Where a seed fails; see [`sweep`].
pub fn scenario<T: TestOutput>(spec: Spec, run: impl Fn(&mut Sim) -> T + Sync) {
    sweep(&spec, &|seed, options| drive(&spec, seed, options, &mut |sim| run(sim).into_result()));
}

/// Runs an async function as a test: the future that `make` returns is the first task of a fresh
/// simulation for every seed. `make` itself is called inside that task.
///
/// # Panics
/// Where a seed fails; see [`sweep`].
#[track_caller]
pub fn run_async<F>(spec: Spec, make: impl Fn() -> F + Sync)
where
    F: Future<Output: TestOutput> + 'static,
{
    let site = Location::caller();
    sweep(&spec, &|seed, options| {
        drive(&spec, seed, options, &mut |sim| match sim.block_on_for(site, make()) {
            Ok(output) => output.into_result(),
            Err(failure) => Err(format!("Error: {failure:?}")),
        })
    });
}

/// Runs a scenario as a program: one seed, in this process.
///
/// # Panics
/// Where the environment holds a value that cannot be used, and where `run` panics.
pub fn main<T>(spec: Spec, run: impl FnOnce(&mut Sim) -> T) -> T {
    let config = Config::from_env().unwrap_or_else(|bad| fail(bad.to_string()));
    let seed = config.seed.or(spec.seed).unwrap_or(0);
    let _alone = attempt::alone(seed, config.log.as_deref());
    let options =
        RunOptions { keeps: Keeps::All, strategy: config.strategy, ..RunOptions::default() };
    let mut sim = Sim::with_config(seed, sim_config(&spec, &options));
    disks::set_up(&sim, &spec, None);
    run(&mut sim)
}

/// The simulation of a thread for which nobody opened one, to stay until it is dropped. What it does
/// not wait for may fail as on tokio.
///
/// # Panics
/// Where the environment holds a value that cannot be used.
pub fn implicit() -> Sim {
    let config = Config::from_env().unwrap_or_else(|bad| fail(bad.to_string()));
    let spec = Spec::new("", "", 0);
    let options = RunOptions { strategy: config.strategy, ..RunOptions::default() };
    let mut of_sim = sim_config(&spec, &options);
    of_sim.forgives_panics = true;
    // A worker has one thread.
    of_sim.expects_others = crate::worker::serve::serving().is_none();
    Sim::with_config(config.seed.unwrap_or(0), of_sim)
}

/// Runs one seed on a simulation of its own.
fn drive(
    spec: &Spec,
    seed: u64,
    options: &RunOptions,
    run: &mut dyn FnMut(&mut Sim) -> Result<(), String>,
) -> RunOutcome {
    let walk = Walk::of(spec, seed);
    let seed = if walk.is_some() { Walk::SEED } else { seed };
    let mut sim = Sim::with_config(seed, sim_config(spec, options));
    disks::set_up(&sim, spec, walk);
    // A run is not used again after a panic.
    let ended = catch_unwind(AssertUnwindSafe(|| run(&mut sim)));
    let ended = ended.map_err(|payload| {
        let message = hook::message_of(&*payload);
        // Its destructor is the user's and may panic.
        std::mem::forget(payload);
        message
    });
    let ended = ended.map(|ended| ended.and_then(|()| disks::check_walk(&sim, spec, walk)));
    let so_far = measures(&sim, options);
    let (failure, escapes) = (sim.failure(), escapes(&sim));
    let leaked = leaked(spec, &sim);
    let is_well = matches!(ended, Ok(Ok(()))) && leaked.is_none();
    // A failure of the kernel shows them itself.
    let is_shown = is_well || failure.is_some() || !sim.is_alive();
    let devices = if is_shown { String::new() } else { sim.devices_shown() };
    let torn_down = catch_unwind(AssertUnwindSafe(|| sim.finish()));
    let failed = match (ended, torn_down) {
        (Err(message), _) => explained(failure, panicked(message)),
        (Ok(Err(error)), _) => explained(failure, returned(error)),
        (Ok(Ok(())), Err(payload)) => panicked(hook::message_of(&*payload)),
        (Ok(Ok(())), Ok(Err(failure))) => of_kernel(&failure),
        (Ok(Ok(())), Ok(Ok(()))) => match leaked {
            Some(leaked) => leaked,
            None => return so_far,
        },
    };
    let failed = Failed { report: beside(failed.report, &devices) + &escapes, ..failed };
    RunOutcome { verdict: Verdict::Fail(failed), ..so_far }
}

/// A report with what is in the devices.
fn beside(report: String, devices: &str) -> String {
    match devices.trim_end() {
        "" => report,
        devices => format!("{}\n{devices}", report.trim_end()),
    }
}

/// The tasks that are alive at the end of a test that does not want any.
fn leaked(spec: &Spec, sim: &Sim) -> Option<Failed> {
    let alive =
        if spec.leaks == Some("fail") && sim.is_alive() { sim.living() } else { Vec::new() };
    let sites: BTreeSet<&str> = alive.iter().map(|task| task.spawned.as_str()).collect();
    let sites = sites.into_iter().collect::<Vec<_>>().join(" ");
    let tasks = if alive.len() == 1 { "task was" } else { "tasks were" };
    let mut report = format!("LEAK: {} {tasks} alive when the test ended\n", alive.len());
    alive.iter().for_each(|task| report.push_str(&task.to_string()));
    (!alive.is_empty()).then(|| Failed {
        kind: Kind::Leak,
        signature: format!("leak {sites}"),
        report: report.trim_end().to_owned(),
    })
}

/// What the seed does not determine, for the report of a failure that may not repeat.
fn escapes(sim: &Sim) -> String {
    let escapes = if sim.is_alive() { sim.take_escapes() } else { Vec::new() };
    escapes.iter().map(|escape| format!("\nnot determined by the seed: {escape}")).collect()
}

/// What the attribute and the environment say, as the kernel takes it.
fn sim_config(spec: &Spec, options: &RunOptions) -> SimConfig {
    let mut config = SimConfig::default();
    config.record = options.keeps >= Keeps::Trace;
    config.record_choices = options.keeps == Keeps::Choices;
    // Whoever tells of a failure runs its seed again for that.
    config.brief = options.keeps != Keeps::All;
    config.replay.clone_from(&options.replay);
    let strategy = options.strategy.as_deref().or(spec.strategy);
    if let Some(strategy) = strategy {
        config.strategy = strategy.parse().unwrap_or_else(|bad| fail(format!("detsim: {bad}")));
    }
    if let Some(steps) = spec.max_steps {
        config.limits.steps = steps;
    }
    config.forgives_panics = spec.unhandled_panic == Some("ignore");
    config.preempt = match (spec.preempt, spec.flavor) {
        (Some("await"), _) | (None, Some("current_thread" | "local")) => Preempt::Await,
        _ => Preempt::Ops,
    };
    config
}

/// Everything that an outcome holds beside its verdict.
fn measures(sim: &Sim, options: &RunOptions) -> RunOutcome {
    if !sim.is_alive() {
        return RunOutcome::PASS;
    }
    RunOutcome {
        hash: sim.hash().word(),
        steps: sim.with(|kernel| kernel.steps()),
        events: if options.keeps >= Keeps::Trace { sim.with(|kernel| kernel.events()) } else { 0 },
        sim_time_ns: sim.with(|kernel| kernel.now()).as_nanos(),
        recording: Recording::of(sim, options),
        ..RunOutcome::PASS
    }
}

const RETURNED: &str = "the test returned an error:";

/// The failure of a test that returned an error.
fn returned(error: String) -> Failed {
    let report = format!("{RETURNED}\n{error}");
    Failed { kind: Kind::Property, signature: signature::of_error(&error), report }
}

/// The failure of a test, put down to the kernel's own failure where the test only passed that on,
/// as `sim.run().unwrap()` does.
fn explained(failure: Option<Failure>, of_test: Failed) -> Failed {
    let Some(failure) = failure else { return of_test };
    let (debug, display) = (format!("{failure:?}"), failure.to_string());
    let kernel = of_kernel(&failure);
    if of_test.report.contains(&debug) {
        let name = debug.split('(').next().unwrap_or_default();
        let test = of_test.report.replace(&debug, &format!("{name}(..)"));
        // A returned error says nothing more; a panic may say what it was expected to.
        let test = if test.starts_with(RETURNED) { String::new() } else { format!("\n{test}") };
        Failed { report: kernel.report + &test, ..kernel }
    } else if of_test.report.contains(display.trim_end()) {
        kernel
    } else {
        Failed { report: format!("{}\n\n{}", of_test.report, kernel.report), ..of_test }
    }
}

fn of_kernel(failure: &Failure) -> Failed {
    let mut report = failure.to_string();
    let kind = match failure {
        Failure::Panic(_) => Kind::Panic,
        Failure::Deadlock(_) => Kind::Deadlock,
        Failure::Livelock(_) => Kind::Livelock,
        Failure::LostWakeup(_) => Kind::LostWakeup,
        _ => Kind::Limit,
    };
    let mut signature = failure.signature();
    if let Failure::Panic(panic) = failure
        && let Some(note) = hook::note_of(&panic.message)
    {
        signature = signature::of_panic(&note);
        report.push_str(&format!("  panicked at {}\n", note.site));
    }
    report.truncate(report.trim_end().len());
    Failed { kind, signature, report }
}

/// Writes virtual time, node and task of the run on this thread.
pub(crate) fn stamp(w: &mut dyn fmt::Write) -> fmt::Result {
    let stamped = context::glance(|at| {
        write!(w, "{}", at.now)?;
        if let Some(node) = at.node {
            write!(w, " {node}")?;
        }
        match at.task {
            Some((number, Some(name))) => write!(w, " task {number} \"{name}\""),
            Some((number, None)) => write!(w, " task {number}"),
            None => Ok(()),
        }
    });
    stamped.unwrap_or_else(|| w.write_str("outside the simulation"))
}

/// Where the kernel is; safe in a signal handler.
#[cfg(target_os = "linux")]
pub(crate) fn progress(
    name: &mut [u8; crate::worker::progress::NAME_BYTES_MAX],
) -> crate::worker::progress::Progress {
    let steps = context::steps().unwrap_or(0);
    let name_bytes_max = name.len();
    let mut room = &mut name[..];
    // A name that does not fit is cut.
    let _cut = context::glance(|at| match at.task {
        Some((number, Some(name))) => write!(room, "task {number} \"{name}\""),
        Some((number, None)) => write!(room, "task {number}"),
        None => Ok(()),
    });
    let name_bytes = name_bytes_max - room.len();
    crate::worker::progress::Progress { steps, name_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_program_runs_the_seed_it_names_and_returns_what_it_returns() {
        let spec = Spec::new("crate::main", file!(), line!()).seed(3).max_steps(10);
        let seen = main(spec, |sim| {
            drop(sim.spawn("task", async {}));
            (sim.seed(), sim.run().map(|report| report.completed))
        });
        assert_eq!(seen, (3, Ok(1)));
    }

    fn outcome(seed: u64, mut run: impl FnMut(&mut Sim) -> Result<(), String>) -> RunOutcome {
        hook::chain();
        let spec = Spec::new("crate::test", file!(), line!());
        drive(&spec, seed, &RunOptions { keeps: Keeps::All, ..RunOptions::default() }, &mut run)
    }

    #[test]
    fn an_outcome_measures_the_run() {
        let step = |sim: &mut Sim| {
            drop(sim.spawn("task", async {}));
            sim.run().map(drop).map_err(|failure| failure.to_string())
        };
        let measured = outcome(1, step);
        assert_eq!(measured.verdict, Verdict::Pass);
        assert!(measured.hash != 0 && measured.steps == 1 && measured.events > 0, "{measured:?}");
        assert_eq!(measured, outcome(1, step));
    }

    #[test]
    fn a_run_that_panics_keeps_its_hash() {
        let passed = outcome(1, |sim| sim.run().map(drop).map_err(|_| String::new()));
        let failed = outcome(1, |sim| {
            sim.run().unwrap();
            panic!("after the run");
        });
        assert_eq!(failed.hash, passed.hash);
        assert!(matches!(failed.verdict, Verdict::Fail(Failed { kind: Kind::Panic, .. })));
    }

    #[test]
    fn a_panic_that_nobody_hears_of_is_ignored_where_the_test_says_so() {
        hook::chain();
        let verdict = |spec: &Spec| {
            let mut run = |sim: &mut Sim| {
                drop(sim.spawn("detached", async { panic!("boom") }));
                sim.run().map(drop).map_err(|failure| failure.to_string())
            };
            drive(spec, 1, &RunOptions::default(), &mut run).verdict
        };
        let spec = Spec::new("crate::test", file!(), line!());
        assert!(matches!(verdict(&spec), Verdict::Fail(Failed { kind: Kind::Panic, .. })));
        assert_eq!(verdict(&spec.unhandled_panic("ignore")), Verdict::Pass);
    }

    #[test]
    fn a_task_that_outlives_its_test_is_a_leak_where_the_test_says_so() {
        let verdict = |spec: &Spec| {
            let mut run = |sim: &mut Sim| {
                drop(sim.spawn("heartbeat", std::future::pending::<()>()));
                drop(sim.spawn("done", async {}));
                sim.run_for(Duration::from_secs(1)).map(drop).map_err(|f| f.to_string())
            };
            drive(spec, 1, &RunOptions::default(), &mut run).verdict
        };
        let spec = || Spec::new("crate::test", file!(), line!());
        assert_eq!(verdict(&spec()), Verdict::Pass);
        assert_eq!(verdict(&spec().leaks("ignore")), Verdict::Pass);
        let Verdict::Fail(failed) = verdict(&spec().leaks("fail")) else { panic!("it passed") };
        assert_eq!(failed.kind, Kind::Leak);
        assert!(failed.signature.starts_with("leak detsim/src/run.rs:"), "{}", failed.signature);
        let mut lines = failed.report.lines();
        assert_eq!(lines.next(), Some("LEAK: 1 task was alive when the test ended"));
        assert!(lines.next().unwrap().starts_with("  task 0 \"heartbeat\""), "{}", failed.report);
    }

    #[test]
    fn a_test_that_fails_by_itself_shows_the_sockets_of_its_run_too() {
        let with_socket = |fails: fn()| {
            outcome(1, |sim| {
                let net = detsim_net::Net::of(sim);
                let node = sim.node("server");
                drop(node.spawn("server", async {
                    let socket = detsim_net::Sockets::current().unwrap().udp(false);
                    socket.bind("0.0.0.0:53".parse().unwrap()).unwrap();
                    std::future::pending::<()>().await;
                    drop(socket);
                }));
                sim.run_for(Duration::from_secs(1)).unwrap();
                assert_eq!(net.netstat().lines().count(), 2);
                fails();
                Err("a wrong answer".to_owned())
            })
        };
        for fails in [|| (), || panic!("a wrong answer")] {
            let Verdict::Fail(failed) = with_socket(fails).verdict else { panic!("it passed") };
            assert!(failed.report.contains("a wrong answer\n"), "{}", failed.report);
            let table = "\nsockets:\n  node   proto local      peer state  Recv-Q Send-Q task\n";
            assert!(failed.report.contains(table), "{}", failed.report);
        }
    }

    #[test]
    fn settings_reach_the_kernel() {
        let spec = |spec: Spec| sim_config(&spec, &RunOptions::default());
        let base = || Spec::new("crate::test", file!(), line!());
        assert_eq!(spec(base()).preempt, Preempt::Ops);
        assert_eq!(spec(base().preempt("await")).preempt, Preempt::Await);
        assert_eq!(spec(base().flavor("current_thread")).preempt, Preempt::Await);
        assert_eq!(spec(base().flavor("current_thread").preempt("ops")).preempt, Preempt::Ops);
        assert_eq!(spec(base().max_steps(7)).limits.steps, 7);
        assert_eq!(spec(base().strategy("fifo")).strategy, detsim_executor::Strategy::Fifo);
    }
}
