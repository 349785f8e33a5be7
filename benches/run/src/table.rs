//! Text tables of at most 100 columns, and how a figure is written.

use std::fmt::{self, Write as _};

/// The widest line that a table may have.
const WIDTH_MAX: usize = 100;

/// Rows of cells. The first two columns are words and stand to the left; figures stand to the
/// right.
#[derive(Debug)]
pub(crate) struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table under a title, with these column heads.
    pub(crate) fn new<T: Into<String>>(title: &str, heads: impl IntoIterator<Item = T>) -> Self {
        let heads = heads.into_iter().map(Into::into).collect();
        Self { title: title.to_owned(), rows: vec![heads] }
    }

    /// Adds a row with a cell for each head.
    pub(crate) fn push(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.rows[0].len(), "a row has a cell for each head: {cells:?}");
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let columns = 0..self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].len()).max();
        columns.map(|column| width(column).unwrap_or(0)).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        writeln!(f, "{}", self.title)?;
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(line, "{cell:width$}")?,
                    1 => write!(line, "  {cell:width$}")?,
                    _ => write!(line, "  {cell:>width$}")?,
                }
            }
            let line = line.trim_end();
            debug_assert!(line.len() <= WIDTH_MAX, "{} columns: {line}", line.len());
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// What stands where a peer has no figure.
pub(crate) const ABSENT: &str = "-";

/// How a figure stands to its bound.
pub(crate) fn compared(own: f64, most: f64) -> &'static str {
    if own <= most { "<=" } else { "> " }
}

/// One decimal below a thousand, groups of three digits above.
pub(crate) fn figure(value: f64) -> String {
    if value.abs() < 999.95 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let (sign, digits) = digits.strip_prefix('-').map_or(("", &*digits), |rest| ("-", rest));
    let mut grouped = sign.to_owned();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::{Table, figure};
    use expect_test::expect;

    #[test]
    fn figures_keep_about_four_digits_readable() {
        let figures = [0.04, 52.06, 999.94, 999.96, 1_428_000.0, -3_412.0].map(figure);
        let expected = expect!["0.0 52.1 999.9 1,000 1,428,000 -3,412"];
        expected.assert_eq(&figures.join(" "));
    }

    #[test]
    fn words_stand_left_and_figures_right() {
        let mut table = Table::new("CPU ns per operation", ["workload", "operation", "tokio"]);
        table.push(["mpsc", "message", "71.2"].map(String::from).to_vec());
        table.push(["empty", "simulation", "2,471"].map(String::from).to_vec());
        let expected = expect![[r"
            CPU ns per operation
            workload  operation   tokio
            mpsc      message      71.2
            empty     simulation  2,471
        "]];
        expected.assert_eq(&table.to_string());
    }
}
