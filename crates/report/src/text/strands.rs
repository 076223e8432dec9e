//! Findings that concern all strands: each with what it waits for, and what it holds.

use crate::columns::{printable, wrap};
use crate::excerpt::{Mark, Sources, excerpts};
use crate::screen::Screen;
use crate::text::words::{place_in_function, quoted};
use std::fmt::Write;
use threadbare_findings::explain::place_text;
use threadbare_findings::finding::HeldLock;
use threadbare_findings::places::shown;
use threadbare_findings::{Finding, Place, StrandDetail};

/// Strands that are shown.
const STRANDS: usize = 16;
/// Strands that are shown with their source.
const WITH_SOURCE: usize = 8;

/// Each strand that waits, with its source; those that only wait for others to end, in a line each.
pub(super) fn all(out: &mut String, finding: &Finding, screen: Screen) {
    let joins = |strand: &&StrandDetail| strand.operation.as_deref() == Some("join");
    let (joining, others): (Vec<&StrandDetail>, Vec<&StrandDetail>) = finding.strands.iter().partition(joins);
    // Where all wait for an end, those waits are the matter.
    let (detailed, brief) = if others.is_empty() { (joining, Vec::new()) } else { (others, joining) };
    let detailed_count = detailed.len().min(WITH_SOURCE);
    for (index, strand) in detailed[..detailed_count].iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        paragraph(out, &doing(strand), 2, screen);
        let marks = marks(strand, finding);
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
    let rest: Vec<&StrandDetail> = detailed[detailed_count..].iter().chain(&brief).copied().collect();
    if !rest.is_empty() {
        out.push('\n');
    }
    briefly(out, &rest, detailed_count, screen);
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

/// What a strand does, in a sentence.
fn doing(strand: &StrandDetail) -> String {
    let name = if strand.name.is_empty() { String::new() } else { format!(" ({})", strand.name) };
    let what = match (strand.state.as_str(), &strand.operation) {
        ("blocked", Some(operation)) if operation == "spin-wait" => "spins on".to_owned(),
        ("blocked", Some(operation)) => format!("waits: {operation}"),
        ("ready", Some(operation)) => format!("can go on, before: {operation}"),
        ("running", _) => "runs".to_owned(),
        (state, _) => format!("is {state}"),
    };
    let object = strand.object.as_deref().filter(|_| strand.state != "running");
    let object = object.map(|object| format!(" {}", quoted(object))).unwrap_or_default();
    let joins = strand.operation.as_deref() == Some("join");
    let holder = match &strand.held_by {
        _ if joins => String::new(),
        Some(holder) if *holder == strand.strand => ", which it holds itself".to_owned(),
        Some(holder) => format!(", held by strand {holder}"),
        None => String::new(),
    };
    format!("strand {}{name} {what}{object}{holder}", strand.strand)
}

fn marks(strand: &StrandDetail, finding: &Finding) -> Vec<Mark> {
    let of_strand =
        |location: &&threadbare_findings::Location| location.strand.as_ref() == Some(&strand.strand);
    let location = finding.locations.iter().find(of_strand);
    let place = match location {
        Some(location) => strand
            .stack
            .iter()
            .find(|place| (&place.file, place.line) == (&location.file, location.line))
            .or_else(|| shown(&strand.stack)),
        None => shown(&strand.stack),
    };
    let label = match (strand.state.as_str(), strand.operation.as_deref()) {
        ("running", _) => "runs here".to_owned(),
        ("blocked", Some("spin-wait")) => "spins here".to_owned(),
        ("blocked", _) => "waits here".to_owned(),
        _ => "stands here".to_owned(),
    };
    let from_location = || {
        let location = location?;
        Some(Mark {
            file: location.file.clone()?,
            line: location.line?,
            function: location.function.clone(),
            label: label.clone(),
            main: true,
            ..Mark::default()
        })
    };
    let mut marks: Vec<Mark> =
        place.and_then(|place| mark(place, label.clone(), true)).or_else(from_location).into_iter().collect();
    for held in &strand.holds {
        let place = held.taken_at.as_ref();
        marks.extend(
            place.and_then(|place| mark(place, format!("took {} here", quoted(&held.object)), false)),
        );
    }
    marks
}

fn is_marked(held: &HeldLock, marks: &[Mark]) -> bool {
    let at = held.taken_at.as_ref().and_then(|place| place.file.as_deref().zip(place.line));
    at.is_some_and(|(file, line)| {
        marks.iter().any(|mark| mark.file == file && mark.line == line && !mark.main)
    })
}

pub(super) fn holds(held: &HeldLock) -> String {
    let at = held.taken_at.as_ref().map(|place| format!(", taken at {}", place_text(place)));
    format!("holds {}{}", quoted(&held.object), at.unwrap_or_default())
}

/// A mark at a place that has a file and a line.
pub(super) fn mark(place: &Place, label: String, main: bool) -> Option<Mark> {
    Some(Mark {
        file: place.file.clone()?,
        line: place.line?,
        column: place.column,
        function: place.function.clone(),
        name: None,
        label,
        main,
    })
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
