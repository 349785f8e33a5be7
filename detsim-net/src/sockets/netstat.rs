//! The sockets of a simulation as a table.
//!
//! Owns: what a row says, the order of rows, and their text. Pure: looks and changes nothing. Invariants:
//! a line has at most 100 columns; rows come by node, protocol and address, so that no place in a table
//! and no order of closing shows; states and queues are those that Linux's `ss` names, but a connection
//! that is not accepted yet, or that its program has closed, is a row as well.

mod rows;
mod text;

use detsim_executor::Kernel;

use self::rows::Row;
use super::World;

/// Rows in the report of a failure.
const ROWS_MAX: usize = 40;

impl World {
    /// The table, a line a socket; empty where there is none.
    pub(crate) fn netstat(&self, kernel: &Kernel) -> String {
        text::table(&self.rows(kernel), usize::MAX)
    }

    /// The table for the report of a failure: with a title, and only so long.
    pub(super) fn netstat_brief(&self, kernel: &Kernel) -> String {
        match text::table(&self.rows(kernel), ROWS_MAX) {
            table if table.is_empty() => table,
            table => {
                table.lines().fold("sockets:\n".to_owned(), |text, line| text + "  " + line + "\n")
            }
        }
    }

    fn rows(&self, kernel: &Kernel) -> Vec<Row> {
        let mut rows: Vec<Row> = self.socket_rows(kernel);
        rows.extend(self.orphan_rows(kernel));
        rows.extend(self.waiting_rows(kernel));
        rows.sort();
        rows
    }
}
