//! The store alone, on arbitrary bytes, and through its world.

mod planted;
mod recover;
mod store;
mod world;
