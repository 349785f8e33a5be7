//! Reading and writing.
//!
//! Mirrors `tokio::io`. The traits and the adapters are tokio's own. Owns what waits, or should let
//! others run: streams in memory, the standard streams, descriptors of the system, readers and writers that are always ready, and
//! copying.

#[cfg(feature = "io-util")]
mod always;
#[cfg(feature = "io-util")]
mod copy;
#[cfg(feature = "io-util")]
mod memory;
#[cfg(all(feature = "net", target_os = "linux"))]
pub(crate) mod outside;
#[cfg(feature = "io-std")]
mod std_streams;
#[cfg(all(feature = "net", target_os = "linux"))]
pub mod unix;

pub use tokio::io::*;

#[cfg(feature = "io-util")]
pub use always::{Empty, Repeat, Sink, empty, repeat, sink};
#[cfg(feature = "io-util")]
pub use copy::{copy, copy_buf};
#[cfg(feature = "io-util")]
pub use memory::{DuplexStream, SimplexStream, duplex, simplex};
#[cfg(feature = "io-std")]
pub use std_streams::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
