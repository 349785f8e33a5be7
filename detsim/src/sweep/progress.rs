//! The progress line: how far a sweep is, redrawn in place on a terminal, nowhere else.
//!
//! Tests that run in parallel share the line; the last one to move shows. Invariant: nothing is
//! drawn under CI or where standard error is no terminal.

use std::sync::Mutex;
use std::time::Duration;

use crate::console;
use crate::wall::Stopwatch;

/// Redrawn at most this often.
const REDRAW_AFTER: Duration = Duration::from_millis(100);

/// The progress of one sweep.
#[derive(Debug)]
pub(crate) struct Progress {
    name: &'static str,
    count: u64,
    clock: Stopwatch,
    /// When the line was last drawn; `None` where it never is.
    drawn_at: Option<Mutex<Duration>>,
}

impl Progress {
    pub(crate) fn new(name: &'static str, count: u64, is_ci: bool) -> Self {
        let draws = count > 1 && console::draws(is_ci);
        let drawn_at = draws.then(|| Mutex::new(Duration::ZERO));
        Self { name, count, clock: Stopwatch::start(), drawn_at }
    }

    /// So many seeds are done, so many of them failed.
    pub(crate) fn moved(&self, done: u64, failed: usize) {
        let Some(drawn_at) = &self.drawn_at else { return };
        let Ok(mut drawn_at) = drawn_at.try_lock() else { return };
        let now = self.clock.elapsed();
        if now - *drawn_at >= REDRAW_AFTER {
            *drawn_at = now;
            console::draw(&format!("\r\x1b[K{}", line(self.name, done, self.count, failed, now)));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn_at.as_ref().is_some_and(|at| at.lock().is_ok_and(|at| !at.is_zero())) {
            console::draw("\r\x1b[K");
        }
    }
}

fn line(name: &str, done: u64, count: u64, failed: usize, elapsed: Duration) -> String {
    const CELLS: u64 = 20;
    let filled = (done.min(count) * CELLS / count.max(1)) as usize;
    let bar = format!("{}{}", "#".repeat(filled), "-".repeat(CELLS as usize - filled));
    let per_second = u128::from(done) * 1000 / elapsed.as_millis().max(1);
    let failing = if failed == 0 { String::new() } else { format!(", {failed} failing") };
    format!("[{bar}] {done}/{count} seeds{failing}, {per_second}/s  {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_and_how_fast() {
        let line = line("pool::drains", 250, 1000, 2, Duration::from_millis(500));
        assert_eq!(line, "[#####---------------] 250/1000 seeds, 2 failing, 500/s  pool::drains");
    }
}
