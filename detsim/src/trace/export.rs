//! A trace for other tools.
//!
//! Owns: the formats, and their options. Does not own: what each writes (the files beside).
//! Invariants: pure functions of the trace; what is written is whole and needs nothing beside it:
//! no network, no other file.

mod html;
mod json;
mod model;
mod pcap;
mod perfetto;

pub use pcap::pcap;

use super::Recorded;

/// What to export to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Every event as data, with its text.
    #[default]
    Json,
    /// Chrome's trace format, which ui.perfetto.dev opens: a process for each node, a thread for
    /// each task.
    Perfetto,
    /// One page for a browser: a space-time diagram with a column for each node.
    Html,
}

/// How to export.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExportOptions {
    /// What to.
    pub format: Format,
    /// The minimised form of the run: the decisions that it keeps are marked in the page.
    pub minimized: Option<Recorded>,
    /// The most events of a page, of which it keeps the last ones. Of the other formats there is
    /// no limit.
    pub page_events: usize,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { format: Format::default(), minimized: None, page_events: 50_000 }
    }
}

/// The whole text of a file in this format.
pub fn export(recorded: &Recorded, options: &ExportOptions) -> String {
    match options.format {
        Format::Json => json::export(recorded),
        Format::Perfetto => perfetto::export(recorded),
        Format::Html => html::export(recorded, options),
    }
}

#[cfg(test)]
mod tests;
