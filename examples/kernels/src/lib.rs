//! Small concurrency bugs as they stand in real projects, each with its cure.
//!
//! Every module is one bug, cut down to a page: `buggy` is the program as it was written, `fixed` the
//! same one as it should be. Both check themselves and panic where they are wrong; `buggy` passes
//! most of the time. They are ordinary programs on tokio and know nothing of being simulated: built
//! without `--cfg detsim` they run on tokio itself, where each passes for months. What detsim says of
//! each is kept in `tests/reports`.
//!
//! | module | what is wrong |
//! |---|---|
//! | [`ab_ba`] | two tasks take two locks in opposite order |
//! | [`abort_mid_transfer`] | a task is aborted between debit and credit |
//! | [`check_then_wait`] | a flag is read before the waiter listens |
//! | [`framed_select`] | a read that is cut off has taken a part of its frame |
//! | [`permit_leak_on_cancel`] | a slot is taken before anything exists that gives it back |
//! | [`relock`] | a method that holds a lock calls one that takes it |
//! | [`req_resp_full`] | all requests are sent before the first reply is read |
//! | [`ring3`] | three tasks, three locks, each takes its own and its neighbour's |
//! | [`rw_recursive_read`] | a reader reads again, behind a writer that waits for it |
//! | [`send_under_lock`] | a full channel is sent to under the lock that its receiver needs |
//! | [`toctou_await`] | a count is checked, then awaited over, then acted on |

pub mod ab_ba;
pub mod abort_mid_transfer;
pub mod check_then_wait;
pub mod framed_select;
pub mod permit_leak_on_cancel;
pub mod relock;
pub mod req_resp_full;
pub mod ring3;
pub mod rw_recursive_read;
pub mod send_under_lock;
pub mod toctou_await;
