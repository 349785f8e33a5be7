//! The network as a scenario uses it.

mod determinism;
mod faults;
mod keepalive;
mod life;
mod misuse;
mod names;
mod netstat;
mod nodes;
mod own_host;
mod ports;
mod probes;
mod shapes;
mod tcp;
mod usual;
mod weather;
mod world;
