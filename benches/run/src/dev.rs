//! detsim in the dev profile, as a user's plain `cargo test` compiles it: the user's crate without
//! optimisation, our crates at opt-level 3 (`[profile.dev.package]` of this workspace).

use bench_common::catalog::Workload;

use crate::options::Options;
use crate::peers::{Built, OURS, PEERS, Profile};
use crate::table::{ABSENT, Table, figure};
use crate::times::{measure, middle};

/// The workloads whose dev figure has a limit, and the most times that it may be the release one.
const LIMITS: &[(&str, f64)] = &[("yield-100", 3.0), ("mpsc", 3.0)];

/// Measures both builds side by side; nothing when no workload with a limit is asked for.
pub(crate) fn report(peers: &[Built], options: &Options) -> Result<String, String> {
    let limit = |workload: &Workload| LIMITS.iter().find(|(name, _)| *name == workload.name);
    let limited: Vec<_> =
        options.workloads().filter_map(|one| Some((one, limit(one)?.1))).collect();
    let release = peers.iter().find(|peer| peer.name == OURS);
    let (Some(release), Some(ours)) = (release, PEERS.iter().find(|peer| peer.name == OURS)) else {
        return Ok(String::new());
    };
    let dev = ours.build(Profile::Dev)?;
    let heads = ["workload", "operation", "release", "dev", "dev/release", "limit"];
    let mut table = Table::new("detsim, CPU ns per operation, dev profile and release", heads);
    for (workload, limit) in limited {
        let samples = measure(&[release, &dev], workload, options)?;
        let [release, dev] = [&samples[0], &samples[1]].map(middle);
        table.push(row(workload, release, dev, limit));
    }
    Ok(table.to_string())
}

fn row(workload: &Workload, release: Option<f64>, dev: Option<f64>, limit: f64) -> Vec<String> {
    let ratio = release.zip(dev).map(|(release, dev)| dev / release);
    let over = if ratio.is_some_and(|ratio| ratio > limit) { " OVER" } else { "" };
    let written = |value: Option<f64>| value.map_or(ABSENT.to_owned(), figure);
    vec![
        workload.name.to_owned(),
        workload.operation.to_owned(),
        written(release),
        written(dev),
        format!("{}{over}", written(ratio)),
        figure(limit),
    ]
}
