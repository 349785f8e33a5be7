//! Threads of a simulation, for whoever defines the calls of the system that they make.
//!
//! Owns: the names of the doors. Does not own: what is behind them (`baton/`), nor the system's calls
//! themselves. Each is for the thread that holds the baton of a simulation, where [`is_programs`] says
//! that the call is the program's own ([`inside`] and [`blocked`] ask that themselves, and know of runs
//! that the thread does not drive just now); [`wake_from_elsewhere`] and
//! [`spawn_from_elsewhere`] are for all other threads, and for locks that several simulations share, [`outside`] for what the simulator does with the system on its
//! own account.

pub use crate::arrival::{lives_elsewhere, spawn_from_elsewhere};
pub use crate::attend::{Aside, aside, attend, attends, blocked, inside, is_over};
pub use crate::baton::{
    AtHome, Barred, Ticket, Woken, abandon, at_home, begin_thread, cancel_thread, end_workers,
    fail_call, is_gone, is_home, is_programs, is_unwinding, is_waited_for_elsewhere, join_thread,
    keep_threads_apart, leave_thread, move_waits, pass_time, sleep, visit, wait_at, wait_for_wake,
    wake_at, wake_from_elsewhere, yield_thread,
};
pub use crate::here::{OutsideMark, is_outside, is_started, outside};
