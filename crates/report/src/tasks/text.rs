//! The tasks of free runs for a terminal or a pipe.

use super::data::{ALONE, COVERED, FunctionTasks, NEVER_RETURNED, NO_EVENTS, OPEN, TasksReport};
use crate::columns::{fit, fit_end, padded, printable, width, wrap};
use crate::curve::curve;
use crate::screen::Screen;
use crate::text::{counted, thousands};
use std::fmt::Write;
use threadbare_coverage::tasks::Model;
use threadbare_coverage::{Spot, TaskCounts};

/// Functions and pairs that are told, unless all are asked for.
const SHOWN: usize = 10;
/// Below so many columns a table has no room.
const NARROW: usize = 72;
/// Names that are told of a function's open pairs, unless all are asked for, and the columns of each.
const NAMES: usize = 6;
const NAME: usize = 40;

/// What a user is told at the end of a campaign: lines.
pub fn summary(tasks: &TasksReport) -> Vec<String> {
    let counts = &tasks.counts;
    if counts.beside == 0 {
        return match counts.functions {
            0 => Vec::new(),
            _ => vec!["covered: no function of the program ran while another strand lived".to_owned()],
        };
    }
    let mut lines = vec![format!(
        "covered: {} interrupted, {} ran through, {} met",
        of(&counts.interrupted, "function"),
        of(&counts.ran_through, ""),
        of(&counts.model2, "pair"),
    )];
    let out = out_of_reach(counts);
    if !out.is_empty() {
        lines.push(format!("out of reach so far: {}", out.join(", ")));
    }
    if tasks.lost > 0 {
        lines.push("the program has more functions than are told apart: some are left out".to_owned());
    }
    lines
}

/// `3 of 8 functions (37%)`.
fn of(model: &Model, what: &str) -> String {
    let what = match (what, model.coverable) {
        ("", _) => String::new(),
        (what, 1) => format!(" {what}"),
        (what, _) => format!(" {what}s"),
    };
    format!(
        "{} of {}{what}{}",
        thousands(model.covered),
        thousands(model.coverable),
        covered_percent(model).map(|percent| format!(" ({percent})")).unwrap_or_default()
    )
}

/// A share that somebody has asked for.
pub fn percent(share: f64) -> String {
    format!("{}%", (share * 1e4).round() / 1e2)
}

/// Rounded down: all is only what is all.
fn covered_percent(model: &Model) -> Option<String> {
    Some(format!("{}%", (model.share()? * 100.0 + 1e-9).floor()))
}

