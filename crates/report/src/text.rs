//! Findings and campaigns in words, for a terminal or a pipe.

use crate::campaign::CampaignReport;
use crate::style::Style;
use std::fmt::Write;
use std::time::Duration;
use threadbare_findings::explain::place_text;
use threadbare_findings::{Finding, Location, Place, StrandDetail};

/// Lines of a stream that are shown.
const OUTPUT_LINES: usize = 20;
/// Frames of a stack that are shown.
const FRAMES: usize = 6;
/// Strands that are shown.
const STRANDS: usize = 16;

/// A campaign: its summary, then each finding, which ends with the line that replays it.
pub fn campaign(report: &CampaignReport, style: Style) -> String {
    let mut out = String::new();
    let elapsed = Duration::from_secs_f64(report.elapsed_s.max(0.0));
    let outcome = match (report.failures(), report.findings.len()) {
        (0, 0) => style.good("clean").to_string(),
        (0, told) => format!("{}, {} told", style.good("clean"), counted(told as u64, "finding")),
        (_, told) => style.bad(counted(told as u64, "finding")).to_string(),
    };
    let _ = writeln!(
        out,
        "{outcome}: {} in {} ({}/s), {} failed; strategy {}, seed {}",
        counted(report.runs, "run"),
        seconds(elapsed),
        per_second(report.runs, elapsed),
        thousands(report.runs_failed),
        report.strategy,
        report.seed,
    );
    if report.ended_by == "interrupt" {
        out.push_str("ended early: interrupted\n");
    }
    if report.replays > 0 {
        let _ = writeln!(
            out,
            "{} of {} replayed, all the same",
            thousands(report.replays),
            counted(report.runs, "run")
        );
    }
    if report.suppressed > 0 {
        let _ = writeln!(out, "{} suppressed", counted(report.suppressed, "finding"));
    }
    for warning in &report.warnings {
        let _ = writeln!(out, "{}: {warning}", style.warn("warning"));
    }
    for finding in &report.findings {
        out.push('\n');
        out.push_str(&self::finding(finding, style, true));
    }
    out
}

/// One finding. With `replay`, the last line says how to make it again; without it, this is the replay.
pub fn finding(finding: &Finding, style: Style, replay: bool) -> String {
    let mut out = String::new();
    headline(&mut out, finding, style);
    if is_about_all(finding) {
        for strand in finding.strands.iter().take(STRANDS) {
            waiting_strand(&mut out, strand, finding, style);
        }
        if finding.strands.len() > STRANDS {
            let _ = writeln!(out, "  and {} more strands", finding.strands.len() - STRANDS);
        }
    } else {
        for location in &finding.locations {
            place(&mut out, location, style);
        }
        callers(&mut out, finding, style);
    }
    stream(&mut out, "stdout", &finding.stdout, style);
    stream(&mut out, "stderr", &finding.stderr, style);
    for warning in &finding.warnings {
        let _ = writeln!(out, "  {}: {warning}", style.warn("warning"));
    }
    let count = match replay {
        true => format!(
            "seen in {}; run {} made {} and {}",
            counted(finding.count, "run"),
            finding.run,
            counted(finding.points, "point"),
            counted(finding.switches, "switch"),
        ),
        // A replay has other points than the recorded run: it need not stop where it is not to be stopped.
        false => format!("run {} again, {}", finding.run, counted(finding.switches, "switch")),
    };
    let _ = writeln!(out, "  {}", style.faint(format!("{}: {count}", finding.id)));
    if replay {
        let _ = writeln!(out, "  replay: {}", style.strong(replay_command(&finding.schedule)));
    }
    out
}

/// The command that replays a schedule.
pub fn replay_command(schedule: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if schedule.chars().all(plain) && !schedule.is_empty() {
        format!("threadbare replay {schedule}")
    } else {
        format!("threadbare replay '{}'", schedule.replace('\'', "'\\''"))
    }
}

/// Whether all strands have part in the failure, not one.
fn is_about_all(finding: &Finding) -> bool {
    matches!(finding.kind.as_str(), "deadlock" | "livelock" | "timeout")
}

fn headline(out: &mut String, finding: &Finding, style: Style) {
    let place =
        finding.locations.first().filter(|_| !is_about_all(finding)).map(file_and_line).unwrap_or_default();
    // An assertion of C names its place itself.
    let at = match place.is_empty() || names_place(&finding.message, &place) {
        true => String::new(),
        false => format!(" at {place}"),
    };
    let said = finding.message.starts_with(&finding.kind);
    let kind = if said { String::new() } else { format!("{}: ", finding.kind) };
    let _ = writeln!(
        out,
        "{} {}{}{at}",
        style.bad(format!("run {} failed:", finding.run)),
        style.strong(kind),
        style.strong(&finding.message),
    );
}

/// Whether a message names a place already, be it in other words: relative to another folder.
fn names_place(message: &str, place: &str) -> bool {
    let name = place.rsplit('/').next().unwrap_or(place);
    message.match_indices(name).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let after = message[at + name.len()..].chars().next();
        before.is_none_or(|c| c == '/' || !(c.is_alphanumeric() || "._-".contains(c)))
            && after.is_none_or(|c| !c.is_ascii_digit())
    })
}

