//! The disk held to specifications that share no code with it.

mod determinism;
mod explained;
mod mistakes;
mod model;
mod ops;
mod spec;
mod volume;
