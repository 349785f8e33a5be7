//! Rows as lines of text.
//!
//! Owns: columns, their widths, and what is cut. Invariants: no line has more than [`COLUMNS_MAX`]
//! characters; an address that does not fit keeps its end, where the port is; what is left out is counted.

use std::net::SocketAddr;

use super::rows::Row;

const COLUMNS_MAX: usize = 98;
const HEAD: [&str; 8] = ["node", "proto", "local", "peer", "state", "Recv-Q", "Send-Q", "task"];
/// Before the place that made a socket.
const OF: &str = "of ";
/// The most that a column takes; the last has what is left.
const WIDTHS_MAX: [usize; 7] = [12, 5, 21, 21, 11, 7, 7];

/// The table of so many rows at most, with a line for those left out; empty where there is no row.
pub(super) fn table(rows: &[Row], rows_max: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let shown = &rows[..rows.len().min(rows_max)];
    let cells: Vec<[String; 8]> = shown.iter().map(cells).collect();
    let widths = widths(&cells);
    let mut text = line(&HEAD.map(str::to_owned), &widths);
    cells.iter().for_each(|cells| text.push_str(&line(cells, &widths)));
    match rows.len() - shown.len() {
        0 => text,
        left => text + &format!("and {left} more\n"),
    }
}

fn cells(row: &Row) -> [String; 8] {
    let queue = |queue: Option<usize>| queue.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let place = |at: usize| match (row.addresses[at], row.names[at].as_str()) {
        (None, "") => "*".to_owned(),
        (None, name) => name.to_owned(),
        (Some(address), _) => shown(address),
    };
    [
        row.node_name.clone(),
        row.protocol.to_owned(),
        place(0),
        place(1),
        row.state.to_owned(),
        queue(row.queues[0]),
        queue(row.queues[1]),
        match row.users.as_str() {
            "" if !row.site.is_empty() => format!("{OF}{}", row.site),
            users => users.to_owned(),
        },
    ]
}

fn shown(address: SocketAddr) -> String {
    match address.ip().is_ipv6() && address.ip().is_unspecified() {
        true => format!("[::]:{}", address.port()),
        false => address.to_string(),
    }
}

fn widths(cells: &[[String; 8]]) -> [usize; 8] {
    let mut widths = HEAD.map(str::len);
    for cells in cells {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut before = 0;
    for (width, max) in widths.iter_mut().zip(WIDTHS_MAX) {
        *width = (*width).min(max);
        before += *width + 1;
    }
    widths[7] = COLUMNS_MAX - before;
    widths
}

fn line(cells: &[String; 8], widths: &[usize; 8]) -> String {
    let mut text = String::new();
    for (at, (cell, width)) in cells.iter().zip(*widths).enumerate() {
        let cell = if at == 7 { cut_end(cell, width) } else { cut_start(cell, width) };
        // Numbers stand to the right.
        let padded = if (5..7).contains(&at) {
            format!("{cell:>width$}")
        } else {
            format!("{cell:<width$}")
        };
        text.push_str(&padded);
        text.push(' ');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn cut_start(cell: &str, width: usize) -> String {
    match cell.chars().count() {
        len if len > width => "~".chars().chain(cell.chars().skip(len - width + 1)).collect(),
        _ => cell.to_owned(),
    }
}

/// The end of a place in the source is what matters of it.
fn cut_end(cell: &str, width: usize) -> String {
    if let Some(site) = cell.strip_prefix(OF) {
        return OF.to_owned() + &cut_start(site, width - OF.len());
    }
    match cell.chars().count() > width {
        true => cell.chars().take(width - 1).chain("~".chars()).collect(),
        false => cell.to_owned(),
    }
}
