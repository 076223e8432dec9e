//! Invariants as text: what is broken first, then what holds, by point.

use super::results::{Invariant, Results};
use std::collections::BTreeMap;
use std::fmt::Write;
use threadbare_report::Style;

/// Broken ones that are shown in full.
const BROKEN: usize = 10;
/// Points that are shown.
const POINTS: usize = 40;

/// The text.
pub(crate) fn text(results: &Results) -> String {
    let style = Style::for_stream(&std::io::stdout());
    let mut out = String::new();
    let mut line = |text: String| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{text}");
    };
    if results.runs > 0 {
        line(format!(
            "{} by {}: {} passed, {} failed; {} sampled",
            counted(results.runs, "run"),
            results.strategy,
            results.runs_passing,
            results.runs_failing,
            counted(results.variables as u64, "shared variable"),
        ));
    }
    if !results.checked.is_empty() {
        line(String::new());
        for it in results.checked.iter().filter(|it| it.fate != "holds") {
            line(format!("{} line {}: {} {}", style.bad(it.fate), it.line, it.point, it.text));
            if !it.why.is_empty() || !it.values.is_empty() {
                let schedule =
                    if it.schedule.is_empty() { String::new() } else { format!(" ({})", it.schedule) };
                line(format!("    {}: {}{schedule}", it.why, pairs(&it.values)));
            }
        }
        let holds = results.checked.iter().filter(|it| it.fate == "holds").count();
        line(format!("{holds} of {} kept lines hold", results.checked.len()));
        return finish(out, results);
    }
    let broken: Vec<&Invariant> = results.invariants.iter().filter(|it| it.broken).collect();
    if !broken.is_empty() {
        line(format!("\n{}", style.strong("held in passing runs, broken in failing ones")));
    } else if results.runs_failing > 0 {
        line("\nno statement of the passing runs is broken in failing ones".to_owned());
    }
    for it in broken.iter().take(BROKEN) {
        line(format!("\n{}. {}", it.rank.unwrap_or(0), style.bad(&it.text)));
        line(format!("   at {}", words(it)));
        if let Some((runs, of)) = it.broken_in {
            line(format!("   broken in {runs} of {of} failing runs looked at"));
        }
        if let Some(first) = &it.first_broken {
            let between = if first.came_between { "; another strand came in between" } else { "" };
            line(format!(
                "   first by strand {} at {}: {}{between}",
                first.strand,
                first.place,
                pairs(&first.values)
            ));
        }
        if !it.instead.is_empty() {
            line(format!("   failing runs keep: {}", it.instead.join(", ")));
        }
    }
    if broken.len() > BROKEN {
        line(format!("\n… and {} more, with `--format json`", broken.len() - BROKEN));
    }
    let mut last = None;
    let mut points = 0;
    let mut more = 0;
    for it in results.invariants.iter().filter(|it| !it.broken) {
        if last != Some(&it.name) {
            last = Some(&it.name);
            points += 1;
            if points == 1 {
                line(format!("\n{}", style.strong("hold in all passing runs")));
            }
            if points <= POINTS {
                line(format!("\n{}", it.name));
            }
        }
        if points <= POINTS {
            line(format!("    {}", it.text));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        line(format!("\n… and {more} more of {} points, with `--format json`", points - POINTS));
    }
    finish(out, results)
}

fn finish(mut out: String, results: &Results) -> String {
    let left = &results.left_out;
    let mut said = Vec::new();
    for (count, what) in [
        (left.unnamed, "shared places of heap and stacks that have no name"),
        (left.doubtful, "shared places of doubtful type"),
        (left.beyond, "shared variables beyond the bound"),
        (left.runs, "runs that could not be made again"),
        (left.accesses, "accesses of long runs"),
    ] {
        if count > 0 {
            said.push(format!("{count} {what}"));
        }
    }
    if !said.is_empty() {
        let _ = writeln!(out, "\nleft out: {}", said.join(", "));
    }
    if let Some(finding) = results.findings.first() {
        let _ = writeln!(out, "\nfailure: {} ({})", finding.message, finding.schedule);
    }
    out
}

/// Where a statement stands.
fn words(it: &Invariant) -> String {
    let side = if it.side == "enter" { "the entry" } else { "the exit" };
    match it.point {
        "block" => {
            let name = it.name.split(":::").next().unwrap_or_default();
            let lines = name.trim_end_matches("()").rsplit('_').take(2).collect::<Vec<_>>();
            let file = it.place.rsplit_once(':').map_or("", |(file, _)| file);
            match lines[..] {
                [last, first] if first == last => format!("{side} of {file}:{first} in {}()", it.function),
                [last, first] => format!("{side} of {file}:{first}-{last} in {}()", it.function),
                _ => it.name.clone(),
            }
        }
        _ => format!("{side} of {}() at {}", it.function, it.place),
    }
}

fn pairs(values: &BTreeMap<String, String>) -> String {
    let all: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    all.join(", ")
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
