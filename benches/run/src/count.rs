//! Instructions per operation, counted by callgrind: the same figure on a busy machine and on an
//! idle one.
//!
//! Each workload is run at two sizes and the difference divided, so that start-up and tear-down
//! leave the figure. Locked instructions (callgrind's global bus events) are worth some 30 to 50
//! plain ones each, which is why they have a figure of their own.

use bench_common::Command;
use bench_common::catalog::{INSTRUCTIONS_MAX, Workload};

use crate::options::Options;
use crate::peers::{Built, OURS};
use crate::table::{ABSENT, Table, compared, figure};

const CALLGRIND: &[&str] =
    &["valgrind", "--tool=callgrind", "--collect-bus=yes", "--callgrind-out-file=/dev/null"];

/// What callgrind collected over one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    instructions: u64,
    locked: u64,
}

/// Counts every workload that is asked for; says so where valgrind is missing.
pub(crate) fn report(peers: &[Built], options: &Options) -> Result<String, String> {
    if std::process::Command::new("valgrind").arg("--version").output().is_err() {
        return Ok("No counts: valgrind is not installed (apt-get install valgrind).\n".to_owned());
    }
    let heads = ["workload", "operation"].into_iter().chain(peers.iter().map(|peer| peer.name));
    let title = "Instructions per operation (locked ones among them), the difference of two sizes";
    let (mut table, mut limits) = (Table::new(title, heads), String::new());
    for workload in options.workloads() {
        let mut cells = vec![workload.name.to_owned(), workload.operation.to_owned()];
        for peer in peers {
            let counted = counted(peer, workload)?;
            cells.push(counted.map_or(ABSENT.to_owned(), |(instructions, locked)| {
                format!("{} ({})", figure(instructions), figure(locked))
            }));
            if let Some((instructions, _)) = counted.filter(|_| peer.name == OURS) {
                limits.extend(limit(workload.name, instructions));
            }
        }
        table.push(cells);
    }
    Ok(format!("{table}{limits}"))
}

/// A line that holds a figure of ours against its bound, where it has one.
fn limit(name: &str, instructions: f64) -> Option<String> {
    let (_, most) = INSTRUCTIONS_MAX.iter().find(|(of, _)| *of == name)?;
    let is = compared(instructions, *most);
    Some(format!("{name}: {OURS} {} {is} {}\n", figure(instructions), figure(*most)))
}

/// Instructions of one operation, and the locked ones among them.
fn counted(peer: &Built, workload: &Workload) -> Result<Option<(f64, f64)>, String> {
    let [small, big] = workload.counted;
    let (Some(least), Some(most)) = (count(peer, workload, small)?, count(peer, workload, big)?)
    else {
        return Ok(None);
    };
    let operations = (big - small) as f64;
    let per_operation = |most: u64, least: u64| (most as f64 - least as f64) / operations;
    let instructions = per_operation(most.instructions, least.instructions);
    let locked = per_operation(most.locked, least.locked);
    Ok(Some((instructions, locked)))
}

fn count(peer: &Built, workload: &Workload, operations: u64) -> Result<Option<Counts>, String> {
    let output = peer.output_under(CALLGRIND, Command::Once, workload.name, operations)?;
    let Some(output) = output else { return Ok(None) };
    if output.stdout.starts_with(b"absent") {
        return Ok(None);
    }
    parse_counts(&String::from_utf8_lossy(&output.stderr)).map(Some)
}

/// Finds `==1234== Collected : 4869002 6193` in what callgrind said.
fn parse_counts(said: &str) -> Result<Counts, String> {
    let collected = said.lines().find_map(|line| line.split_once("Collected :"));
    let numbers = collected.map(|(_, numbers)| numbers.split_whitespace().map(str::parse));
    match numbers.into_iter().flatten().collect::<Result<Vec<u64>, _>>().as_deref() {
        Ok(&[instructions, locked]) => Ok(Counts { instructions, locked }),
        _ => Err(format!("callgrind did not say what it collected:\n{said}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, parse_counts};

    #[test]
    fn the_collected_line_is_found_among_the_rest() {
        let said = "==7== Events    : Ir Ge\n==7== Collected : 4869002 6193\n==7== \n";
        assert_eq!(parse_counts(said), Ok(Counts { instructions: 4_869_002, locked: 6_193 }));
    }

    #[test]
    fn without_bus_events_there_is_no_count() {
        assert!(parse_counts("==7== Collected : 4869002\n").is_err());
        assert!(parse_counts("").is_err());
    }
}
