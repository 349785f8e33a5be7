//! The kernel of detsim: a seeded executor that runs async code on one thread at a time, in an
//! order drawn from the seed, on virtual time.
//!
//! Start with [`Sim`]: a simulated world. What runs in it is spawned as tasks, or scheduled as
//! callbacks; what is not determined is drawn through [`choice::Choices`]; what waits is known to
//! [`block`], so that a deadlock is reported at once, with who holds what.
//!
//! The kernel knows no tokio, no network and no disk, reads no environment and no wall clock.
#![deny(unsafe_code)]

mod arrival;
mod attend;
mod baton;
pub mod block;
mod bound;
mod budget;
pub mod choice;
mod clock;
pub mod context;
mod deadlock;
mod decide;
mod deferred;
mod device;
pub mod event;
mod failure;
mod families;
mod fence;
pub mod group;
mod here;
mod join;
mod kernel;
mod ladder;
mod lane;
mod limits;
mod lost;
mod names;
mod node;
mod queue;
pub mod rng;
mod run;
pub mod scheduler;
mod signal;
mod sim;
mod site;
mod sleep;
mod slot;
mod slots;
pub mod stack;
mod task;
pub mod threads;
pub mod time;
mod timer;
pub mod trace;
mod turn;
mod waker;

pub use baton::{Blocking, Hold, block_in_place, block_on, blocking, may_block};
pub use block::{Block, Object, OpKind, Party, ResourceKind, Role, TaskTag, Waiter};
pub use bound::{Bound, In, Own};
pub use choice::{Anchor, Choice, ChoiceNote, Choices, Decided, Domain};
pub use deadlock::{BlockedTask, Deadlock, Held, PartyShown, WaitsFor};
pub use device::Device;
pub use event::{Event, NodeId, TaskNumber};
pub use failure::{Failure, LimitReached, Panicked, Where};
pub use families::Families;
pub use group::GroupId;
pub use join::{AbortHandle, JoinHandle};
pub use kernel::{Kernel, Preempt, SimConfig};
pub use limits::Limits;
pub use lost::{JoinError, message_of};
pub use node::{NodeFaults, NodeState, Skew};
pub use queue::DeviceId;
pub use rng::{Ratio, Stream};
pub use scheduler::{Scheduler, Strategy};
pub use signal::{Handler, SIGINT, raise, raise_unasked};
pub use sim::{Node, Report, Sim};
pub use sleep::{Sleep, YieldNow, sleep_until, sleep_until_shown, yield_now, yield_with};
pub use time::SimTime;
pub use timer::Deadline;
pub use trace::{RunHash, Trace};
pub use waker::{nobody, storable};
