//! Files of unmodified code as part of a run: time passes at calls, tasks are stopped before them, locks
//! are waited for, and nothing comes of what a dead process calls.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Duration;

use detsim_executor::{Failure, Node, Sim, blocking, context, yield_now};
use detsim_fs::{DiskConfig, Disks, PowerLoss};

fn node(sim: &Sim, power_rate: f64) -> (Rc<Disks>, Node) {
    super::link_in();
    let (disks, node) = (Disks::of(sim), sim.node("db"));
    let power = PowerLoss { rate: power_rate, ..PowerLoss::default() };
    disks.set_config(node.id(), DiskConfig { power, ..DiskConfig::default() });
    (disks, node)
}

#[test]
fn a_sync_takes_its_time_and_others_run_meanwhile() {
    let sim = Sim::new(1);
    let (_disks, node) = node(&sim, 0.0);
    let ticks = Rc::new(Cell::new(0));
    let ticking = Rc::clone(&ticks);
    drop(sim.spawn("ticker", async move {
        loop {
            detsim_executor::sleep_until(context::now() + Duration::from_micros(100)).await;
            ticking.set(ticking.get() + 1);
        }
    }));
    let seen = Rc::clone(&ticks);
    let task = node.spawn("db", async move {
        let mut file = File::create("/f").unwrap();
        file.write_all(b"x").unwrap();
        let (before, ticked) = (context::now(), seen.get());
        file.sync_all().unwrap();
        (context::now() - before, seen.get() - ticked)
    });
    let (took, ticked) = sim.block_on(task).unwrap().unwrap();
    assert!((Duration::from_millis(2)..Duration::from_millis(5)).contains(&took), "{took:?}");
    assert!((15..50).contains(&ticked), "{ticked}");
}

#[test]
fn a_clock_that_stands_still_is_not_moved_by_files() {
    let sim = Sim::new(1);
    let (_disks, node) = node(&sim, 0.0);
    let task = node.spawn("db", async {
        context::with(|kernel| kernel.pause_clock());
        let before = context::now();
        fs::write("/f", b"x").unwrap();
        File::open("/f").unwrap().sync_all().unwrap();
        context::now() - before
    });
    assert_eq!(sim.block_on(task).unwrap().unwrap(), Duration::ZERO);
}

/// Read, yield, write, twice at a time, without a lock: seeds that lose an update.
fn lost_updates(seeds: u64) -> usize {
    let loses = |seed| {
        let sim = Sim::new(seed);
        let (_disks, node) = node(&sim, 0.0);
        node.enter(|| fs::write("/n", b"0").unwrap());
        let add = || async {
            let starts_after = Duration::from_micros(context::choose(2000));
            detsim_executor::sleep_until(context::now() + starts_after).await;
            let n: u32 = fs::read_to_string("/n").unwrap().parse().unwrap();
            let file = File::options().write(true).open("/n").unwrap();
            file.write_all_at((n + 1).to_string().as_bytes(), 0).unwrap();
        };
        let tasks = [node.spawn("one", add()), node.spawn("two", add())];
        sim.block_on(async move {
            for task in tasks {
                task.await.unwrap();
            }
        })
        .unwrap();
        node.enter(|| fs::read_to_string("/n").unwrap()) != "2"
    };
    (0..seeds).filter(|seed| loses(*seed)).count()
}

#[test]
fn a_task_is_stopped_between_two_calls() {
    let lost = lost_updates(40);
    assert!((1..40).contains(&lost), "{lost} of 40");
}

#[test]
fn a_lock_of_a_file_is_waited_for() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let (_disks, node) = node(&sim, 0.0);
        let log = Rc::new(RefCell::new(Vec::new()));
        let locker = |name: &'static str| {
            let log = Rc::clone(&log);
            async move {
                let file = File::create("/lock").unwrap();
                file.lock().unwrap();
                log.borrow_mut().push((name, "in"));
                yield_now().await;
                assert!(file.try_lock_shared().is_ok(), "one's own lock can be changed");
                file.lock().unwrap();
                log.borrow_mut().push((name, "out"));
                file.unlock().unwrap();
            }
        };
        let tasks = ["a", "b", "c"].map(|name| node.spawn(name, locker(name)));
        sim.block_on(async move {
            for task in tasks {
                task.await.unwrap();
            }
        })
        .unwrap();
        assert_eq!(log.borrow().len(), 6);
    }
}

#[test]
fn two_locks_in_two_orders_are_a_deadlock_that_names_both() {
    let deadlocked = (0..50).find_map(|seed| {
        // Stacks are looked up under a lock of std, for which a run of another test would wait.
        let mut config = detsim_executor::SimConfig::default();
        config.brief = true;
        let sim = Sim::with_config(seed, config);
        let (_disks, node) = node(&sim, 0.0);
        let locker = |first: &'static str, second: &'static str| async move {
            let [first, second] = [first, second].map(|name| File::create(name).unwrap());
            first.lock().unwrap();
            second.lock().unwrap();
        };
        drop(node.spawn("forth", locker("/a", "/b")));
        drop(node.spawn("back", locker("/b", "/a")));
        match sim.run() {
            Err(Failure::Deadlock(deadlock)) => Some(deadlock.to_string()),
            other => {
                other.unwrap();
                None
            }
        }
    });
    let report = deadlocked.expect("one of 50 seeds deadlocks");
    assert!(report.contains("lock of a file"), "{report}");
    assert!(report.contains("forth") && report.contains("back"), "{report}");
    assert!(report.contains("cycle"), "{report}");
}

