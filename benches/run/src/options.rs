//! The command line: what to run, and how much of it.

use bench_common::catalog::{MEMORY_CHECKS, MemoryCheck, WORKLOADS, Workload};
use clap::Parser;

/// CPU time of one operation on detsim and on its peers, measured side by side.
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Options {
    /// Only what begins with one of these, e.g. yield,mpsc,memory
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,

    /// A tenth of the operations, three repeats: a look, not a figure to quote
    #[arg(long)]
    quick: bool,

    /// Measured runs of each workload on each peer, whose median is printed [default: 7]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,

    /// Also count instructions with callgrind: steadier than time, and slow
    #[arg(long)]
    pub(crate) count: bool,

    /// Also compare detsim compiled in the dev profile with its release build
    #[arg(long)]
    pub(crate) dev: bool,
}

impl Options {
    /// The workloads to run, in the catalog's order.
    pub(crate) fn workloads(&self) -> impl Iterator<Item = &'static Workload> {
        WORKLOADS.iter().filter(|workload| self.wants(workload.name))
    }

    /// The memory checks to run, in the catalog's order.
    pub(crate) fn memory_checks(&self) -> impl Iterator<Item = &'static MemoryCheck> {
        MEMORY_CHECKS.iter().filter(|check| self.wants(check.name))
    }

    pub(crate) fn repeats(&self) -> u32 {
        self.repeats.unwrap_or(if self.quick { 3 } else { 7 })
    }

    /// How many of a catalog entry's operations to do.
    pub(crate) fn scaled(&self, operations: u64) -> u64 {
        if self.quick { operations / 10 } else { operations }
    }

    /// A name that selects nothing is a typing mistake, which an empty table would hide.
    pub(crate) fn refuse_unknown_names(&self) -> Result<(), String> {
        let known = || {
            let workloads = WORKLOADS.iter().map(|workload| workload.name);
            workloads.chain(MEMORY_CHECKS.iter().map(|check| check.name))
        };
        match self.only.iter().find(|prefix| !known().any(|name| name.starts_with(*prefix))) {
            None => Ok(()),
            Some(prefix) => {
                let names = known().collect::<Vec<_>>().join(", ");
                Err(format!("--only {prefix}: nothing begins so; there are {names}"))
            }
        }
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|prefix| name.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::Options;
    use clap::Parser;

    fn options(words: &[&str]) -> Options {
        Options::try_parse_from([&["bench"], words].concat()).unwrap()
    }

    #[test]
    fn only_takes_prefixes_of_workloads_and_checks() {
        let options = options(&["--only", "yield-1,mem"]);
        let workloads: Vec<_> = options.workloads().map(|workload| workload.name).collect();
        assert_eq!(workloads, ["yield-10", "yield-100", "yield-10k", "yield-100k"]);
        assert_eq!(options.memory_checks().count(), 5);
    }

    #[test]
    fn a_prefix_of_nothing_is_refused_by_name() {
        let error = options(&["--only", "yeild"]).refuse_unknown_names().unwrap_err();
        assert!(
            error.starts_with("--only yeild: nothing begins so; there are yield-10,"),
            "{error}"
        );
    }

    #[test]
    fn zero_repeats_are_refused() {
        assert!(Options::try_parse_from(["bench", "--repeats", "0"]).is_err());
    }
}
