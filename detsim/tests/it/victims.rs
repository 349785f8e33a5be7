//! Tests that end badly, or print what must repeat. The harness skips them unless asked.

#![expect(clippy::print_stdout, reason = "what a test prints is part of what is tested")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, abort, exit, id};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use std::{hint, ptr, thread};

use detsim::__private::{RunOutcome, Spec, TestOutput, sweep};

/// What a victim's body may end with.
trait Ending {
    fn outcome(self) -> RunOutcome;
}

impl Ending for () {
    fn outcome(self) -> RunOutcome {
        RunOutcome::PASS
    }
}

/// A run hash, as the kernel gives.
impl Ending for u64 {
    fn outcome(self) -> RunOutcome {
        RunOutcome { hash: self, ..RunOutcome::PASS }
    }
}

macro_rules! victims {
    ($($(#[$meta:meta])* fn $name:ident($seed:ident) [$($setting:tt)*] $body:block)*) => {$(
        #[test]
        #[ignore = "ends badly on purpose; the tests beside it run it"]
        $(#[$meta])*
        fn $name() {
            let path = concat!(module_path!(), "::", stringify!($name));
            let spec = Spec::new(path, file!(), line!()) $($setting)*;
            sweep(&spec, &|$seed, _| {
                let _seed: u64 = $seed;
                Ending::outcome($body)
            });
        }
    )*};
}

victims! {
    fn passes(seed) [.seeds(40)] {
        println!("seed {seed} passes");
    }

    fn fails_sometimes(seed) [.seeds(20)] {
        println!("seed {seed} was here");
        assert!(seed % 7 != 3, "seed {seed} is bad");
    }

    fn fails_always(seed) [.seeds(1000).failures_max(4)] {
        assert!(seed == u64::MAX, "seed {seed} is bad");
    }

    fn fails_in_two_ways(seed) [.seeds(9)] {
        assert!(seed != 2 && seed != 5, "first way");
        assert!(seed != 4, "second way");
    }

    #[should_panic(expected = "seed 3 is bad")]
    fn panics_as_expected(seed) [.seeds(8)] {
        assert!(seed % 5 != 3, "seed {seed} is bad");
    }

    #[should_panic(expected = "another message")]
    fn panics_otherwise(seed) [.seeds(2)] {
        assert!(seed == u64::MAX, "seed {seed} is bad");
    }

    fn aborts(seed) [.seeds(6)] {
        if seed == 2 {
            abort();
        }
    }

    fn overflows_its_stack(seed) [.seeds(4)] {
        if seed == 2 {
            println!("{}", deep(1));
        }
    }

    fn exits(seed) [.seeds(4)] {
        if seed == 2 {
            exit(7);
        }
    }

    fn exits_well(seed) [.seeds(4)] {
        if seed == 2 {
            exit(0);
        }
    }

    fn is_killed(seed) [.seeds(4)] {
        if seed == 2 {
            kill(&id().to_string());
        }
    }

    fn kills_its_worker(seed) [.seeds(4)] {
        if seed == 2 {
            kill(&std::os::unix::process::parent_id().to_string());
        }
    }

    fn panics_in_drop(seed) [.seeds(4)] {
        struct Bad;
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("panic in drop");
            }
        }
        let _bad = (seed == 2).then(|| Bad);
        assert!(seed != 2, "panic in body");
    }

    fn drops_badly(seed) [.seeds(4)] {
        struct Bad;
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("panic in drop");
            }
        }
        if seed == 2 {
            std::panic::panic_any(Bad);
        }
    }

    fn spins(seed) [.seeds(3).stuck_after(Duration::from_millis(300))] {
        if seed == 1 {
            loop {
                hint::spin_loop();
            }
        }
    }

    fn hangs(seed) [.seeds(3).stuck_after(Duration::from_millis(300))] {
        if seed == 1 {
            loop {
                thread::park();
            }
        }
    }

    fn eats_memory(seed) [.seeds(3).memory_bytes(64 << 20)] {
        if seed == 1 {
            println!("{}", vec![1_u8; 256 << 20].len());
        }
    }

    fn prints_for_ever(seed) [.seeds(3)] {
        if seed == 1 {
            loop {
                println!("{}", "x".repeat(1 << 16));
            }
        }
    }

    fn prints_no_newline(seed) [.seeds(3)] {
        print!("no newline from {seed}");
        std::io::stderr().write_all(b"; nor here").unwrap();
        assert!(seed != 1);
    }

    fn returns_an_error(seed) [.seeds(3)] {
        let output: Result<(), String> = if seed == 1 { Err("no quorum".into()) } else { Ok(()) };
        let result = output.into_result();
        assert_eq!(result, Ok(()), "the test returned an error");
    }

    fn starts_a_sweep(seed) [.seeds(2)] {
        assert_eq!(seed, 0);
        passes();
    }

    fn sets_a_global_subscriber(seed) [.seeds(5)] {
        tracing_subscriber::fmt().with_test_writer().init();
        tracing::info!("hello from {seed}");
        assert!(seed != 4, "shown");
    }

    fn logs(seed) [.seeds(2)] {
        tracing::info!(seed, "logged");
        tracing::debug!("not logged");
        assert!(seed != 1, "shown");
    }

    /// Everything that differs from run to run where runs are not hermetic.
    fn tells_all(seed) [.seeds(20)] {
        print!("{}", sources(seed));
        assert!(seed != 5 && seed != 17, "shown");
    }

    /// Passes or not by the parity of a static, which must be fresh for each seed.
    fn counts_in_a_static(seed) [.seeds(50)] {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        assert_eq!(RUNS.fetch_add(1, SeqCst), 0, "seed {seed} is not the first in its process");
    }

    /// Fit to run back to back, as far as anyone can see.
    fn has_a_hash(seed) [.seeds(3000)] {
        seed + 1
    }

    fn has_a_hash_and_fails(seed) [.seeds(3000)] {
        assert!(seed % 1000 != 999, "seed {seed} is bad");
        seed + 1
    }

    fn has_a_hash_and_aborts(seed) [.seeds(3000)] {
        if seed % 1000 == 999 {
            abort();
        }
        seed + 1
    }

    /// Looks fit to run back to back, until it has run some time.
    fn leaks_into_later_seeds(seed) [.seeds(3000)] {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        seed + 1 + RUNS.fetch_add(1, SeqCst) / 100
    }

    fn crashes_back_to_back(seed) [.seeds(3000)] {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        if RUNS.fetch_add(1, SeqCst) == 100 {
            abort();
        }
        seed + 1
    }

    fn takes_its_time(seed) [.seeds(1000)] {
        thread::sleep(Duration::from_millis(20));
    }
}

