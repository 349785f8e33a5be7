//! `trace`: a recorded run as a timeline, in numbers, beside another, or exported.
//!
//! Owns the spelling of the flags, and whether there is colour. What is shown is the library's:
//! `detsim::trace` turns a trace and options into text, and this file prints it.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use detsim::SimTime;
use detsim::trace::{
    self, DiffOptions, EventKind, ExportOptions, Format, Recorded, StatsOptions, ViewOptions,
};

use crate::failure::{Failure, Result};

/// Show a recorded run: the directory of a failure, or the trace in it.
#[derive(Args, Debug)]
pub struct Trace {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    View(View),
    Diff(Diff),
    Stats(Stats),
    Export(Export),
}

/// The timeline, a row an event, a page at a time.
#[derive(Args, Debug)]
struct View {
    /// The directory of a failure, or its trace.
    path: PathBuf,
    /// Only what happened to this task: its name or its number.
    #[arg(long)]
    task: Option<String>,
    /// Only what happened on this node.
    #[arg(long)]
    node: Option<String>,
    /// Only events of this kind; may be given more than once.
    #[arg(long, value_parser = PossibleValuesParser::new(EventKind::ALL.map(EventKind::word)))]
    kind: Vec<String>,
    /// Nothing before this moment of virtual time: `1.5s`, `200ms`, `7us`, `50ns`.
    #[arg(long, value_parser = moment)]
    since: Option<SimTime>,
    /// Nothing after this moment of virtual time.
    #[arg(long, value_parser = moment)]
    until: Option<SimTime>,
    /// Nothing before this step.
    #[arg(long, default_value_t = 0)]
    from: u32,
    /// Pass over so many of the events that are left.
    #[arg(long, default_value_t = 0)]
    skip: usize,
    /// How many events to show.
    #[arg(long, default_value_t = 40)]
    first: usize,
}

/// Two runs: the decisions that they share, and the first event in which they differ.
#[derive(Args, Debug)]
struct Diff {
    /// One run; of a failure and its minimised form, the original.
    a: PathBuf,
    /// The other; if it is left out, the minimised form beside the first.
    b: Option<PathBuf>,
    /// How many events to show around the difference.
    #[arg(long, default_value_t = 5)]
    window: usize,
}

/// Picks by task, waits by reason, jumps of time, messages and faults by link.
#[derive(Args, Debug)]
struct Stats {
    /// The directory of a failure, or its trace.
    path: PathBuf,
    /// The most rows of a table.
    #[arg(long, default_value_t = 20)]
    rows: usize,
}

/// The trace for other tools, on standard output or in a file.
#[derive(Args, Debug)]
struct Export {
    /// The directory of a failure, or its trace.
    path: PathBuf,
    /// Every event as data, a timeline for ui.perfetto.dev, a page for a browser, or the packets for
    /// Wireshark (pcapng: headers and lengths, without the bytes of the program).
    #[arg(long)]
    format: ExportFormat,
    /// The minimised form of the run: the decisions that it keeps are marked in the page [default:
    /// the one beside the trace, where it is of the same seed].
    #[arg(long)]
    minimized: Option<PathBuf>,
    /// Where to write to.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExportFormat {
    Json,
    Perfetto,
    Html,
    Pcap,
}

impl Trace {
    /// Prints what was asked for.
    ///
    /// # Errors
    /// Where a trace cannot be read, or a file not be written.
    pub fn run(&self) -> Result {
        match &self.command {
            Command::View(view) => print(&trace::view(&read(&view.path)?, &view.options())),
            Command::Diff(diff) => diff.run(),
            Command::Stats(stats) => {
                let mut options = StatsOptions::default();
                options.rows = stats.rows;
                print(&trace::stats(&read(&stats.path)?, &options))
            }
            Command::Export(export) => export.run(),
        }
    }
}

impl View {
    fn options(&self) -> ViewOptions {
        let is_wanted = |kind: &EventKind| self.kind.iter().any(|word| word == kind.word());
        let mut options = ViewOptions::default();
        options.task.clone_from(&self.task);
        options.node.clone_from(&self.node);
        options.kinds = EventKind::ALL.into_iter().filter(is_wanted).collect();
        options.since = self.since.unwrap_or(SimTime::ZERO);
        options.until = self.until.unwrap_or(SimTime::MAX);
        (options.from_step, options.skip, options.first) = (self.from, self.skip, self.first);
        options.color = wants_color();
        options
    }
}

