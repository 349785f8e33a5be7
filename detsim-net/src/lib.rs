//! The simulated network of detsim.
//!
//! Owns: the directed link with its faults (`link.rs`), everything that is between nodes (`wire.rs`)
//! and the message network over it ([`Network`]). Does not own: virtual time, nodes, or what a
//! message means.
//!
//! # The model
//! Between two nodes there are two *links*, one each way; each delays, loses and duplicates by
//! itself, with draws from its own streams. A link is open or cut. A cut link drops or holds:
//! - *drops*: a message is lost if the link is cut when it is sent, or when it would arrive. A
//!   message that was on its way through the whole of a short partition arrives.
//! - *holds*: a message that would arrive waits, and comes with all the others, in the order in
//!   which they would have arrived, at the moment the link opens.
//!
//! # Example
//! ```
//! use detsim_executor::Sim;
//! use detsim_net::Network;
//!
//! let sim = Sim::new(7);
//! let (ping, pong) = (sim.node("ping").id(), sim.node("pong").id());
//! let network = Network::new(&sim);
//!
//! let back = network.clone();
//! network.register(pong, move |from, n: u32| back.send(pong, from, n + 1));
//! network.register(ping, |_, n| assert_eq!(n, 8));
//!
//! network.send(ping, pong, 7);
//! sim.run()?;
//! assert_eq!(network.stats().delivered, 2);
//! # Ok::<(), detsim_executor::Failure>(())
//! ```

#![forbid(unsafe_code)]

mod agenda;
mod dns;
mod errno;
mod faults;
mod flights;
mod host;
mod link;
mod links;
mod network;
mod node_set;
mod options;
mod rule;
mod settings;
mod sockets;
mod stats;
mod table;
mod tcp;
mod udp;
mod unix;
mod waits;
mod weather;
mod wire;

pub use dns::{Lookup, LookupError};
pub use faults::NetFaults;
pub use link::{Order, Partition};
pub use network::Network;
pub use node_set::NodeSet;
pub use options::{Family, Number, Options};
pub use rule::{Rule, Verdict};
pub use settings::LinkSettings;
pub use sockets::{Alias, Cut, Gone, How, Net, NetLink, RuleGuard, Socket, Sockets, Swizzle};
pub use stats::NetStats;
pub use tcp::calls::Readiness;
pub use unix::Whom;
pub use waits::{Side, Ticket};
