//! Why a run fails: the pair that decides in a sentence, the invariant that broke in two lines, then what was done to its memory in the failing run and in the
//! nearest one that passes, side by side.

use crate::columns::{fit, padded, printable, width, wrap};
use crate::lanes;
use crate::screen::Screen;
use crate::text::words::point;
use std::fmt::Write;
use threadbare_findings::finding::{Explanation, LaneStep};
use threadbare_findings::{BrokenInvariant, Finding};

/// Columns between the two runs.
const GAP: usize = 4;
/// The least columns a run is readable with.
const LEAST: usize = 30;
/// Columns before the runs.
const EDGE: usize = 4;

/// Writes it; nothing if it is not known.
pub(super) fn why(out: &mut String, finding: &Finding, screen: Screen) {
    // A race's places say it already.
    let explanation = finding.explanation.as_ref().filter(|_| finding.kind != "race");
    if let Some(explanation) = explanation {
        said(out, explanation, screen);
    }
    if let Some(invariant) = &finding.invariant {
        broken(out, invariant, screen);
    }
    if let Some(explanation) = explanation {
        runs(out, explanation, screen);
    }
}

fn said(out: &mut String, explanation: &Explanation, screen: Screen) {
    let mut edge = format!("  {} ", screen.style.strong("why:"));
    for row in wrap(&printable(&explanation.text), screen.width.saturating_sub(9)) {
        let _ = writeln!(out, "{edge}{row}");
        edge = " ".repeat(7);
    }
    if let Some(term) = &explanation.decided_by {
        let mut edge = format!("  {} ", screen.style.strong("decided by:"));
        for row in wrap(&printable(&term.text), screen.width.saturating_sub(16)) {
            let _ = writeln!(out, "{edge}{row}");
            edge = " ".repeat(14);
        }
    }
}

/// What passing runs keep, and where that was broken: a line each, where they fit.
fn broken(out: &mut String, it: &BrokenInvariant, screen: Screen) {
    let first = &it.first_broken;
    let at = point(&it.side, it.lines, &it.place, &it.function);
    let values: Vec<String> = first.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let by = format!("broken by strand {} at {}: {}", first.strand, first.place, values.join(", "));
    let mut edge = format!("  {} ", screen.style.strong("invariant:"));
    for row in wrap(&printable(&format!("{} at {at}", it.text)), screen.width.saturating_sub(15)) {
        let _ = writeln!(out, "{edge}{row}");
        edge = " ".repeat(13);
    }
    let edge = " ".repeat(EDGE);
    for row in wrap(&printable(&by), screen.width.saturating_sub(EDGE + 1)) {
        let _ = writeln!(out, "{edge}{row}");
    }
}

fn runs(out: &mut String, explanation: &Explanation, screen: Screen) {
    let (failing, passing) = (rows(&explanation.failing, screen), rows(&explanation.passing, screen));
    if failing.is_empty() || passing.is_empty() {
        return;
    }
    let needed = failing.iter().chain(&passing).map(Row::width).max().unwrap_or(LEAST);
    let room = screen.width.saturating_sub(EDGE + GAP + 1) / 2;
    let edge = " ".repeat(EDGE);
    if room < LEAST && room < needed {
        for (head, list) in [("fails:", &failing), ("passes:", &passing)] {
            let _ = writeln!(out, "{edge}{}", screen.style.strong(head));
            for row in list {
                let _ = writeln!(out, "{edge}  {}", row.text(screen.width.saturating_sub(EDGE + 3), screen));
            }
        }
        return;
    }
    let column = needed.min(room);
    let line = |out: &mut String, one: &str, other: &str| {
        let one = padded(&fit(one, column, screen), column + GAP);
        let text = format!("{edge}{one}{}", fit(other, column, screen));
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line(out, "fails", "passes");
    for at in 0..failing.len().max(passing.len()) {
        let told = |list: &[Row]| list.get(at).map(|row| row.text(column, screen)).unwrap_or_default();
        line(out, &told(&failing), &told(&passing));
    }
}

/// A step: the strand, what, and the line.
struct Row {
    strand: String,
    told: String,
    line: String,
    /// Columns of the longest of what strands did, and of the lines.
    texts: usize,
    lines: usize,
}

impl Row {
    fn width(&self) -> usize {
        width(&self.strand) + 2 + self.texts + 2 + self.lines
    }

    /// In so many columns: of a long name the end goes, never the line.
    fn text(&self, room: usize, screen: Screen) -> String {
        let texts = self.texts.min(room.saturating_sub(self.width() - self.texts));
        let told = padded(&fit(&self.told, texts, screen), texts);
        format!("{}  {told}  {}", self.strand, self.line).trim_end().to_owned()
    }
}

fn rows(steps: &[LaneStep], screen: Screen) -> Vec<Row> {
    let line =
        |step: &LaneStep| step.place.as_ref().and_then(|place| place.line).map(|line| line.to_string());
    let most = |of: &dyn Fn(&LaneStep) -> usize| steps.iter().map(of).max().unwrap_or(0);
    let strand = most(&|step| width(&step.strand));
    let told = |step: &LaneStep| printable(&lanes::text(step, screen));
    let texts = most(&|step| width(&told(step)));
    let lines = most(&|step| line(step).map_or(0, |line| width(&line)));
    let row = |step: &LaneStep| Row {
        strand: padded(&step.strand, strand),
        told: told(step),
        line: line(step).unwrap_or_default(),
        texts,
        lines,
    };
    steps.iter().map(row).collect()
}
