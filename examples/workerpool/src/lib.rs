//! Four workers take jobs from one channel, book them in a ledger, and shut down when all is done.
//!
//! Owns: an ordinary tokio program, of the kind that passes every test and fails once a month; and
//! [`Bug`], three mistakes that can be switched on. Does not know that it is simulated: built
//! without `--cfg detsim` it is a program on tokio. The rule that keeps it right: the ledger is
//! locked before the journal, and nobody looks, lets go and then acts on what was seen.

mod bug;
mod pool;

pub use bug::Bug;
pub use pool::{Job, Pool, Summary, run};
