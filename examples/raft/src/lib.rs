//! Five Raft nodes on the simulated network