#[test]
fn a_lock_goes_with_its_file_and_with_its_process() {
    let sim = Sim::new(3);
    let (_disks, node) = node(&sim, 0.0);
    let task = node.spawn("one", async {
        let holder = File::create("/lock").unwrap();
        holder.lock().unwrap();
        let waiter =
            context::spawn("two", blocking(|| File::open("/lock").unwrap().lock().unwrap()));
        detsim_executor::sleep_until(context::now() + Duration::from_secs(1)).await;
        assert!(!waiter.is_finished());
        drop(holder);
        waiter.await.unwrap();
        let left = File::create("/lock").unwrap();
        left.lock().unwrap();
        std::mem::forget(left);
    });
    sim.block_on(task).unwrap().unwrap();
    node.kill();
    node.restart();
    let task = node.spawn("three", async { File::open("/lock").unwrap().try_lock().is_ok() });
    assert!(sim.block_on(task).unwrap().unwrap());
}

/// Locks a part of a file for this open file, or looks who has.
#[expect(unsafe_code, reason = "std has no function for locks of parts of files")]
fn range_lock(file: &File, command: i32, kind: i32, start: i64, len: i64) -> (i32, libc::flock) {
    // SAFETY: every field is a number, for which zeros are a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    (lock.l_type, lock.l_start, lock.l_len) = (kind as _, start, len);
    // SAFETY: the structure is valid for the call.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) };
    (done, lock)
}

#[test]
fn parts_of_a_file_are_locked_by_open_files() {
    let sim = Sim::new(3);
    let (_disks, node) = node(&sim, 0.0);
    let task = node.spawn("one", async {
        let open = || {
            let options =
                File::options().read(true).write(true).create(true).truncate(false).clone();
            options.open("/f").unwrap()
        };
        let (one, two) = (open(), open());
        assert_eq!(range_lock(&one, libc::F_OFD_SETLK, libc::F_WRLCK, 10, 10).0, 0);
        assert_eq!(range_lock(&two, libc::F_OFD_SETLK, libc::F_RDLCK, 0, 10).0, 0);
        assert_eq!(range_lock(&two, libc::F_OFD_SETLK, libc::F_RDLCK, 0, 11).0, -1);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN));
        let (_, found) = range_lock(&two, libc::F_OFD_GETLK, libc::F_WRLCK, 0, 0);
        assert_eq!((found.l_type as i32, found.l_start, found.l_len), (libc::F_WRLCK, 10, 10));
        let waits = move || range_lock(&two, libc::F_OFD_SETLKW, libc::F_WRLCK, 15, 0).0;
        let waiter = context::spawn("two", blocking(waits));
        detsim_executor::sleep_until(context::now() + Duration::from_secs(1)).await;
        assert!(!waiter.is_finished());
        assert_eq!(range_lock(&one, libc::F_OFD_SETLK, libc::F_UNLCK, 15, 0).0, 0);
        assert_eq!(waiter.await.unwrap(), 0);
    });
    sim.block_on(task).unwrap().unwrap();
}

/// Writes, syncs and renames until the power goes, and panics where a call fails.
fn store(acked: &Rc<Cell<u64>>) {
    for value in acked.get() + 1.. {
        let mut file = File::create("/new").unwrap();
        file.write_all(&value.to_le_bytes().repeat(300)).unwrap();
        file.sync_all().unwrap();
        fs::rename("/new", "/value").unwrap();
        File::open("/").unwrap().sync_all().unwrap();
        acked.set(value);
    }
}

fn stored() -> u64 {
    let bytes = match fs::read("/value") {
        Err(error) if error.kind() == ErrorKind::NotFound => return 0,
        read => read.unwrap(),
    };
    assert_eq!(bytes.len(), 2400);
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

#[test]
fn the_power_goes_at_calls_of_std_and_the_dead_do_nothing_more() {
    let mut losses = 0;
    for seed in 0..60 {
        let sim = Sim::new(seed);
        let (_disks, node) = node(&sim, 0.02);
        let (acked, boots) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let (of_db, of_boots) = (Rc::clone(&acked), Rc::clone(&boots));
        node.on_start(move || {
            of_boots.set(of_boots.get() + 1);
            let acked = Rc::clone(&of_db);
            drop(context::spawn("db", async move {
                let found = stored();
                assert!(found == acked.get() || found == acked.get() + 1, "{found} of {acked:?}");
                acked.set(found);
                store(&acked);
            }));
        });
        sim.run_for(Duration::from_secs(5)).unwrap();
        losses += boots.get() - 1;
    }
    assert!(losses > 100, "{losses}");
}

#[test]
fn what_a_destructor_of_a_dead_process_writes_is_not_written() {
    struct Writes;
    impl Drop for Writes {
        fn drop(&mut self) {
            assert!(fs::write("/said", b"I was here").is_err());
        }
    }
    let sim = Sim::new(1);
    let (_disks, node) = node(&sim, 0.0);
    drop(node.spawn("db", async {
        let _writes = Writes;
        std::future::pending::<()>().await;
    }));
    sim.run_for(Duration::from_millis(1)).unwrap();
    node.kill();
    node.restart();
    node.enter(|| assert!(!fs::exists("/said").unwrap()));
}
