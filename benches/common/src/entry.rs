//! The command line and the measuring loop of a peer program.
//!
//! ```text
//! tokio-peer measure yield-100 1000000    one warm-up, then one measured run
//! tokio-peer once yield-100 10000         one run and nothing else, for callgrind
//! tokio-peer memory memory-parked 100000  bytes that the process has grown by
//! ```
//! Prints one line: a [`Sample`], a number of bytes, or `absent` where the peer has no such
//! workload.

use std::process::ExitCode;

use crate::clock::{cpu_ns, stay_on_one_cpu};
use crate::sample::{Sample, Work};

/// What a peer can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Run once to warm up, then once measured.
    Measure,
    /// Run once, measured: callgrind would count a warm-up too.
    Once,
    /// Run a memory check.
    Memory,
}

impl Command {
    /// The word of the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Measure => "measure",
            Self::Once => "once",
            Self::Memory => "memory",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Measure, Self::Once, Self::Memory].into_iter().find(|one| one.word() == word)
    }
}

/// The whole `main` of a peer: `run` does so many operations of a workload, `memory` runs a memory
/// check of so many operations and returns the growth in bytes. Both return `None` for a name that
/// the peer does not have.
pub fn peer_main(
    run: fn(&str, u64) -> Option<Work>,
    memory: fn(&str, u64) -> Option<i64>,
) -> ExitCode {
    let Some((command, name, operations)) = parse_arguments() else {
        eprintln!("usage: (measure | once | memory) NAME OPERATIONS");
        return ExitCode::from(2);
    };
    stay_on_one_cpu();
    let answer = match command {
        Command::Memory => memory(&name, operations).map(|bytes| bytes.to_string()),
        Command::Once => measure(run, &name, operations),
        Command::Measure => {
            run(&name, operations).and_then(|_warm_up| measure(run, &name, operations))
        }
    };
    println!("{}", answer.as_deref().unwrap_or("absent"));
    ExitCode::SUCCESS
}

fn parse_arguments() -> Option<(Command, String, u64)> {
    let mut arguments = std::env::args().skip(1);
    let command = Command::parse(&arguments.next()?)?;
    let name = arguments.next()?;
    let operations = arguments.next()?.parse().ok()?;
    Some((command, name, operations))
}

fn measure(run: fn(&str, u64) -> Option<Work>, name: &str, operations: u64) -> Option<String> {
    let before = cpu_ns();
    let work = run(name, operations)?;
    let cpu_ns = cpu_ns() - before;
    Some(Sample { work, cpu_ns }.to_string())
}
