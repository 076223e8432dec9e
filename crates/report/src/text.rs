//! Findings and campaigns in words, for a terminal or a pipe.
//!
//! A finding is told from what matters most to what matters least: a headline, the places in their source, what the
//! program printed, the last steps as lanes, facts that help to mend it, and the line that replays it.

mod facts;
mod strands;
mod why;
pub mod words;

use crate::campaign::{CampaignReport, PlannerProgress, Regressed};
use crate::claim::Claim;
use crate::columns::{is_unsafe, pieces, printable, wrap};
use crate::coverage;
use crate::excerpt::{Sources, excerpts};
use crate::lanes::lanes;
use crate::marks::{self, is_about_all};
use crate::screen::Screen;
use crate::style::Style;
use std::fmt::Write;
use std::time::Duration;
use threadbare_findings::{Finding, Location, Severity};
pub use words::{counted, per_second, thousands};

/// Lines of a stream that are shown.
const OUTPUT_LINES: usize = 20;

/// A campaign: its summary, then each finding, which ends with the line that replays it.
pub fn campaign(report: &CampaignReport, screen: Screen) -> String {
    let style = screen.style;
    let mut out = String::new();
    let elapsed = Duration::from_secs_f64(report.elapsed_s.max(0.0));
    let outcome = match (report.failures(), report.findings.len()) {
        _ if report.says_nothing() => style.warn("no verdict").to_string(),
        (0, 0) => style.good("clean").to_string(),
        (0, told) => format!("{}, {} told", style.good("clean"), counted(told as u64, "finding")),
        (_, told) => style.bad(counted(told as u64, "finding")).to_string(),
    };
    let _ = writeln!(
        out,
        "{outcome}: {} in {} ({}/s), {} failed; strategy {}, seed {}",
        counted(report.runs, "run"),
        words::seconds(elapsed),
        per_second(report.runs, elapsed),
        thousands(report.runs_failed),
        report.strategy,
        report.seed,
    );
    if let Some(hint) = hint(report) {
        let mut edge = "";
        for row in wrap(&format!("hint: {hint}"), screen.width.saturating_sub(2)) {
            let _ = writeln!(out, "{edge}{row}");
            edge = "  ";
        }
    }
    if report.ended_by == "until" {
        out.push_str("ended early: something new is unlikely enough\n");
    }
    if let Some(goal) = report.tasks.as_ref().and_then(|tasks| tasks.goal.as_ref())
        && report.ended_by == "coverage"
    {
        let share = crate::tasks::percent(goal.share);
        let _ = match report.tasks.as_ref().is_some_and(|tasks| tasks.counts.beside > 0) {
            true => writeln!(out, "ended early: {share} of {} is covered, as asked for", goal.model),
            false => writeln!(out, "ended early: there is nothing to cover"),
        };
    }
    let told = coverage::summary(&report.coverage.counts, report.coverage.estimate.as_ref());
    let followed =
        report.coverage.runs_followed.map(|runs| coverage::followed(&report.coverage.counts, runs));
    let tasks = report.tasks.iter().flat_map(crate::tasks::summary);
    for line in told.into_iter().chain(tasks).chain(followed.flatten()) {
        let mut edge = "";
        for row in wrap(&line, screen.width.saturating_sub(2)) {
            let _ = writeln!(out, "{edge}{row}");
            edge = "  ";
        }
    }
    if report.ended_by == "interrupt" {
        out.push_str("ended early: interrupted\n");
    }
    if let Some(claim) = &report.claim {
        let mut edge = "";
        for row in wrap(&self::claim(claim, report.planner.as_ref()), screen.width.saturating_sub(2)) {
            let _ = writeln!(out, "{edge}{row}");
            edge = "  ";
        }
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
    if !report.reached.is_empty() {
        let _ = writeln!(out, "reached: {}", report.reached.join(", "));
    }
    for warning in &report.warnings {
        let _ = writeln!(out, "{}: {warning}", style.warn("warning"));
    }
    for choice in &report.choices {
        let mut edge = "";
        for row in wrap(&choice.line(), screen.width.saturating_sub(2)) {
            let _ = writeln!(out, "{edge}{row}");
            edge = "  ";
        }
    }
    for kept in &report.regress {
        out.push_str(&self::kept(kept, style));
    }
    for finding in &report.findings {
        out.push('\n');
        out.push_str(&self::finding(finding, screen, true));
    }
    out
}

/// What the reader of a result that says little is to know.
fn hint(report: &CampaignReport) -> Option<&'static str> {
    if report.says_nothing() {
        return Some(
            "no run came to its end: give it more `--time`, a longer `--timeout`, or a smaller input",
        );
    }
    let alone = report.strands == 1 && !report.has_failed();
    alone.then_some(
        "the program started no second thread, so there was one schedule only: is this the right program, and are these the \
         right arguments?",
    )
}

