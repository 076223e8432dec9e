//! What campaigns covered, for a terminal or a pipe, and as JSON.

use crate::columns::{fit, printable, width, wrap};
use crate::screen::Screen;
use crate::text::{counted, thousands};
use serde::Serialize;
use std::fmt::Write;
use threadbare_coverage::estimate::Method;
use threadbare_coverage::merged::OneOrder;
use threadbare_coverage::{Counts, Estimate, Merged, Sample, Spot};

/// The version of the JSON form.
pub const FORMAT_VERSION: u32 = 1;
/// Rows of the curve.
const ROWS: usize = 6;
/// The most columns of the curve.
const COLUMNS: usize = 64;
/// Below so many columns words are left out.
const NARROW: usize = 50;
/// Places that are told of each sort, unless all are asked for.
const PLACES: usize = 10;

/// What a user is told at the end of a campaign: lines.
pub fn summary(counts: &Counts, estimate: Option<&Estimate>) -> Vec<String> {
    let Some(estimate) = estimate else { return Vec::new() };
    let mut lines = vec![format!("{} of runs; {}", counted_classes(counts.classes), estimate.words())];
    if estimate.method == Method::RecentRuns {
        lines[0].push_str(&format!(", by the last {}", counted(estimate.runs, "run")));
    }
    lines.extend(remaining(estimate));
    lines
}

fn counted_classes(classes: u64) -> String {
    format!("{} class{}", thousands(classes), if classes == 1 { "" } else { "es" })
}

/// How many classes are left, if that is worth a line.
fn remaining(estimate: &Estimate) -> Option<String> {
    let left = estimate.remaining.filter(|left| left.classes >= 0.5 && !estimate.is_proved())?;
    let round = |number: f64| thousands(number.round() as u64);
    Some(format!(
        "at least {} more {} likely to be there (95%: {} to {})",
        round(left.classes),
        if left.classes < 1.5 { "class is" } else { "classes are" },
        round(left.low),
        round(left.high)
    ))
}

/// The rows of the table: a name, and how to get the number.
type Row = (&'static str, fn(&Counts) -> u64);
const TABLE: [Row; 7] = [
    ("classes of runs", |counts| counts.classes),
    ("reads-from pairs", |counts| counts.reads_from),
    ("HaPSet pairs", |counts| counts.hapset),
    ("synchronisation pairs", |counts| counts.sync_pairs),
    ("pairs of holder and waiter", |counts| counts.blocked_pairs),
    ("points reached", |counts| counts.points),
    ("points preempted", |counts| counts.points_preempted),
];

/// The coverage of programs, one after the other. With `all`, every place is told.
pub fn text(programs: &[Merged<'_>], all: bool, screen: Screen) -> String {
    let mut out = String::new();
    for (index, merged) in programs.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        program(&mut out, merged, all, screen);
    }
    out
}

fn program(out: &mut String, merged: &Merged<'_>, all: bool, screen: Screen) {
    let style = screen.style;
    let several = merged.campaigns.len() > 1;
    let Some(last) = merged.campaigns.last() else { return };
    let name = match last.identity.label.as_str() {
        "" => std::iter::once(&last.identity.program)
            .chain(&last.identity.args)
            .map(|part| printable(part))
            .collect::<Vec<_>>()
            .join(" "),
        label => printable(label),
    };
    let campaigns = if several {
        format!("{}, ", counted(merged.campaigns.len() as u64, "campaign"))
    } else {
        String::new()
    };
    let head = format!("{name}: {campaigns}{}", counted(merged.runs(), "run"));
    for row in wrap(&head, screen.width) {
        let _ = writeln!(out, "{}", style.strong(row));
    }
    out.push('\n');
    curve(out, &last.curve, screen);
    out.push('\n');
    table(out, merged, screen);
    out.push('\n');
    let mut lines = Vec::new();
    if let Some(estimate) = &merged.estimate {
        lines.push(estimate.words());
        lines.extend(remaining(estimate));
    } else if several {
        lines.push("campaigns of different or learning strategies: no estimate for all of them".to_owned());
    }
    if merged.approximate {
        lines.push("so many classes that only some are kept: their number is an estimate".to_owned());
    }
    for line in lines {
        paragraph(out, &line, screen);
    }
    let spots: Vec<String> = merged.never_preempted.iter().map(spot).collect();
    places(out, "points never preempted", &spots, all, screen);
    let pairs: Vec<String> = merged.one_order.iter().map(pair).collect();
    places(out, "seen in one order only (the other may be impossible)", &pairs, all, screen);
}

fn paragraph(out: &mut String, text: &str, screen: Screen) {
    let mut edge = "  ";
    for row in wrap(text, screen.width.saturating_sub(4)) {
        let _ = writeln!(out, "{edge}{row}");
        edge = "    ";
    }
}

fn spot(spot: &Spot) -> String {
    let place = match (&spot.file, spot.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        _ => spot.address.clone(),
    };
    match &spot.function {
        Some(function) => format!("{place} in {function}"),
        None => place,
    }
}

fn pair(pair: &OneOrder) -> String {
    format!("{}, then {}", spot(&pair.first), spot(&pair.then))
}

fn places(out: &mut String, what: &str, places: &[String], all: bool, screen: Screen) {
    if places.is_empty() {
        return;
    }
    out.push('\n');
    paragraph(out, &format!("{what}: {}", thousands(places.len() as u64)), screen);
    let shown = if all { places.len() } else { PLACES };
    for place in places.iter().take(shown) {
        for (index, row) in wrap(&printable(place), screen.width.saturating_sub(6)).iter().enumerate() {
            let _ = writeln!(out, "    {}{row}", if index == 0 { "" } else { "  " });
        }
    }
    if places.len() > shown {
        let _ = writeln!(out, "    {} {} more: `--all`", screen.dots(), places.len() - shown);
    }
}

/// How many classes were seen after how many runs; runs grow by factors from left to right.
fn curve(out: &mut String, samples: &[Sample], screen: Screen) {
    let Some(last) = samples.last() else { return };
    let _ = writeln!(
        out,
        "  {}",
        screen.style.faint(fit("classes, by runs", screen.width.saturating_sub(2), screen))
    );
    let most = last.counts.classes.max(1);
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
        (last.runs as f64).powf(share)
    };
    let levels: Vec<usize> = (0..columns)
        .map(|column| {
            let runs = runs_at(column) + 1e-9;
            let seen = samples.iter().take_while(|sample| sample.runs as f64 <= runs).last();
            let classes = seen.map_or(0, |sample| sample.counts.classes);
            (classes as f64 / most as f64 * (ROWS * full) as f64).ceil() as usize
        })
        .collect();
    for row in (0..ROWS).rev() {
        let edge = if row == ROWS - 1 { label.as_str() } else { "" };
        let line: String =
            levels.iter().map(|level| marks[level.saturating_sub(row * full).min(full)]).collect();
        let _ = writeln!(out, "  {edge:>at$} {}{}", screen.bar(), line.trim_end(), at = label.len());
    }
    let end = counted(last.runs, "run");
    let end = if width(&end) + 2 <= columns { end } else { thousands(last.runs) };
    let gap = columns.saturating_sub(1 + width(&end));
    let _ = writeln!(out, "  {:>at$}  1{}{end}", "0", " ".repeat(gap), at = label.len());
}

