//! The store alone, on arbitrary bytes, and through its world.

mod recover;
mod store;
mod world;
