//! The last steps of a run as a picture: one lane a strand, one row a step, in the order the steps were made.
//!
//! ```text
//!     0             0.1               0.2              bank.c
//!     create 0.2    │                                  18
//!     │             read balance      │                9
//!     │             │                 read balance     9
//!   ▶ │             │                 write balance    10
//! ```
//!
//! The text moves to another column where another strand goes on. Where the lanes have no room they become a list with the
//! strand's name before its steps.

use crate::columns::{fit, fit_end, padded, width};
use crate::screen::Screen;
use crate::text::words::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use threadbare_findings::Finding;
use threadbare_findings::finding::LaneStep;
use threadbare_findings::places::shown;

/// The most steps a picture shows.
const ROWS: usize = 24;
/// The least columns a lane is readable with.
const LANE: usize = 13;
/// The most columns a lane needs.
const WIDE_LANE: usize = 28;
/// Columns before a row: indentation and the sign of what matters most.
const EDGE: usize = 4;

/// One row.
struct Row<'a> {
    strand: &'a str,
    text: String,
    place: Option<(&'a str, u32)>,
    waits: bool,
    creates: Option<&'a str>,
    skipped: u64,
    main: bool,
    /// It is one of the two whose order decides.
    decides: bool,
}

/// Writes the picture of a finding's steps; nothing if it has none.
pub fn lanes(out: &mut String, finding: &Finding, screen: Screen) {
    let rows = rows(finding, screen);
    if rows.is_empty() {
        return;
    }
    let strands: BTreeSet<Vec<u32>> = rows.iter().map(|row| order(row.strand)).collect();
    let names: Vec<&str> = strands
        .iter()
        .filter_map(|path| rows.iter().map(|row| row.strand).find(|name| order(name) == *path))
        .collect();
    let places = Places::of(&rows, screen);
    let room = screen.width.saturating_sub(EDGE + places.width + 1);
    let needed = rows.iter().map(|row| width(&row.text) + 2).max().unwrap_or(LANE);
    let lane = (room / names.len().max(1)).min(needed.clamp(LANE, WIDE_LANE));
    if lane >= LANE {
        picture(out, finding, &rows, &names, lane, &places, screen);
    } else {
        list(out, &rows, &names, &places, screen);
    }
}

