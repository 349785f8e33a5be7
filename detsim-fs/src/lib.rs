//! The simulated disk of detsim: an atom log, survivors of a crash, FaultyStorage
