//! What a long run leaves in memory: bytes per operation on each peer, and detsim's limit.

use bench_common::Command;
use bench_common::catalog::MemoryCheck;

use crate::options::Options;
use crate::peers::{Built, OURS};
use crate::table::{ABSENT, Table, figure};

/// Runs every check that is asked for and writes the table; nothing when none is.
pub(crate) fn report(peers: &[Built], options: &Options) -> Result<String, String> {
    let heads = ["check", "bytes that stay, per"].into_iter();
    let heads = heads.chain(peers.iter().map(|peer| peer.name)).chain(["limit"]);
    let mut table = Table::new("Resident memory", heads);
    let mut rows = 0;
    for check in options.memory_checks() {
        let operations = options.scaled(check.operations);
        let mut cells = vec![check.name.to_owned(), check.operation.to_owned()];
        for peer in peers {
            let bytes = peer.ask(Command::Memory, check.name, operations)?;
            cells.push(bytes.map_or(Ok(ABSENT.to_owned()), |bytes| {
                cell(peer.name, check, parse_bytes(&bytes)? / operations as f64)
            })?);
        }
        cells.push(figure(check.bytes_max));
        table.push(cells);
        rows += 1;
    }
    Ok(if rows == 0 { String::new() } else { table.to_string() })
}

fn parse_bytes(text: &str) -> Result<f64, String> {
    text.parse::<i64>().map(|bytes| bytes as f64).map_err(|_| format!("not bytes: {text:?}"))
}

fn cell(peer: &str, check: &MemoryCheck, bytes: f64) -> Result<String, String> {
    let over = if peer == OURS && bytes > check.bytes_max { " OVER" } else { "" };
    Ok(format!("{}{over}", figure(bytes)))
}
