//! The contract over tokio itself.

use ::tokio;

#[path = "cells.rs"]
mod cells;
#[path = "channels.rs"]
mod channels;
#[path = "facts.rs"]
mod facts;
#[path = "locks.rs"]
mod locks;
#[path = "moments.rs"]
mod moments;
#[path = "runtime.rs"]
mod runtime;
#[path = "tasks.rs"]
mod tasks;

pub(super) use cells::run;
pub(super) use facts::{futures, types};
