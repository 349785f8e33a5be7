//! fjall 3, on std's files, with its threads.

use detsim::Sim;
use detsim_fs::CrashProfile;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::trial::{Begins, Store, keeps, losses, name, value};

pub(crate) struct Fjall {
    database: Database,
    values: Keyspace,
}

fn said(error: fjall::Error) -> String {
    format!("fjall: {error:?}")
}

impl Store for Fjall {
    fn open() -> Result<Self, String> {
        let builder = Database::builder("/tmp/store").worker_threads(1).cache_size(1 << 20);
        let database = builder.open().map_err(said)?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(64 << 10);
        let values = database.keyspace("values", options).map_err(said)?;
        Ok(Self { database, values })
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(self.values.get(name).map_err(said)?.map(|found| found.to_vec()))
    }

    fn put(&self, number: u64) -> Result<(), String> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncAll));
        let value = value(number);
        batch.insert(&self.values, name(number), &*value);
        batch.insert(&self.values, "last", &*value);
        batch.commit().map_err(said)
    }
}

#[detsim::test(seeds = 1000, crate = "detsim")]
fn fjall_keeps_what_it_acknowledged_on_a_disk_that_keeps_order(sim: &mut Sim) {
    keeps::<Fjall>(sim, CrashProfile::Prefix, Begins::Later);
}

/// A finding: the journal has its length from the beginning, so that a batch that was never acknowledged
/// may be there with its end and without its middle. Where that batch is cut short, fjall cuts it off;
/// where its checksum is wrong, it does not open at all (and builds with debug assertions panic on the
/// lengths in it). No batch that was acknowledged is lost.
#[test]
fn fjall_does_not_open_after_a_batch_that_was_torn() {
    let lost = losses::<Fjall>(CrashProfile::Ext4Ordered, Begins::Later, 600);
    println!("fjall, ext4_ordered: {} of 600 seeds, such as: {:?}", lost.len(), lost.first());
    assert!(!lost.is_empty());
    let is_torn = |lost: &String| lost.contains("ChecksumMismatch") || lost.contains("a panic");
    assert!(lost.iter().all(is_torn), "{lost:?}");
}

#[test]
fn fjall_loses_transactions_to_a_drive_that_lies() {
    let lost = losses::<Fjall>(CrashProfile::NoBarrier, Begins::Later, 20);
    println!("fjall, no_barrier: {} of 20 seeds, such as: {:?}", lost.len(), lost.first());
    assert!(!lost.is_empty());
}

/// A finding, and not one about durability: `Database::create_new` makes its journal with
/// `File::create_new` and its `version` file last, so that a process which ends in between leaves a
/// directory in which every later open fails with `EEXIST`.
#[test]
fn fjall_is_never_opened_again_where_its_creation_was_cut_short() {
    let lost = losses::<Fjall>(CrashProfile::Prefix, Begins::AtOnce, 60);
    println!("fjall, made while the power goes: {} of 60 seeds", lost.len());
    assert!(lost.iter().any(|lost| lost.contains("AlreadyExists")), "{lost:?}");
}