fn picture(
    out: &mut String,
    finding: &Finding,
    rows: &[Row<'_>],
    names: &[&str],
    lane: usize,
    places: &Places,
    screen: Screen,
) {
    let style = screen.style;
    let edge = " ".repeat(EDGE);
    let heads: String = names.iter().map(|name| padded(&fit(name, lane - 1, screen), lane)).collect();
    let head = format!("{edge}{}{}", style.strong(heads), places.head);
    let _ = writeln!(out, "{}", head.trim_end());
    let created: BTreeSet<&str> = rows.iter().filter_map(|row| row.creates).collect();
    let mut alive: BTreeSet<&str> = names.iter().copied().filter(|name| !created.contains(name)).collect();
    let mut waiting: BTreeSet<&str> = BTreeSet::new();
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().enumerate().for_each(|(at, row)| _ = last.insert(row.strand, at));
    // A race is not the end of its run: nobody need have ended.
    let goes_on = finding.strands.is_empty() || finding.kind == "race";
    let stays = |name: &str| goes_on || finding.strands.iter().any(|strand| strand.strand == name);
    for (at, row) in rows.iter().enumerate() {
        skipped(out, row.skipped, &edge, screen);
        let mut line = edge_of(row, screen);
        for &name in names {
            if name == row.strand {
                let cell = fit(&row.text, lane - 1, screen);
                let rest = " ".repeat(lane.saturating_sub(width(&cell)));
                match row.main {
                    true => _ = write!(line, "{}{rest}", style.bad(cell)),
                    false => _ = write!(line, "{cell}{rest}"),
                }
                continue;
            }
            let is_there =
                alive.contains(name) && (stays(name) || last.get(name).is_some_and(|&end| at < end));
            let sign = match (is_there, waiting.contains(name)) {
                (false, _) => " ",
                (true, true) => screen.waiting(),
                (true, false) => screen.bar(),
            };
            let _ = write!(line, "{}", style.faint(padded(sign, lane)));
        }
        let _ = write!(line, "{}", style.faint(places.text(row, screen)));
        // Blanks at the end would stand before the sign that ends a colour.
        let _ = writeln!(out, "{}", if style == crate::Style::PLAIN { line.trim_end() } else { &line });
        alive.insert(row.strand);
        alive.extend(row.creates);
        if row.waits {
            waiting.insert(row.strand);
        } else {
            waiting.remove(row.strand);
        }
    }
}

fn list(out: &mut String, rows: &[Row<'_>], names: &[&str], places: &Places, screen: Screen) {
    let style = screen.style;
    let edge = " ".repeat(EDGE);
    let most = screen.width.saturating_sub(EDGE + places.width) / 3;
    let label = names.iter().map(|name| width(name)).max().unwrap_or(0).min(most) + 2;
    let room = screen.width.saturating_sub(EDGE + label + places.width + 1);
    let needed = rows.iter().map(|row| width(&row.text) + 2).max().unwrap_or(0);
    let column = needed.min(room);
    if !places.head.is_empty() {
        let _ = writeln!(out, "{edge}{}{}", " ".repeat(label + column), places.head);
    }
    let mut before = "";
    for row in rows {
        skipped(out, row.skipped, &edge, screen);
        let name = if row.strand == before && row.skipped == 0 { "" } else { row.strand };
        let name = padded(&fit_end(name, label - 2, screen), label);
        let text = padded(&fit(&row.text, column.saturating_sub(1), screen), column);
        let text = if row.main { style.bad(text).to_string() } else { text };
        let line = format!(
            "{}{}{text}{}",
            edge_of(row, screen),
            style.strong(name),
            style.faint(places.text(row, screen))
        );
        let _ = writeln!(out, "{}", line.trim_end());
        before = row.strand;
    }
}

fn edge_of(row: &Row<'_>, screen: Screen) -> String {
    match (row.main, row.decides) {
        (true, _) => format!("  {} ", screen.style.bad(screen.pointer())),
        (false, true) => format!("  {} ", screen.style.strong(screen.spot())),
        (false, false) => " ".repeat(EDGE),
    }
}

fn skipped(out: &mut String, count: u64, edge: &str, screen: Screen) {
    if count > 0 {
        let text = format!("{} {}", screen.dots(), counted(count, "step"));
        let _ = writeln!(out, "{edge}{}", screen.style.faint(text));
    }
}

/// Which steps a picture shows: what decides and what fails always, and each strand's last step; of the others the last
/// ones, those before all that are on what the explanation names.
fn chosen(steps: &[LaneStep], mains: &BTreeSet<usize>, pair: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    steps.iter().enumerate().for_each(|(at, step)| _ = last.insert(&step.strand, at));
    let mut chosen: BTreeSet<usize> = last.into_values().chain(mains.iter().chain(pair).copied()).collect();
    if pair.is_empty() {
        chosen.extend(steps.len().saturating_sub(ROWS)..steps.len());
        return chosen;
    }
    for about in [true, false] {
        let room = ROWS.saturating_sub(chosen.len());
        let wanted = (0..steps.len()).rev().filter(|at| steps[*at].about == about && !chosen.contains(at));
        let more: Vec<usize> = wanted.take(room).collect();
        chosen.extend(more);
    }
    chosen
}

/// The rows of a picture.
fn rows<'a>(finding: &'a Finding, screen: Screen) -> Vec<Row<'a>> {
    let steps = &finding.steps;
    let mains = main_steps(finding);
    let pair = pair_steps(finding);
    let chosen = chosen(steps, &mains, &pair);
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (at, step) in steps.iter().enumerate() {
        left_out += step.skipped;
        if !chosen.contains(&at) {
            left_out += 1;
            continue;
        }
        let creates = step.object.as_deref().filter(|_| step.operation == "create");
        rows.push(Row {
            strand: &step.strand,
            text: text(step, screen),
            place: position(step),
            waits: step.waits,
            creates: creates.map(|object| object.trim_start_matches("strand ")),
            skipped: std::mem::take(&mut left_out),
            main: mains.contains(&at),
            decides: pair.contains(&at),
        });
    }
    rows.extend(failure(finding, &rows, screen));
    rows
}

