//! A curve over runs, drawn with characters.

use crate::columns::{fit, width};
use crate::screen::Screen;
use crate::text::{counted, thousands};
use std::fmt::Write;

/// Rows of the curve.
const ROWS: usize = 6;
/// The most columns of the curve.
const COLUMNS: usize = 64;

/// How much there was after how many runs; runs grow by factors from left to right.
pub(crate) fn curve(out: &mut String, title: &str, samples: &[(u64, u64)], screen: Screen) {
    let Some(&(last_runs, last)) = samples.last() else { return };
    let _ = writeln!(out, "  {}", screen.style.faint(fit(title, screen.width.saturating_sub(2), screen)));
    let most = last.max(1);
    let label = thousands(most);
    let columns = screen.width.saturating_sub(label.len() + 6).clamp(1, COLUMNS);
    let marks: &[&str] = if screen.unicode {
        &[" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    } else {
        &[" ", ".", ".", ":", ":", "#"]
    };
    let full = marks.len() - 1;
    let runs_at = |column: usize| {
        let share = if columns == 1 { 1.0 } else { column as f64 / (columns - 1) as f64 };
        (last_runs as f64).powf(share)
    };
    let levels: Vec<usize> = (0..columns)
        .map(|column| {
            let at = runs_at(column) + 1e-9;
            let seen = samples.iter().take_while(|(runs, _)| *runs as f64 <= at).last();
            let seen = seen.map_or(0, |(_, seen)| *seen);
            (seen as f64 / most as f64 * (ROWS * full) as f64).ceil() as usize
        })
        .collect();
    for row in (0..ROWS).rev() {
        let edge = if row == ROWS - 1 { label.as_str() } else { "" };
        let line: String =
            levels.iter().map(|level| marks[level.saturating_sub(row * full).min(full)]).collect();
        let _ = writeln!(out, "  {edge:>at$} {}{}", screen.bar(), line.trim_end(), at = label.len());
    }
    let end = counted(last_runs, "run");
    let end = if width(&end) + 2 <= columns { end } else { thousands(last_runs) };
    let gap = columns.saturating_sub(1 + width(&end));
    let _ = writeln!(out, "  {:>at$}  1{}{end}", "0", " ".repeat(gap), at = label.len());
}