/// What became of a kept finding, a line.
pub fn kept(kept: &Regressed, style: Style) -> String {
    let word = match kept.outcome.as_str() {
        "fixed" => style.good("fixed").to_string(),
        "unfit" => style.warn("unfit").to_string(),
        _ => style.bad("not fixed").to_string(),
    };
    format!("{word}: kept finding {} {}\n", kept.id, kept.message)
}

/// What is known of other orders, and what it took.
fn claim(claim: &Claim, planner: Option<&PlannerProgress>) -> String {
    let mut out = claim.line();
    if let Some(planner) = planner {
        if claim.kind == "complete" && planner.repeated_runs > 0 {
            let _ = write!(out, "; {} showed an order again", counted(planner.repeated_runs, "run"));
        }
        if planner.learning_runs > 0 {
            let _ =
                write!(out, "; {} before that to learn the program", counted(planner.learning_runs, "run"));
        }
    }
    out
}

/// One finding. With `replay`, the last line says how to make it again; without it, this is the replay.
pub fn finding(finding: &Finding, screen: Screen, replay: bool) -> String {
    let style = screen.style;
    let mut out = String::new();
    headline(&mut out, finding, screen);
    section(&mut out, |out| {
        if is_about_all(finding) && finding.accesses.is_empty() {
            strands::all(out, finding, screen);
        } else {
            places(out, finding, screen);
        }
    });
    section(&mut out, |out| {
        if finding.kind == "race" {
            // The run went on: what it printed is not about this.
            return;
        }
        stream(out, "stdout", &finding.stdout, screen);
        stream(out, "stderr", &finding.stderr, screen);
    });
    section(&mut out, |out| why::why(out, finding, screen));
    section(&mut out, |out| lanes(out, finding, screen));
    section(&mut out, |out| {
        if !is_about_all(finding) && finding.accesses.len() < 2 {
            strands::others(out, finding, screen);
        }
        facts::all(out, finding, screen);
    });
    out.push('\n');
    let count = match (replay, finding.shrunk) {
        (true, Some(shrunk)) => format!(
            "seen in {}, first in run {}; {}",
            counted(finding.count, "run"),
            finding.run,
            words::shrunk(shrunk, finding),
        ),
        (true, None) => format!(
            "seen in {}; run {} made {} and {}",
            counted(finding.count, "run"),
            finding.run,
            counted(finding.points, "point"),
            counted(finding.switches, "switch"),
        ),
        // A replay has other points than the recorded run: it need not stop where it is not to be stopped.
        (false, _) => format!("run {} again, {}", finding.run, counted(finding.switches, "switch")),
    };
    let mut edge = "  ";
    for row in wrap(&format!("{}: {count}", finding.id), screen.width.saturating_sub(4)) {
        let _ = writeln!(out, "{edge}{}", style.faint(row));
        edge = "    ";
    }
    if replay {
        // Never broken: it is there to be copied.
        let _ = writeln!(out, "  replay: {}", style.strong(replay_command(&finding.schedule)));
    }
    out
}

/// A part of a report, with an empty line before it if it has anything to say.
fn section(out: &mut String, write: impl FnOnce(&mut String)) {
    let mut text = String::new();
    write(&mut text);
    if !text.is_empty() {
        out.push('\n');
        out.push_str(&text);
    }
}

/// The command that replays a schedule.
pub fn replay_command(schedule: &str) -> String {
    format!("threadbare replay {}", shell_word(schedule))
}

/// A word as a shell takes it, in one line and without what would speak to a terminal.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.contains(is_unsafe) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut out = "$'".to_owned();
    for c in word.chars() {
        let _ = match c {
            '\'' | '\\' => write!(out, "\\{c}"),
            '\n' => write!(out, "\\n"),
            c if is_unsafe(c) && c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
            c if is_unsafe(c) => write!(out, "\\u{:04x}", u32::from(c)),
            c => write!(out, "{c}"),
        };
    }
    out.push('\'');
    out
}

fn headline(out: &mut String, finding: &Finding, screen: Screen) {
    let style = screen.style;
    let run = match finding.severity {
        Severity::Failure => format!("run {} failed:", finding.run),
        Severity::Note => format!("run {} showed:", finding.run),
    };
    let text = format!("{run} {}", sentence(finding));
    let mut rows = wrap(&printable(&text), screen.width.saturating_sub(2)).into_iter();
    let first = rows.next().unwrap_or_default();
    let told = first.strip_prefix(&run).unwrap_or(&first);
    let _ = writeln!(out, "{}{}", style.bad(&first[..first.len() - told.len()]), style.strong(told));
    for row in rows {
        let _ = writeln!(out, "  {}", style.strong(row));
    }
}

