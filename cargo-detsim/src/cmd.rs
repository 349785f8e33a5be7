//! The commands, one a file.

pub(crate) mod test;
