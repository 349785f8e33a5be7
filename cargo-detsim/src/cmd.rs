//! The commands, one a file.

pub(crate) mod build;
pub(crate) mod minimize;
