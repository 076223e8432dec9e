//! What campaigns covered, for a terminal or a pipe, and as JSON.

use crate::columns::{fit, printable, width, wrap};
use crate::curve::curve;
use crate::screen::Screen;
use crate::tasks::TasksReport;
use crate::text::{counted, thousands};
use serde::Serialize;
use std::fmt::Write;
use threadbare_coverage::estimate::Method;
use threadbare_coverage::iroots::IrootCounts;
use threadbare_coverage::merged::OneOrder;
use threadbare_coverage::tasks::{TaskCounts, TaskProgress, TaskSample, TaskTable};
use threadbare_coverage::{Counts, Estimate, Merged, Sample, Spot};

/// The version of the JSON form.
pub const FORMAT_VERSION: u32 = 1;
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

/// What of a free campaign is known of runs that were made again under control; nothing if there were none.
pub(crate) fn followed(counts: &Counts, runs: u64) -> Option<String> {
    (runs > 0).then(|| {
        format!(
            "{} made again under control: {}{}, {}",
            if runs == 1 { "1 run was".to_owned() } else { format!("{} runs were", thousands(runs)) },
            // Runs that found new points have no class.
            if counts.classes > 0 { counted_classes(counts.classes) + ", " } else { String::new() },
            counted(counts.reads_from, "reads-from pair"),
            counted(counts.sync_pairs, "synchronisation pair"),
        )
    })
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
    let runs = if merged.tasks.is_some() { "free run" } else { "run" };
    let head = format!("{name}: {campaigns}{}", counted(merged.runs(), runs));
    for row in wrap(&head, screen.width) {
        let _ = writeln!(out, "{}", style.strong(row));
    }
    out.push('\n');
    if let Some(table) = &merged.tasks {
        let added = several.then(|| format!("{} added", ordinal(merged.campaigns.len())));
        let added = added.as_deref().or(has_earlier(table).then_some("added"));
        crate::tasks::text(out, &TasksReport::of(table, None, true), added, all, screen);
        if let Some(line) = followed(&merged.counts, table.followed()) {
            out.push('\n');
            paragraph(out, &line, screen);
        }
        return;
    }
    // Of many inputs together only the iroots are known.
    if let Some(counts) = merged.iroots.filter(|_| merged.counts == Counts::default()) {
        return paragraph(out, &iroots(&counts), screen);
    }
    let classes: Vec<_> = last.curve.iter().map(|sample| (sample.runs, sample.counts.classes)).collect();
    curve(out, "classes, by runs", &classes, screen);
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
    if let Some(counts) = &merged.iroots {
        lines.push(iroots(counts));
    }
    for line in lines {
        paragraph(out, &line, screen);
    }
    let spots: Vec<String> = merged.never_preempted.iter().map(spot).collect();
    places(out, "points never preempted", &spots, all, screen);
    let pairs: Vec<String> = merged.one_order.iter().map(pair).collect();
    places(out, "seen in one order only (the other may be impossible)", &pairs, all, screen);
}

/// How many instances of interleaving idioms there are.
fn iroots(counts: &IrootCounts) -> String {
    let (predicted, shown, infeasible) = counts.all();
    let numbers = |list: &[u64]| list.iter().map(|&it| thousands(it)).collect::<Vec<_>>().join(" ");
    format!(
        "iroots: {} predicted, {} shown, {} infeasible (idioms 1 to 6: {} shown of {})",
        thousands(predicted),
        thousands(shown),
        thousands(infeasible),
        numbers(&counts.shown),
        numbers(&counts.predicted)
    )
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

/// Whether the last campaign went on from others.
fn has_earlier(table: &TaskTable) -> bool {
    table.added() != table.counts().point()
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
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<TasksReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iroots: Option<IrootCounts>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<JsonTasks<'a>>,
}

#[derive(Serialize)]
struct JsonTasks<'a> {
    counts: TaskCounts,
    added: TaskProgress,
    curve: &'a [TaskSample],
}

#[derive(Serialize)]
struct JsonPair<'a> {
    first: &'a Spot,
    then: &'a Spot,
}

/// The coverage of programs as JSON, one object, with a line end. Without `all`, very many pairs of functions are cut.
pub fn json(programs: &[Merged<'_>], all: bool) -> String {
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
            tasks: campaign.tasks.as_ref().map(|tasks| JsonTasks {
                counts: tasks.counts,
                added: tasks.added,
                curve: &tasks.curve,
            }),
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
            tasks: merged.tasks.as_ref().map(|table| TasksReport::of(table, None, all)),
            iroots: merged.iroots,
        })
    });
    let json = Json { format_version: FORMAT_VERSION, programs: programs.collect() };
    serde_json::to_string_pretty(&json).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests;
