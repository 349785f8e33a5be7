//! redb 4, on std's files.

use detsim::Sim;
use detsim_fs::CrashProfile;
use redb::{Database, Durability, ReadableDatabase, TableDefinition};

use crate::trial::{Begins, Store, keeps, losses, name, value};

const TABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("values");

pub(crate) struct Redb(pub(crate) Database);

fn said(error: impl Into<redb::Error>) -> String {
    let error: redb::Error = error.into();
    format!("redb: {error}")
}

impl Store for Redb {
    fn open() -> Result<Self, String> {
        let mut builder = Database::builder();
        builder.set_cache_size(1 << 20).create("/tmp/store.redb").map(Self).map_err(said)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let read = self.0.begin_read().map_err(said)?;
        let table = match read.open_table(TABLE) {
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
            table => table.map_err(said)?,
        };
        Ok(table.get(name).map_err(said)?.map(|found| found.value().to_vec()))
    }

    fn put(&self, number: u64) -> Result<(), String> {
        let mut write = self.0.begin_write().map_err(said)?;
        write.set_durability(Durability::Immediate).map_err(said)?;
        {
            let mut table = write.open_table(TABLE).map_err(said)?;
            let value = value(number);
            table.insert(&*name(number), &*value).map_err(said)?;
            table.insert("last", &*value).map_err(said)?;
        }
        write.commit().map_err(said)
    }
}

#[detsim::test(seeds = 1000, crate = "detsim")]
fn redb_keeps_what_it_acknowledged_on_ext4(sim: &mut Sim) {
    keeps::<Redb>(sim, CrashProfile::Ext4Ordered, Begins::Later);
}

#[detsim::test(seeds = 1000, crate = "detsim")]
fn redb_keeps_what_it_acknowledged_where_names_and_sizes_are_logged(sim: &mut Sim) {
    keeps::<Redb>(sim, CrashProfile::MetadataLog, Begins::Later);
}

/// A finding, which matters on file systems alone that promise no more than POSIX: redb syncs its file and
/// never the directory that the file is new in, so that the name may be gone, and everything with it.
#[test]
fn redb_does_not_sync_the_name_of_a_new_file() {
    let lost = losses::<Redb>(CrashProfile::Posix, Begins::Later, 100);
    println!("redb, posix: {} of 100 seeds, such as: {:?}", lost.len(), lost.first());
    assert!(!lost.is_empty());
    assert!(lost.iter().all(|lost| lost.ends_with("are lost")), "{lost:?}");
}

/// A finding, and not one about durability: redb gives a new file its length before its magic number, so
/// that a process which ends in between leaves a file that every later open takes for no database.
#[test]
fn redb_is_never_opened_again_where_its_creation_was_cut_short() {
    let lost = losses::<Redb>(CrashProfile::Prefix, Begins::AtOnce, 300);
    println!("redb, made while the power goes: {} of 300 seeds", lost.len());
    assert!(!lost.is_empty());
    assert!(lost.iter().all(|lost| lost.contains("magic number mismatch")), "{lost:?}");
}

#[test]
fn redb_loses_transactions_to_a_drive_that_lies() {
    let lost = losses::<Redb>(CrashProfile::NoBarrier, Begins::Later, 200);
    println!("redb, no_barrier: {} of 200 seeds, such as: {:?}", lost.len(), lost.first());
    assert!(!lost.is_empty());
}