impl Diff {
    fn run(&self) -> Result {
        let mut options = DiffOptions::default();
        (options.window, options.color) = (self.window, wants_color());
        let other = self.b.clone().unwrap_or_else(|| minimized(&self.a));
        print(&trace::diff(&read(&self.a)?, &read(other)?, &options))
    }
}

impl Export {
    fn run(&self) -> Result {
        let recorded = read(&self.path)?;
        let mut options = ExportOptions::default();
        options.format = match self.format {
            ExportFormat::Json => Format::Json,
            ExportFormat::Perfetto => Format::Perfetto,
            ExportFormat::Html => Format::Html,
            ExportFormat::Pcap => return self.write(&trace::pcap(&recorded)),
        };
        options.minimized = match &self.minimized {
            Some(path) => Some(read(path)?),
            None => beside(&self.path, &recorded),
        };
        self.write(trace::export(&recorded, &options).as_bytes())
    }

    fn write(&self, bytes: &[u8]) -> Result {
        match &self.output {
            Some(path) => std::fs::write(path, bytes).map_err(|error| Failure::file(path, &error)),
            None => print_bytes(bytes),
        }
    }
}

/// The trace of the minimised form of a failure, beside the original in its directory.
fn minimized(original: &Path) -> PathBuf {
    let folder = if original.is_dir() { Some(original) } else { original.parent() };
    folder.unwrap_or(original).join(trace::MINIMIZED_FILE)
}

/// The minimised form beside a trace. That of another seed shares no decision with it.
fn beside(path: &Path, recorded: &Recorded) -> Option<Recorded> {
    let minimized = trace::read(&minimized(path)).ok()?;
    (minimized.header.seed == recorded.header.seed).then_some(minimized)
}

fn read(path: impl AsRef<Path>) -> Result<Recorded> {
    trace::read(path.as_ref()).map_err(|error| Failure::new(format!("detsim: {error}")))
}

fn print(text: &str) -> Result {
    print_bytes(text.as_bytes())
}

/// Prints, also into a pipe whose reader has seen enough.
fn print_bytes(bytes: &[u8]) -> Result {
    match io::stdout().lock().write_all(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("detsim: nothing can be printed: {error}")))
        }
        _ => Ok(()),
    }
}

#[expect(clippy::disallowed_methods, reason = "a command line asks for its own terminal")]
fn wants_color() -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !forbidden
}

/// A moment of virtual time, as people write it.
fn moment(text: &str) -> std::result::Result<SimTime, String> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let scale = match unit {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return Err("a number and s, ms, us or ns, such as 1.5s".to_owned()),
    };
    nanos(number, scale).map(SimTime::from_nanos).ok_or_else(|| format!("`{number}` is no number"))
}

/// `number` times `scale`, digits behind the point as far as they count.
fn nanos(number: &str, scale: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let mut nanos = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut scale = scale;
    for digit in part.chars() {
        scale /= 10;
        nanos = nanos.checked_add(u64::from(digit.to_digit(10)?) * scale)?;
    }
    Some(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimised_form_lies_beside() {
        let beside = Path::new("xtask").join(trace::MINIMIZED_FILE);
        assert_eq!(minimized(&Path::new("xtask").join(trace::FILE)), beside);
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(minimized(root), root.join(trace::MINIMIZED_FILE));
    }

    #[test]
    fn moments_are_written_in_units() {
        let ns = |text| moment(text).map(SimTime::as_nanos);
        assert_eq!(ns("1.5s"), Ok(1_500_000_000));
        assert_eq!(ns("0.2517ms"), Ok(251_700));
        assert_eq!((ns("7us"), ns("50ns")), (Ok(7_000), Ok(50)));
        for bad in ["", "7", "s", "1.x s", "1,5s", "-1s", "99999999999999s"] {
            assert!(ns(bad).is_err(), "{bad}");
        }
    }
}
