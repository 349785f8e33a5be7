//! What failing runs leave on disk: `<test>/<seed>/` with `report.txt`, `choices.bin`, `env.toml`
//! and `trace.bin`; once a run was minimised, `minimized.bin`, `minimized-trace.bin` and, for people,
//! `minimized.txt`.
//!
//! Owns: where the records are ([`store`]), the file of choices ([`tape`]) and the file that says
//! what is needed to run them again (`env`). Does not own: the texts of reports, nor the format
//! of traces. Invariants: a file that cannot be read is an error that says why and what to do, never
//! a panic; a directory that cannot be written costs the record, not the sweep.

pub(crate) mod env;
pub(crate) mod store;
pub(crate) mod tape;