/// The row where a strand fails, which is no step of its own.
fn failure<'a>(finding: &'a Finding, rows: &[Row<'a>], screen: Screen) -> Option<Row<'a>> {
    let about_one =
        ["assertion", "panic", "crash", "exit", "stack-overflow"].contains(&finding.kind.as_str());
    let location = finding.locations.first().filter(|_| about_one && !rows.is_empty())?;
    let sign = if screen.unicode { "✗" } else { "X" };
    Some(Row {
        strand: location.strand.as_deref()?,
        text: format!("{sign} {}", finding.kind),
        place: location.file.as_deref().zip(location.line),
        waits: false,
        creates: None,
        skipped: 0,
        main: true,
        decides: false,
    })
}

/// The steps that are the accesses the finding is about.
fn main_steps(finding: &Finding) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for access in &finding.accesses {
        let at = shown(&access.stack).map(|place| (&place.file, place.line));
        let same = |step: &LaneStep| {
            step.strand == access.strand && step.place.as_ref().map(|place| (&place.file, place.line)) == at
        };
        let exact = finding.steps.iter().rposition(|step| same(step) && step.operation == access.operation);
        found.extend(exact.or_else(|| finding.steps.iter().rposition(same)));
    }
    found
}

/// The steps that are the pair whose order decides.
fn pair_steps(finding: &Finding) -> BTreeSet<usize> {
    let Some(explanation) = finding.explanation.as_ref().filter(|_| finding.kind != "race") else {
        return BTreeSet::new();
    };
    let marked: BTreeSet<usize> = (0..finding.steps.len()).filter(|&at| finding.steps[at].decides).collect();
    if !marked.is_empty() {
        return marked;
    }
    let mut found = BTreeSet::new();
    let mut end = finding.steps.len();
    // The second one is the later: what the first one is comes before it.
    for place in explanation.pair.iter().rev() {
        let same = |step: &LaneStep| {
            let at = step.place.as_ref().map(|at| (&at.file, at.line));
            step.strand == place.strand
                && step.operation == place.operation
                && at == Some((&place.file, place.line))
        };
        if let Some(at) = finding.steps[..end].iter().rposition(same) {
            found.insert(at);
            end = at;
        }
    }
    found
}

/// A step in a few words.
pub(crate) fn text(step: &LaneStep, screen: Screen) -> String {
    let operation = step.operation.trim_start_matches("atomic-").trim_end_matches("-range");
    let object = step.object.as_deref().map(|object| short(object, screen)).unwrap_or_default();
    let waits = if step.waits { "waits: " } else { "" };
    format!("{waits}{operation} {object}").trim_end().to_owned()
}

/// A name without the modules it lies in, a strand by its name alone, of an address what tells it from others.
fn short(object: &str, screen: Screen) -> String {
    const DIGITS: usize = 5;
    if let Some(strand) = object.strip_prefix("strand ") {
        return strand.to_owned();
    }
    if object.starts_with("0x") && object.len() > DIGITS + 3 {
        return format!("0x{}{}", screen.ellipsis(), &object[object.len() - DIGITS..]);
    }
    // What lies in brackets is part of a name, not a module.
    let mut depth = 0;
    let mut start = 0;
    let bytes = object.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth -= 1,
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => start = at + 2,
            _ => {}
        }
    }
    object.get(start..).filter(|rest| !rest.is_empty()).unwrap_or(object).to_owned()
}

