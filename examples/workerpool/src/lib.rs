//! Four workers on the channels of the shim