fn deep(n: u64) -> u64 {
    let frame = hint::black_box([n; 64]);
    if n == 0 { 0 } else { deep(n + 1) + frame[(n % 64) as usize] }
}

fn kill(pid: &str) {
    Command::new("kill").args(["-9", pid]).status().expect("kill runs");
    thread::sleep(Duration::from_secs(5));
}

#[expect(clippy::disallowed_types, reason = "the unordered map is what must repeat")]
fn sources(seed: u64) -> String {
    use std::collections::{HashMap, HashSet};
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let mut out = format!("runs before: {}\n", RUNS.fetch_add(1, SeqCst));
    let map: HashMap<u64, u64> = (0..20).map(|n| (n, seed)).collect();
    let set: HashSet<u64> = (0..20).collect();
    let ordered: BTreeMap<_, _> = map.iter().collect();
    let local = 0_u8;
    let (small, large) = (Box::new(1_u8), vec![1_u8; 1 << 20]);
    let spawned = thread::spawn(|| thread::current().id()).join();
    let _infallible = writeln!(out, "map: {:?}\nset: {set:?}", map.keys());
    let _infallible =
        writeln!(out, "addresses: {:p} {:p} {:p}", &*small, &*large, &raw const local);
    let _infallible =
        writeln!(out, "static: {:p}, function: {:p}", ptr::addr_of!(RUNS), sources as *const ());
    let _infallible = writeln!(out, "ordered: {:p}", *ordered.keys().next().unwrap());
    let _infallible = writeln!(out, "thread: {:?}, spawned: {spawned:?}", thread::current().name());
    out
}
