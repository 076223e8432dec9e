//! Strands in words: what each waits for and holds, at length or in a line.

use crate::columns::{printable, wrap};
use crate::excerpt::{Mark, Sources, excerpts};
use crate::marks::{doing, of_strand, parted};
use crate::screen::Screen;
use crate::text::words::{place_in_function, quoted};
use std::fmt::Write;
use threadbare_findings::explain::place_text;
use threadbare_findings::finding::HeldLock;
use threadbare_findings::places::shown;
use threadbare_findings::{Finding, StrandDetail};

/// Strands that are shown.
const STRANDS: usize = 16;
/// Strands that are shown with their source.
const WITH_SOURCE: usize = 8;

/// Each strand that waits, with its source; those that only wait for others to end, in a line each.
pub(super) fn all(out: &mut String, finding: &Finding, screen: Screen) {
    let (detailed, brief) = parted(finding);
    let at_length = detailed.len().min(WITH_SOURCE);
    for (index, strand) in detailed[..at_length].iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        paragraph(out, &doing(strand), 2, screen);
        let marks = of_strand(strand, finding);
        if marks.is_empty()
            && let Some(place) = shown(&strand.stack)
        {
            paragraph(out, &format!("at {}", place_text(place)), 4, screen);
        }
        excerpts(out, &marks, Sources::of(finding), screen);
        for held in strand.holds.iter().filter(|held| !is_marked(held, &marks)) {
            paragraph(out, &holds(held), 4, screen);
        }
    }
    let rest: Vec<&StrandDetail> = detailed[at_length..].iter().chain(&brief).copied().collect();
    if !rest.is_empty() {
        out.push('\n');
    }
    briefly(out, &rest, at_length, screen);
}

/// What the strands beside the failing one were doing, in a line each.
pub(super) fn others(out: &mut String, finding: &Finding, screen: Screen) {
    let failing = finding.locations.first().and_then(|location| location.strand.as_deref());
    let others: Vec<&StrandDetail> =
        finding.strands.iter().filter(|strand| Some(strand.strand.as_str()) != failing).collect();
    // Without a failing strand there is nobody whose others they are.
    if failing.is_some() {
        briefly(out, &others, 0, screen);
    }
}

fn briefly(out: &mut String, strands: &[&StrandDetail], shown_before: usize, screen: Screen) {
    let most = STRANDS.saturating_sub(shown_before);
    for strand in strands.iter().take(most) {
        let at = shown(&strand.stack).map(|place| format!(" at {}", place_in_function(place)));
        paragraph(out, &format!("{}{}", doing(strand), at.unwrap_or_default()), 2, screen);
    }
    if strands.len() > most {
        let _ = writeln!(out, "  and {} more strands", strands.len() - most);
    }
}

fn is_marked(held: &HeldLock, marks: &[Mark]) -> bool {
    let at = held.taken_at.as_ref().and_then(|place| place.file.as_deref().zip(place.line));
    at.is_some_and(|(file, line)| {
        marks.iter().any(|mark| mark.file == file && mark.line == line && !mark.main)
    })
}

fn holds(held: &HeldLock) -> String {
    let at = held.taken_at.as_ref().map(|place| format!(", taken at {}", place_text(place)));
    format!("holds {}{}", quoted(&held.object), at.unwrap_or_default())
}

/// A text in lines that have room; the second one on is indented further.
pub(super) fn paragraph(out: &mut String, text: &str, indent: usize, screen: Screen) {
    let mut edge = " ".repeat(indent);
    for row in wrap(&printable(text), screen.width.saturating_sub(indent + 2)) {
        let _ = writeln!(out, "{edge}{row}");
        if edge.len() == indent {
            edge.push_str("  ");
        }
    }
}