fn position(step: &LaneStep) -> Option<(&str, u32)> {
    let place = step.place.as_ref().filter(|place| !place.library)?;
    place.file.as_deref().zip(place.line)
}

/// The place in the creation tree, for the order of the lanes.
fn order(strand: &str) -> Vec<u32> {
    strand.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}

/// The column of places: line numbers if all steps lie in one file.
struct Places {
    /// The file, if it is one.
    head: String,
    width: usize,
}

/// The most columns of a place.
const PLACE: usize = 20;

impl Places {
    fn of(rows: &[Row<'_>], screen: Screen) -> Places {
        let mut files = rows.iter().filter_map(|row| row.place).map(|(file, _)| file);
        let one = files.next().filter(|first| files.all(|file| file == *first));
        // Where there is little room the lanes need it more than the file's name.
        let most = if screen.width < 80 { PLACE / 2 } else { PLACE };
        let head = fit_end(one.map_or("", file_name), most, screen);
        let mut all = Places { head, width: 0 };
        let widest = rows.iter().map(|row| width(&all.whole(row))).max().unwrap_or(0);
        all.width = widest.max(width(&all.head)).min(PLACE);
        all
    }

    fn whole(&self, row: &Row<'_>) -> String {
        match row.place {
            Some((_, line)) if !self.head.is_empty() => line.to_string(),
            Some((file, line)) => format!("{}:{line}", file_name(file)),
            None => String::new(),
        }
    }

    fn text(&self, row: &Row<'_>, screen: Screen) -> String {
        fit_end(&self.whole(row), self.width, screen)
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_findings::Place;
    use threadbare_findings::finding::Explanation;

    /// A long run: the pair that decides is at its beginning, counters of all strands come after it.
    fn long() -> Finding {
        let step = |at: u32, strand: &str, object: &str| LaneStep {
            strand: strand.into(),
            operation: "write".into(),
            object: Some(object.into()),
            place: Some(Place { file: Some("a.c".into()), line: Some(at), ..Place::default() }),
            ..LaneStep::default()
        };
        let mut steps: Vec<LaneStep> =
            (1..=90).map(|at| step(at, if at % 2 == 0 { "0.1" } else { "0.2" }, "calls")).collect();
        for (at, decides) in [(3, true), (8, true), (20, false), (40, false)] {
            steps[at].object = Some("sum".into());
            steps[at].about = true;
            steps[at].decides = decides;
        }
        Finding {
            kind: "assertion".into(),
            steps,
            explanation: Some(Explanation::default()),
            ..Finding::default()
        }
    }

    #[test]
    fn what_decides_is_never_left_out_and_what_is_not_named_goes_first() {
        let finding = long();
        for width in [80, 140] {
            for style in [crate::Style::PLAIN, crate::Style::COLOUR] {
                let screen = Screen { width, style, ..Screen::PLAIN };
                let mut out = String::new();
                lanes(&mut out, &finding, screen);
                assert_eq!(out.matches(screen.spot()).count(), 2, "{out}");
                assert_eq!(out.matches("write sum").count(), 4, "{out}");
                assert_eq!(rows(&finding, screen).len(), ROWS, "{out}");
                let shown: u64 = rows(&finding, screen).iter().map(|row| row.skipped).sum();
                assert_eq!(shown as usize + ROWS, finding.steps.len(), "nothing is lost count of");
            }
        }
    }

    #[test]
    fn names_are_short() {
        let short = |object| super::short(object, Screen::PLAIN);
        assert_eq!(short("strand 0.1"), "0.1");
        assert_eq!(short("bank::ledger::BALANCE"), "BALANCE");
        assert_eq!(short("std::vector<std::string>"), "vector<std::string>");
        assert_eq!(short("a::f::{closure#0}::MIN"), "MIN");
        assert_eq!(short("accounts[3].lock"), "accounts[3].lock");
        assert_eq!(short("0x600000000d90"), "0x…00d90");
        assert_eq!(short("fd 3"), "fd 3");
        assert_eq!(short("a::"), "a::");
    }
}
