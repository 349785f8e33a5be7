//! The contract over tokio itself.

use ::tokio;

#[path = "calls.rs"]
mod calls;
#[path = "cells.rs"]
mod cells;
#[path = "channels.rs"]
mod channels;
#[path = "descriptors.rs"]
mod descriptors;
#[path = "facts.rs"]
mod facts;
#[path = "files.rs"]
mod files;
#[path = "local.rs"]
mod local;
#[path = "locks.rs"]
mod locks;
#[path = "moments.rs"]
mod moments;
#[path = "processes.rs"]
mod processes;
#[path = "runtime.rs"]
mod runtime;
#[path = "tasks.rs"]
mod tasks;
#[path = "tcp.rs"]
mod tcp;

pub(super) use calls::calls;
pub(super) use cells::run;
pub(super) use facts::{futures, halves, types};
