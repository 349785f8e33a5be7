//! Directed links, faults and the message network of detsim
