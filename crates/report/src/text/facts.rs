//! What helps to mend a finding, in a line each.

use crate::columns::{fit, printable, wrap};
use crate::marks::{is_about_all, strand};
use crate::screen::Screen;
use crate::text::words::{counted, place_in_function, quoted};
use std::fmt::Write;
use threadbare_findings::explain::place_text;
use threadbare_findings::finding::Happening;
use threadbare_findings::places::shown;
use threadbare_findings::{Finding, Place};

/// Frames of a stack that are shown.
const FRAMES: usize = 5;
/// Columns of a function's name that are shown.
const FUNCTION: usize = 60;

/// All facts of a finding.
pub(super) fn all(out: &mut String, finding: &Finding, screen: Screen) {
    let mut facts = Vec::new();
    calls(&mut facts, finding, screen);
    object(&mut facts, finding);
    for access in &finding.accesses {
        for held in &access.holds {
            let Some(place) = &held.taken_at else { continue };
            let (who, lock) = (strand(finding, &access.strand), quoted(&held.object));
            facts.push(format!("{who} took {lock} at {}", place_in_function(place)));
        }
    }
    for creation in &finding.created {
        let at = own(&creation.stack).map(|place| format!(" at {}", place_in_function(place)));
        let who = strand(finding, &creation.strand);
        facts.push(format!("{who} was created by strand {}{}", creation.by, at.unwrap_or_default()));
    }
    facts.extend(finding.notes.iter().filter(|note| !is_told(finding, note)).cloned());
    facts.dedup();
    for fact in facts {
        let mut sign = "=";
        for row in wrap(&printable(&fact), screen.width.saturating_sub(5)) {
            let _ = writeln!(out, "  {} {row}", screen.style.faint(sign));
            sign = " ";
        }
    }
    for warning in &finding.warnings {
        let mut edge = format!("  {}: ", screen.style.warn("warning"));
        for row in wrap(&printable(warning), screen.width.saturating_sub(12)) {
            let _ = writeln!(out, "{edge}{row}");
            edge = "    ".to_owned();
        }
    }
}

/// Whether a note says what the places say already: what each strand waits for, where the block comes from.
fn is_told(finding: &Finding, note: &str) -> bool {
    let of_strand = |strand: &str| {
        let rest = note.strip_prefix("strand ").and_then(|rest| rest.strip_prefix(strand));
        let does = [" waits ", " spins ", " runs", " sleeps", " goes on"];
        rest.is_some_and(|rest| does.iter().any(|verb| rest.starts_with(verb)))
    };
    let block = finding.object.as_ref().is_some_and(|object| object.block.is_some());
    is_about_all(finding) && finding.strands.iter().any(|strand| of_strand(&strand.strand))
        || block && note.starts_with("the block of ")
}

/// Who called the functions that are shown: of each access, or of the place that failed.
fn calls(facts: &mut Vec<String>, finding: &Finding, screen: Screen) {
    let several = finding.accesses.len() > 1;
    for access in &finding.accesses {
        let Some(calls) = callers(&access.stack, shown(&access.stack), screen) else { continue };
        let whose = if several { format!(" by strand {}", access.strand) } else { String::new() };
        facts.push(format!("the {}{whose}: {calls}", access.operation.replace('-', " ")));
    }
    if !finding.accesses.is_empty() || is_about_all(finding) {
        return;
    }
    let Some(first) = finding.locations.first() else { return };
    let failing = finding.strands.iter().find(|detail| Some(&detail.strand) == first.strand.as_ref());
    let Some(detail) = failing else { return };
    let place = detail.stack.iter().find(|place| (&place.file, place.line) == (&first.file, first.line));
    facts.extend(callers(&detail.stack, place, screen));
}

/// The program's own functions around a place, if there are any.
fn callers(stack: &[Place], place: Option<&Place>, screen: Screen) -> Option<String> {
    let start = place.and_then(|place| stack.iter().position(|other| other == place)).map_or(0, |at| at + 1);
    let mut own: Vec<&Place> = stack[start..].iter().filter(|place| !place.library).collect();
    if own.is_empty() && stack.iter().all(|place| place.library) {
        // All a library's: better than nothing.
        own = stack[start..].iter().collect();
    }
    if own.is_empty() {
        return None;
    }
    let texts: Vec<String> = own
        .iter()
        .take(FRAMES)
        .map(|place| {
            let inlined = if place.inlined { " (inlined)" } else { "" };
            match (&place.function, &place.file) {
                (Some(function), Some(_)) => {
                    let function = fit(function, FUNCTION, screen);
                    format!("{function}{inlined} at {}", place_text(place))
                }
                _ => format!("{}{inlined}", place_text(place)),
            }
        })
        .collect();
    let more = own.len().saturating_sub(FRAMES);
    let more = if more > 0 { format!(", and {}", counted(more as u64, "frame")) } else { String::new() };
    Some(format!("called from {}{more}", texts.join(", from ")))
}

/// The program's own place in a stack; one in a library says nothing here.
fn own(stack: &[Place]) -> Option<&Place> {
    shown(stack).filter(|place| !place.library)
}

fn object(facts: &mut Vec<String>, finding: &Finding) {
    let Some(object) = &finding.object else { return };
    let name = object.name.as_deref().map_or_else(|| "the memory".to_owned(), quoted);
    let size = if object.size > 0 { format!("{} at ", counted(object.size, "byte")) } else { String::new() };
    // Of a block that is used wrongly the block is the matter, not the byte.
    if !object.address.is_empty() && (object.block.is_none() || finding.kind == "race") {
        facts.push(format!("{name}: {size}{}", object.address));
    }
    let Some(block) = &object.block else { return };
    let told_above = finding.kind != "race";
    let by = |happening: &Happening| {
        let at = own(&happening.stack).map(|place| format!(" at {}", place_in_function(place)));
        format!(" by {}{}", strand(finding, &happening.strand), at.unwrap_or_default())
    };
    let allocated = block.allocated.as_ref().filter(|_| !told_above).map(by);
    let allocated = allocated.map(|by| format!(", allocated{by}")).unwrap_or_default();
    let which = if told_above { "the block has" } else { "it lies in a block of" };
    facts.push(format!("{which} {} at {}{allocated}", counted(block.size, "byte"), block.address));
}