/// A finding in one sentence: its kind, the message, and the place if the message does not name it.
pub fn sentence(finding: &Finding) -> String {
    let place =
        finding.locations.first().filter(|_| !is_about_all(finding)).map(file_and_line).unwrap_or_default();
    // An assertion of C names its place itself.
    let told = !finding.accesses.is_empty() || names_place(&finding.message, &place);
    let at = match place.is_empty() || told {
        true => String::new(),
        false => format!(" at {place}"),
    };
    let message = finding.message.strip_prefix("data ").unwrap_or(&finding.message);
    let said = message.starts_with(&finding.kind);
    let kind = if said { String::new() } else { format!("{}: ", finding.kind) };
    format!("{kind}{}{at}", finding.message)
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

/// The places that a finding is about; what has no source is told in a line.
fn places(out: &mut String, finding: &Finding, screen: Screen) {
    let told = match finding.accesses.is_empty() {
        true => marks::failure(finding),
        false => marks::accesses(finding).into_iter().chain(marks::block(finding)).collect(),
    };
    let (found, bare): (Vec<_>, Vec<_>) = told.into_iter().partition(|told| told.mark.is_some());
    let marks: Vec<_> = found.into_iter().filter_map(|told| told.mark).collect();
    excerpts(out, &marks, Sources::of(finding), screen);
    for told in bare {
        let place = told.place.map(|place| format!(", {place}")).unwrap_or_default();
        strands::paragraph(out, &format!("{}{place}", told.label), 2, screen);
    }
}

fn stream(out: &mut String, name: &str, text: &str, screen: Screen) {
    let mut lines = without_harness(text.lines().collect());
    lines.retain(|line| !line.starts_with("note: run with `RUST_BACKTRACE=1`"));
    let written = |line: &&str| !line.trim().is_empty();
    let (Some(start), Some(last)) = (lines.iter().position(written), lines.iter().rposition(written)) else {
        return;
    };
    let lines = &lines[start..=last];
    let end = lines.len().saturating_sub(OUTPUT_LINES);
    // A panic's message comes before its backtrace.
    let panic = lines.iter().rposition(|line| line.contains("panicked at"));
    let first = panic.map_or(end, |at| at.min(end));
    // The stack is told elsewhere, and shorter.
    let backtrace = lines[first..].iter().position(|line| line.trim() == "stack backtrace:");
    let most = backtrace.filter(|_| panic.is_some()).unwrap_or(OUTPUT_LINES).min(OUTPUT_LINES);
    let shown = &lines[first..lines.len().min(first + most)];
    let _ = match lines.len() - shown.len() {
        0 => writeln!(out, "  {name}:"),
        _ => writeln!(out, "  {name} ({} of {} lines):", shown.len(), lines.len()),
    };
    for line in shown {
        for row in pieces(&printable(line), screen.width.saturating_sub(7)) {
            let _ = writeln!(out, "    {} {row}", screen.style.faint(screen.bar()));
        }
    }
}

/// Lines without those that Rust's test harness writes around a test: they tell nothing of it. What comes before the test may be no part of the run.
fn without_harness(mut lines: Vec<&str>) -> Vec<&str> {
    let begins = lines.iter().take(2).any(|line| line.starts_with("running ") && line.contains(" test"));
    let ends = lines.iter().rposition(|line| line.starts_with("test result: "));
    if !begins && ends.is_none() {
        return lines;
    }
    let told = |line: &&str| Some(format!("    {}", line.strip_prefix("test ")?.split(" ... ").next()?));
    let mut tested: Vec<String> = lines.iter().filter_map(told).collect();
    // The last list has the names of those that failed.
    if let Some(list) = lines[..ends.unwrap_or(0)].iter().rposition(|&line| line == "failures:") {
        tested.extend(lines[list + 1..ends.unwrap_or(0)].iter().map(|&line| line.to_owned()));
    }
    let harness = |line: &str| {
        line.is_empty()
            || line == "failures:"
            || !begins && line == "FAILED"
            || ["running ", "test ", "test result: "].iter().any(|start| line.starts_with(start))
            || tested.iter().any(|name| name == line)
    };
    lines.retain(|line| !harness(line));
    lines
}

fn file_and_line(location: &Location) -> String {
    match (&location.file, location.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
