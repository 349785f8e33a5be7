//! Who is at the other end.
//!
//! Mirrors tokio's. Owns: [`UCred`]: all that is simulated is one process.

use std::os::unix::fs::MetadataExt;

use tokio::net::unix::{gid_t, pid_t, uid_t};

/// The credentials of a process.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub struct UCred {
    pid: pid_t,
    uid: uid_t,
    gid: gid_t,
}

impl UCred {
    /// Those of this process.
    pub(crate) fn own() -> std::io::Result<Self> {
        let process = std::fs::metadata("/proc/self")?;
        let pid = pid_t::try_from(std::process::id()).unwrap_or_default();
        Ok(Self { pid, uid: process.uid(), gid: process.gid() })
    }

    /// The user.
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// The group.
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// The process.
    pub fn pid(&self) -> Option<pid_t> {
        Some(self.pid)
    }
}