/// What cannot be covered as far as the runs show.
fn out_of_reach(counts: &TaskCounts) -> Vec<String> {
    let functions =
        |count: u64, what: &str| (count > 0).then(|| format!("{} {what}", counted(count, "function")));
    [
        functions(counts.interrupted.uncoverable.alone, "that ran only while no other strand lived"),
        functions(counts.ran_through.uncoverable.never_returned, "that did not return"),
        functions(counts.interrupted.uncoverable.no_events, "without a place for noise"),
        (counts.model2.uncoverable.one_strand > 0)
            .then(|| format!("{} within one strand", counted(counts.model2.uncoverable.one_strand, "pair"))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The tasks of a program. With `all`, every function and open pair is told; `last` says who added what.
pub fn text(out: &mut String, tasks: &TasksReport, last: Option<&str>, all: bool, screen: Screen) {
    let ones: Vec<_> =
        tasks.curve.iter().map(|it| (it.runs, it.counts.interrupted + it.counts.ran_through)).collect();
    let pairs: Vec<_> = tasks.curve.iter().map(|it| (it.runs, it.counts.pairs)).collect();
    let curves =
        [("functions interrupted and run through, by runs", ones), ("pairs of functions, by runs", pairs)];
    for (title, samples) in curves.iter().filter(|(_, it)| it.last().is_some_and(|(_, last)| *last > 0)) {
        curve(out, title, samples, screen);
        out.push('\n');
    }
    counts(out, tasks, last, screen);
    let lines = out_of_reach(&tasks.counts);
    if !lines.is_empty() {
        out.push('\n');
        paragraph(out, &format!("out of reach so far: {}", lines.join(", ")), screen);
    }
    if tasks.lost > 0 {
        paragraph(out, "the program has more functions than are told apart: some are left out", screen);
    }
    out.push('\n');
    functions(out, tasks, all, screen);
    open_pairs(out, tasks, all, screen);
}

fn paragraph(out: &mut String, text: &str, screen: Screen) {
    let mut edge = "  ";
    for row in wrap(text, screen.width.saturating_sub(4)) {
        let _ = writeln!(out, "{edge}{row}");
        edge = "    ";
    }
}

fn counts(out: &mut String, tasks: &TasksReport, last: Option<&str>, screen: Screen) {
    let rows = [
        ("functions interrupted", &tasks.counts.interrupted, tasks.added.interrupted),
        ("functions run through", &tasks.counts.ran_through, tasks.added.ran_through),
        ("pairs of functions", &tasks.counts.model2, tasks.added.pairs),
    ];
    if screen.width < NARROW {
        for (name, model, added) in rows {
            let added = last.map(|_| format!(", {} added", thousands(added))).unwrap_or_default();
            paragraph(out, &format!("{name}: {}{added}", of(model, "")), screen);
        }
        return;
    }
    let head = ["", "covered", "can be", "", last.unwrap_or_default()].map(str::to_owned);
    let rows = rows.map(|(name, model, added)| {
        [
            name.to_owned(),
            thousands(model.covered),
            thousands(model.coverable),
            covered_percent(model).unwrap_or_default(),
            last.map(|_| thousands(added)).unwrap_or_default(),
        ]
    });
    let lines = || std::iter::once(&head).chain(&rows);
    let wide = |at: usize| lines().map(|line| width(&line[at])).max().unwrap_or_default();
    let widths: Vec<usize> = (0..head.len()).map(wide).collect();
    for line in lines() {
        let mut text = format!("  {}", padded(&line[0], widths[0]));
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            let _ = write!(text, "  {cell:>width$}");
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
}

/// The words of the table, each with what it means; those that are plain have no meaning to tell.
const WORDS: [(&str, &str, &str); 5] = [
    (COVERED, "yes", ""),
    (OPEN, "open", ""),
    (ALONE, "alone", "it ran only while no other strand lived"),
    (NEVER_RETURNED, "no return", "no call came to its end while another strand lived"),
    (NO_EVENTS, "no event", "it touches nothing that strands share, so noise does not reach it"),
];

fn word(state: &str) -> &'static str {
    WORDS.iter().find(|(name, ..)| *name == state).map_or("", |(_, word, _)| word)
}

fn functions(out: &mut String, tasks: &TasksReport, all: bool, screen: Screen) {
    let shown = if all { tasks.functions.len() } else { tasks.functions.len().min(SHOWN) };
    let rows = &tasks.functions[..shown];
    if rows.is_empty() {
        return;
    }
    let pairs = |tasks: &FunctionTasks| match tasks.pairs_coverable {
        0 => "none".to_owned(),
        coverable => format!("{} of {}", thousands(tasks.pairs_covered), thousands(coverable)),
    };
    let place = |spot: &Spot| match (&spot.file, spot.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        _ if spot.function.is_some() => String::new(),
        _ => spot.address.clone(),
    };
    if screen.width < NARROW {
        for tasks in rows {
            let name = format!("{} {}", name(&tasks.spot), place(&tasks.spot));
            let states = format!(
                "interrupted: {}, ran through: {}, pairs: {}",
                word(&tasks.interrupted),
                word(&tasks.ran_through),
                pairs(tasks)
            );
            paragraph(out, &printable(&name), screen);
            for row in wrap(&states, screen.width.saturating_sub(4)) {
                let _ = writeln!(out, "    {row}");
            }
        }
    } else {
        let head = ["interrupted", "ran through", "pairs"];
        let cells: Vec<[String; 3]> = rows
            .iter()
            .map(|tasks| {
                [word(&tasks.interrupted).to_owned(), word(&tasks.ran_through).to_owned(), pairs(tasks)]
            })
            .collect();
        let third = cells.iter().map(|row| width(&row[2])).chain([width(head[2])]).max().unwrap_or_default();
        let room = screen.width.saturating_sub(2 + 2 + 11 + 2 + 11 + 2 + third);
        let names: Vec<String> = rows.iter().map(|tasks| printable(&name(&tasks.spot))).collect();
        let places: Vec<String> = rows.iter().map(|tasks| printable(&place(&tasks.spot))).collect();
        let longest = |texts: &[String]| texts.iter().map(|text| width(text)).max().unwrap_or_default();
        // Names may be long, and so may paths, whose end says most: they have a third, and what the names leave.
        let place_room = longest(&places).min((room / 3).max(room.saturating_sub(longest(&names) + 2)));
        let name_room = longest(&names).min(room.saturating_sub(place_room + 2)).max(8);
        let mut line = |one: &str, two: &str, rest: [&str; 3]| {
            let text = format!(
                "  {}  {}  {}  {}  {}",
                padded(one, name_room),
                padded(two, place_room),
                padded(rest[0], 11),
                padded(rest[1], 11),
                rest[2]
            );
            let _ = writeln!(out, "{}", text.trim_end());
        };
        line("function", "", head);
        for ((name, place), cells) in names.iter().zip(&places).zip(&cells) {
            let cells = [cells[0].as_str(), cells[1].as_str(), cells[2].as_str()];
            line(&fit(name, name_room, screen), &fit_end(place, place_room, screen), cells);
        }
    }
    if tasks.functions.len() > shown {
        let _ = writeln!(out, "  {} {} more: `--all`", screen.dots(), tasks.functions.len() - shown);
    }
    let used = |state: &&str| rows.iter().any(|row| row.interrupted == **state || row.ran_through == **state);
    let meanings: Vec<_> =
        WORDS.iter().filter(|(state, _, meaning)| used(state) && !meaning.is_empty()).collect();
    if !meanings.is_empty() {
        out.push('\n');
    }
    for (_, word, meaning) in meanings {
        paragraph(out, &format!("{word}: {meaning}"), screen);
    }
}

fn name(spot: &Spot) -> String {
    spot.function.clone().unwrap_or_else(|| "?".to_owned())
}

fn open_pairs(out: &mut String, tasks: &TasksReport, all: bool, screen: Screen) {
    let open = &tasks.pairs.open.0;
    if open.is_empty() {
        return;
    }
    out.push('\n');
    let count = thousands(tasks.counts.model2.open());
    paragraph(
        out,
        &format!(
            "pairs that did not meet, each function with those that did not run while it was interrupted: {count}"
        ),
        screen,
    );
    let function =
        |at: u16| tasks.functions.get(usize::from(at)).map(|it| name(&it.spot)).unwrap_or_default();
    let short = |at: &u16| fit(&function(*at), NAME, screen);
    let groups: Vec<&[(u16, u16)]> = open.chunk_by(|one, other| one.0 == other.0).collect();
    let shown = if all { groups.len() } else { SHOWN };
    for group in groups.iter().take(shown) {
        let named = if all { group.len() } else { NAMES };
        let mut names: Vec<String> = group.iter().take(named).map(|(_, other)| short(other)).collect();
        if group.len() > named {
            names.push(format!("and {} more", thousands((group.len() - named) as u64)));
        }
        let text = printable(&format!("{}: {}", short(&group[0].0), names.join(", ")));
        for (index, row) in wrap(&text, screen.width.saturating_sub(6)).iter().enumerate() {
            let _ = writeln!(out, "    {}{row}", if index == 0 { "" } else { "  " });
        }
    }
    if groups.len() > shown {
        let _ = writeln!(out, "    {} {} functions more: `--all`", screen.dots(), groups.len() - shown);
    }
}
