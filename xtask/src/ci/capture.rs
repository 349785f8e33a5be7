//! The packets of a run in Wireshark, by its program for the command line.
//!
//! Owns: what `tshark` has to find in the file of the example. Does not own: the file, which the tests
//! of detsim read without it.

use crate::failure::{Failure, Result};
use crate::process;

/// Checksums are looked at only where one asks for it.
const CHECKS: [&str; 4] = [
    "-oip.check_checksum:TRUE",
    "-otcp.check_checksum:TRUE",
    "-oudp.check_checksum:TRUE",
    "-otcp.relative_sequence_numbers:TRUE",
];

/// A filter, and how many packets of the example it meets.
const FOUND: [(&str, usize); 8] = [
    ("frame", 30),
    ("_ws.malformed", 0),
    ("ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0", 0),
    ("tcp.flags.syn == 1 && tcp.flags.ack == 0", 4),
    ("tcp.flags.reset == 1", 2),
    ("tcp.analysis.retransmission", 1),
    ("icmp.code == 3 || icmpv6.code == 4", 2),
    ("frame.comment contains \"lost: a rule\"", 1),
];

/// Writes the packets of a small run and demands what is in it.
pub(super) fn check_packets() -> Result {
    if !super::full::answers("tshark", &["--version"]) {
        return Err(Failure::new("tshark is not found; install it (it comes with Wireshark)"));
    }
    let file = process::target_dir().join("trace.pcapng");
    let example = ["run", "--quiet", "--package=detsim", "--example=trace_pcap", "--"];
    process::run(process::cargo(&example).arg(&file))?;
    for (filter, expected) in FOUND {
        let mut tshark = process::program("tshark");
        tshark.arg("-r").arg(&file).args(CHECKS).args(["-Y", filter]);
        let found = process::output(&mut tshark)?.lines().count();
        if found != expected {
            return Err(Failure::new(format!(
                "tshark finds {found} packets of `{filter}`, which are {expected}"
            )));
        }
    }
    Ok(())
}