fn table(out: &mut String, merged: &Merged<'_>, screen: Screen) {
    let several = merged.campaigns.len() > 1;
    let added = match several {
        true if screen.width < NARROW => "added".to_owned(),
        true => format!("{} added", ordinal(merged.campaigns.len())),
        false => String::new(),
    };
    let rows: Vec<[String; 3]> = TABLE
        .iter()
        .map(|(name, number)| {
            let about = if merged.approximate && *name == TABLE[0].0 { "about " } else { "" };
            let last = merged.added.last().map(number).filter(|_| several);
            [
                (*name).to_owned(),
                format!("{about}{}", thousands(number(&merged.counts))),
                last.map(thousands).unwrap_or_default(),
            ]
        })
        .collect();
    let head = ["", "seen", &added];
    let wide =
        |at: usize| rows.iter().map(|row| width(&row[at])).chain([width(head[at])]).max().unwrap_or_default();
    let (seen, last) = (wide(1), wide(2));
    let name = wide(0).min(screen.width.saturating_sub(seen + last + 6));
    let mut line = |one: &str, two: &str, three: &str| {
        let text = format!("  {:<name$}  {two:>seen$}  {three:>last$}", fit(one, name, screen));
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line("", head[1], head[2]);
    for [one, two, three] in &rows {
        line(one, two, three);
    }
}

/// `the 2nd`.
fn ordinal(number: usize) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("the {number}{end}")
}

/// The JSON form.
#[derive(Serialize)]
struct Json<'a> {
    format_version: u32,
    programs: Vec<JsonProgram<'a>>,
}

#[derive(Serialize)]
struct JsonProgram<'a> {
    program: &'a str,
    program_id: &'a str,
    args: &'a [String],
    label: &'a str,
    runs: u64,
    counts: Counts,
    approximate: bool,
    estimate: Option<Estimate>,
    campaigns: Vec<JsonCampaign<'a>>,
    never_preempted: &'a [Spot],
    one_order: Vec<JsonPair<'a>>,
}

#[derive(Serialize)]
struct JsonCampaign<'a> {
    strategy: &'a str,
    seed: u64,
    runs: u64,
    counts: Counts,
    added: Counts,
    estimate: Option<Estimate>,
    curve: &'a [Sample],
}

#[derive(Serialize)]
struct JsonPair<'a> {
    first: &'a Spot,
    then: &'a Spot,
}

/// The coverage of programs as JSON, one object, with a line end.
pub fn json(programs: &[Merged<'_>]) -> String {
    let programs = programs.iter().filter_map(|merged| {
        let identity = &merged.campaigns.last()?.identity;
        let campaigns = merged.campaigns.iter().zip(&merged.added).map(|(campaign, added)| JsonCampaign {
            strategy: &campaign.identity.strategy,
            seed: campaign.identity.seed,
            runs: campaign.runs,
            counts: campaign.counts,
            added: *added,
            estimate: campaign.estimate,
            curve: &campaign.curve,
        });
        Some(JsonProgram {
            program: &identity.program,
            program_id: &identity.program_id,
            args: &identity.args,
            label: &identity.label,
            runs: merged.runs(),
            counts: merged.counts,
            approximate: merged.approximate,
            estimate: merged.estimate,
            campaigns: campaigns.collect(),
            never_preempted: &merged.never_preempted,
            one_order: merged
                .one_order
                .iter()
                .map(|pair| JsonPair { first: &pair.first, then: &pair.then })
                .collect(),
        })
    });
    let json = Json { format_version: FORMAT_VERSION, programs: programs.collect() };
    serde_json::to_string_pretty(&json).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests;
