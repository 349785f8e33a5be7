//! The attributes of detsim: test and main
