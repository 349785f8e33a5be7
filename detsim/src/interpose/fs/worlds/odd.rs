//! Calls that few programs make: nameless files, holes, copies within the system.
