//! redb 4 through its own trait for storage: a [`Volume`] without files of std, and without a run.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use detsim_executor::Stream;
use detsim_fs::{CrashProfile, Errno, Handle, OpenFlags, Outcome, Volume, VolumeConfig};
use redb::{Database, StorageBackend};

use crate::redb_store::Redb;
use crate::trial::{Store, judge};

/// A machine with one file; the power goes before call number `calls_left`.
struct Machine {
    volume: Volume,
    file: Handle,
    calls_left: u64,
    lies: bool,
    stream: Stream,
}

thread_local! {
    /// The machine of this thread: the trait wants what it gets to be `Send`, which a volume is not.
    static MACHINE: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

fn open(volume: &mut Volume) -> Handle {
    let flags = OpenFlags { read: true, write: true, create: true, ..OpenFlags::default() };
    volume.open(Path::new("/store.redb"), flags, 0o644).expect("a volume without limits")
}

fn machine<R>(f: impl FnOnce(&mut Machine) -> R) -> R {
    MACHINE.with_borrow_mut(|machine| f(machine.as_mut().expect("a machine was set up")))
}

/// Makes a call, unless the power has gone.
fn call<R>(f: impl FnOnce(&mut Machine) -> Outcome<R>) -> io::Result<R> {
    let done = machine(|machine| {
        machine.calls_left = machine.calls_left.checked_sub(1).ok_or(Errno::EIO)?;
        f(machine)
    });
    done.map_err(|errno| io::Error::from_raw_os_error(errno.raw()))
}

#[derive(Debug)]
struct Backend;

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        call(|m| Ok(m.volume.handle_metadata(m.file)?.size))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let read = call(|m| m.volume.read_at(m.file, offset, out))?;
        if read < out.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        call(|m| m.volume.set_len(m.file, len))
    }

    fn sync_data(&self) -> io::Result<()> {
        call(|m| match m.lies && m.stream.below(10) == 0 {
            true => Ok(()),
            false => m.volume.fdatasync(m.file),
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let written = call(|m| m.volume.write_at(m.file, offset, data))?;
        assert_eq!(written, data.len(), "a volume without limits");
        Ok(())
    }
}

fn database() -> Result<Redb, String> {
    let made = Database::builder().set_cache_size(1 << 20).create_with_backend(Backend);
    made.map(Redb).map_err(|error| format!("redb: {error}"))
}

/// Three losses of power: what is wrong, where something is.
fn three_losses(seed: u64, profile: CrashProfile) -> Result<(), String> {
    let mut volume = Volume::new(VolumeConfig { profile, ..VolumeConfig::default() });
    let file = open(&mut volume);
    volume.sync_all();
    let lies = profile == CrashProfile::NoBarrier;
    let stream = Stream::named(seed, "power");
    MACHINE.set(Some(Machine { volume, file, calls_left: 0, lies, stream }));
    let mut acked = 0;
    for _ in 0..3 {
        machine(|m| m.calls_left = 20 + m.stream.below(200));
        let ended: Result<(), String> = database().and_then(|store| {
            acked = judge(&store, acked)?;
            loop {
                store.put(acked + 1)?;
                acked += 1;
            }
        });
        let went = machine(|m| m.calls_left == 0);
        if !went {
            return ended;
        }
        machine(|m| {
            let Machine { volume, stream, .. } = m;
            volume.crash(&mut |bound| stream.below(bound));
            m.file = open(&mut m.volume);
        });
    }
    Ok(())
}

fn broken(profile: CrashProfile, seeds: u64) -> Vec<(u64, String)> {
    (0..seeds).filter_map(|seed| Some((seed, three_losses(seed, profile).err()?))).collect()
}

#[test]
fn redb_keeps_everything_behind_its_trait_under_every_profile_that_is_honest() {
    for profile in CrashProfile::ALL.into_iter().filter(|p| *p != CrashProfile::NoBarrier) {
        let broken = broken(profile, 1000);
        assert!(broken.is_empty(), "{}: {:?}", profile.word(), &broken[..broken.len().min(3)]);
    }
}

#[test]
fn redb_behind_its_trait_loses_transactions_to_a_drive_that_lies() {
    let broken = broken(CrashProfile::NoBarrier, 1000);
    println!(
        "redb's trait, no_barrier: {} of 1000 seeds, such as: {:?}",
        broken.len(),
        broken.first()
    );
    assert!(!broken.is_empty());
}