fn waiting_strand(out: &mut String, strand: &StrandDetail, finding: &Finding, style: Style) {
    let name = if strand.name.is_empty() { String::new() } else { format!(" ({})", strand.name) };
    let what = match (strand.state.as_str(), &strand.operation) {
        ("blocked", Some(operation)) => format!("waits: {operation}"),
        ("ready", Some(operation)) => format!("can go on, before: {operation}"),
        ("running", _) => "runs".to_owned(),
        (state, _) => format!("is {state}"),
    };
    let object =
        strand.object.as_deref().filter(|_| strand.state != "running").map(quoted).unwrap_or_default();
    let joins = strand.operation.as_deref() == Some("join");
    let holder = match &strand.held_by {
        _ if joins => String::new(),
        Some(holder) if *holder == strand.strand => ", which it holds itself".to_owned(),
        Some(holder) => format!(", held by strand {holder}"),
        None => String::new(),
    };
    let _ = writeln!(out, "  strand {}{name} {what}{object}{holder}", style.strong(&strand.strand));
    if let Some(location) =
        finding.locations.iter().find(|location| location.strand.as_ref() == Some(&strand.strand))
    {
        let _ = writeln!(out, "    at {}", location_text(location));
        source_line(out, location, style);
    }
    for held in &strand.holds {
        let at = held
            .taken_at
            .as_ref()
            .map(|place| format!(", taken at {}", place_text(place)))
            .unwrap_or_default();
        let _ = writeln!(out, "    holds{}{at}", quoted(&held.object));
    }
}

/// A variable is quoted, so that `lock` the lock is told from lock the operation.
fn quoted(object: &str) -> String {
    let variable = object.starts_with(|c: char| c.is_alphabetic() || c == '_') && !object.contains(' ');
    if variable { format!(" `{object}`") } else { format!(" {object}") }
}

fn place(out: &mut String, location: &Location, style: Style) {
    let strand = location.strand.as_deref().map(|strand| format!(" (strand {strand})")).unwrap_or_default();
    let text = location_text(location);
    if text.is_empty() && strand.is_empty() {
        return;
    }
    let _ = writeln!(out, "  at {text}{strand}");
    source_line(out, location, style);
}

fn source_line(out: &mut String, location: &Location, style: Style) {
    if let (Some(line), Some(source)) = (location.line, &location.source) {
        let _ = writeln!(out, "    {} {}", style.faint(format!("{line} |")), source.trim_end());
    }
}

/// The stack of the strand that failed, without the place that is shown already.
fn callers(out: &mut String, finding: &Finding, style: Style) {
    let Some(first) = finding.locations.first() else { return };
    let of_strand = |detail: &&StrandDetail| Some(&detail.strand) == first.strand.as_ref();
    let Some(strand) = finding.strands.iter().find(of_strand) else { return };
    let same = |place: &Place| (&place.file, place.line) == (&first.file, first.line);
    let start = strand.stack.iter().position(same).map_or(0, |at| at + 1);
    let shown: Vec<&Place> = strand.stack[start..].iter().filter(|place| !place.library).collect();
    for place in shown.iter().take(FRAMES) {
        let function = place.function.as_deref().unwrap_or("??");
        let inlined = if place.inlined { " [inlined]" } else { "" };
        let _ = writeln!(
            out,
            "    {}",
            style.faint(format!("called from {function}{inlined} at {}", place_text(place)))
        );
    }
    if shown.len() > FRAMES {
        let _ = writeln!(out, "    {}", style.faint(format!("… {} more frames", shown.len() - FRAMES)));
    }
}

fn stream(out: &mut String, name: &str, text: &str, style: Style) {
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return;
    }
    let left_out = lines.len().saturating_sub(OUTPUT_LINES);
    let _ = match left_out {
        0 => writeln!(out, "  {name} of the run:"),
        n => writeln!(out, "  {name} of the run (the last {OUTPUT_LINES} of {} lines):", n + OUTPUT_LINES),
    };
    for line in &lines[left_out..] {
        let _ = writeln!(out, "    {} {}", style.faint("|"), printable(line));
    }
}

/// A line of the program without what would confuse a terminal.
fn printable(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

fn file_and_line(location: &Location) -> String {
    match (&location.file, location.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        _ => String::new(),
    }
}

fn location_text(location: &Location) -> String {
    let place = file_and_line(location);
    match &location.function {
        Some(function) if place.is_empty() => function.clone(),
        Some(function) => format!("{place} in {function}"),
        None => place,
    }
}

/// A number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How many a second.
pub fn per_second(count: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    thousands((count as f64 / seconds) as u64)
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.2} s", elapsed.as_secs_f64())
}

/// A number of things.
pub fn counted(count: u64, what: &str) -> String {
    let plural = match count {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {what}{plural}", thousands(count))
}

#[cfg(test)]
mod tests;
