//! The Rust of README.md as documentation tests: what a newcomer copies compiles.
//!
//! Holds no code of its own, and nothing depends on it.
#![doc = include_str!("../../README.md")]
