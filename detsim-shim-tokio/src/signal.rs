//! Signals, simulated: a node is a process, and the scenario sends it one.
//!
//! Mirrors `tokio::signal`. Owns: [`ctrl_c`] and, in [`unix`], the rest. Does not own: who sends signals:
//! `Node::ctrl_c` and `Node::signal` do, and the program itself by `kill` and `raise`. No signal from
//! elsewhere ever arrives here.

mod listener;
mod outside;
pub mod unix;

use listener::Listener;
use std::io;

/// Waits until the node is sent the signal of a key that interrupts. From the first call on, that signal
/// does not end the node any more.
///
/// # Errors
/// None.
///
/// # Panics
/// Outside of a runtime, in tokio's words.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::signal::ctrl_c;
/// let sim = detsim_executor::Sim::new(7);
/// let node = sim.node("n1");
/// let server = node.spawn("server", async { ctrl_c().await });
/// sim.after(std::time::Duration::from_secs(1), move || node.ctrl_c());
/// sim.run().unwrap();
/// assert!(server.is_finished());
/// ```
pub async fn ctrl_c() -> io::Result<()> {
    Listener::of(detsim_executor::SIGINT).recv().await;
    Ok(())
}
