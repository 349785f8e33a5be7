//! Files: programs that see the same on real tokio over a real disk and in the simulation, under many
//! schedules; and what only a simulation can show.

use detsim_executor::{Sim, context};
use detsim_fs::{DiskConfig, Disks, VolumeConfig};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

mod real;
mod simulated;
mod user;

/// A directory of the real disk, taken away at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let dir = std::env::temp_dir().join(format!("detsim-fs-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).unwrap();
        Self(dir)
    }

    /// The largest size of a file on the real disk, of those that the simulated one is told.
    fn file_bytes_max(&self) -> u64 {
        let ext4 = VolumeConfig::default().file_bytes_max;
        let probe = std::fs::File::create(self.0.join("probe")).unwrap();
        if probe.set_len(ext4 + 1).is_ok() { i64::MAX as u64 } else { ext4 }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// As a user whom the modes of files bind, on a thread of its own.
fn on_a_real_disk(dir: &Path, program: real::Program) -> real::Seen {
    let dir = dir.to_owned();
    let thread = std::thread::spawn(move || {
        user::be_nobody();
        std::fs::create_dir(&dir).unwrap();
        let mut builder = ::tokio::runtime::Builder::new_current_thread();
        builder.on_thread_start(user::be_nobody).build().unwrap().block_on(program(dir))
    });
    thread.join().unwrap()
}

fn in_a_run(seed: u64, file_bytes_max: u64, program: simulated::Program) -> simulated::Seen {
    let sim = Sim::new(seed);
    let volume = VolumeConfig { file_bytes_max, ..VolumeConfig::default() };
    Disks::of(&sim).set_defaults(DiskConfig { volume, ..DiskConfig::default() });
    let seen = sim.block_on(async move {
        std::fs::create_dir("/data").unwrap();
        program(PathBuf::from("/data")).await
    });
    seen.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"))
}

#[test]
fn programs_see_the_same_on_a_real_disk_and_in_the_simulation() {
    let scratch = Scratch::new();
    let file_bytes_max = scratch.file_bytes_max();
    let (simulated, real) = (simulated::everything(), real::everything());
    assert!(real.len() >= 86, "{} programs", real.len());
    let mut different = Vec::new();
    let mut errnos = BTreeSet::new();
    for ((name, simulated), (_, real)) in simulated.into_iter().zip(real) {
        let expected = on_a_real_disk(&scratch.0.join(name), real);
        errnos.extend(expected.iter().filter_map(|seen| errno_in(seen)));
        for seed in 0..3 {
            let seen = in_a_run(seed, file_bytes_max, simulated);
            let pairs = seen.iter().zip(&expected);
            different.extend(
                pairs.filter(|(seen, expected)| seen != expected).map(|(seen, expected)| {
                    format!("{name}, seed {seed}: {seen}; real: {expected}")
                }),
            );
            if seen.len() != expected.len() {
                different.push(format!("{name}: {} calls; real: {}", seen.len(), expected.len()));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    let missing: Vec<i32> = ERRNOS.into_iter().filter(|errno| !errnos.contains(errno)).collect();
    assert!(missing.is_empty(), "no program shows these errors: {missing:?}");
}

/// The errors of files that a program of tokio's can provoke anywhere. Those that need a system of their own
/// are compared where libc's calls are: too many open files, a full disk, too many names, no place to write.
const ERRNOS: [i32; 13] = [
    libc::EACCES,
    libc::EBADF,
    libc::EEXIST,
    libc::EFBIG,
    libc::EINVAL,
    libc::EISDIR,
    libc::ELOOP,
    libc::ENAMETOOLONG,
    libc::ENOENT,
    libc::ENOTDIR,
    libc::ENOTEMPTY,
    libc::EPERM,
    libc::EXDEV,
];

/// The number of the error that a program saw.
fn errno_in(seen: &str) -> Option<i32> {
    let (_, rest) = seen.split_once(" Some(")?;
    rest.split_once(')')?.0.parse().ok()
}

#[test]
fn a_write_that_was_not_flushed_may_not_be_there_yet() {
    use detsim_shim_tokio as tokio;
    use tokio::io::AsyncWriteExt;
    let seen = Rc::new(RefCell::new(BTreeSet::new()));
    for seed in 0..40 {
        let note = Rc::clone(&seen);
        let sim = Sim::new(seed);
        sim.block_on(async move {
            let mut file = tokio::fs::File::create("/tmp/f").await.unwrap();
            file.write_all(b"hello").await.unwrap();
            // At this moment, not when a call has taken its time.
            let disks = Disks::current().unwrap();
            let there = disks.at_once(|| std::fs::read("/tmp/f").unwrap().len());
            note.borrow_mut().insert(there);
            file.flush().await.unwrap();
            assert_eq!(std::fs::read("/tmp/f").unwrap(), b"hello");
        })
        .unwrap();
    }
    assert!(seen.borrow().contains(&0), "{seen:?}");
}

#[test]
fn calls_take_virtual_time() {
    use detsim_shim_tokio as tokio;
    let sim = Sim::new(1);
    sim.block_on(async {
        let before = context::now();
        let file = tokio::fs::File::create("/tmp/f").await.unwrap();
        file.sync_all().await.unwrap();
        let took = context::now().as_nanos() - before.as_nanos();
        assert!((2_000_000..10_000_000).contains(&took), "{took}");
    })
    .unwrap();
}

#[test]
fn what_was_not_synced_is_gone_with_the_power() {
    use detsim_shim_tokio as tokio;
    let mut outcomes = [0; 2];
    for seed in 0..100 {
        let sim = Sim::new(seed);
        let node = sim.node("db");
        drop(node.spawn("writer", async {
            tokio::fs::write("/kept", "kept").await.unwrap();
            tokio::fs::File::open("/kept").await.unwrap().sync_all().await.unwrap();
            tokio::fs::File::open("/").await.unwrap().sync_all().await.unwrap();
            tokio::fs::write("/lost", "lost?").await.unwrap();
            std::future::pending::<()>().await;
        }));
        sim.run_until(detsim_executor::SimTime::from_millis(50)).unwrap();
        node.crash();
        node.restart();
        node.enter(|| {
            assert_eq!(std::fs::read("/kept").unwrap(), b"kept", "seed {seed}");
            outcomes[usize::from(std::fs::read("/lost").is_ok())] += 1;
        });
    }
    assert!(outcomes.iter().all(|count| *count > 10), "{outcomes:?}");
}
