//! Storage engines from the registry, unmodified, through std's files or through a storage trait of
//! their own, on a disk that loses its power.

mod backend;
mod fjall_store;
mod redb_store;
mod trial;
