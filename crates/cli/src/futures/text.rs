//! The table in words.

use super::table::{Passing, Row, State, Table, Term, Tried, Whose};
use std::fmt::Write;
use threadbare_report::choices::{Came, count};
use threadbare_report::columns::wrap;
use threadbare_report::{Screen, branches};

/// Places of writes that are longer have a line of their own.
const WIDE: usize = 40;
/// What a line of words has at least.
const NARROW: usize = 36;

/// The table for people; what the code alone says of writes behind pointers is counted, unless the reads were `asked` for.
pub(crate) fn table(table: &Table, screen: Screen, asked: bool) -> String {
    let mut text = String::new();
    for row in &table.reads {
        let _ = writeln!(text, "{}", head(row));
        let is_told = |term: &&Term| asked || !term.is_guess();
        let terms: Vec<&Term> = row.terms.iter().filter(is_told).collect();
        let places: Vec<String> = terms.iter().map(|term| place(term)).collect();
        let width = places.iter().map(String::len).filter(|&width| width <= WIDE).max().unwrap_or(0);
        for (term, place) in terms.iter().zip(&places) {
            let mut told = term.tried.as_ref().map_or_else(|| state(term, table.runs + table.made), outcome);
            if term.tried.is_none() && !term.branches.is_empty() {
                told = format!("{told}; {}", branches::words(&term.branches));
            }
            if let Some(near) = &term.passing {
                told = format!("{told}; {}", passing(near));
            }
            let mut edge = format!("  <- {place:width$}  {:14}  ", whose(term.whose));
            if place.len() > WIDE {
                let _ = writeln!(text, "{}", edge.trim_end());
                edge = " ".repeat("  <- ".len() + width + 18);
            }
            let room = screen.width.saturating_sub(edge.len()).max(NARROW);
            for line in wrap(&told, room) {
                let _ = writeln!(text, "{edge}{line}");
                edge = " ".repeat(edge.len());
            }
        }
        let guesses = row.terms.len() - terms.len();
        if guesses > 0 {
            let told = format!(
                "and, by the code alone, {} behind pointers that no run made to shared memory: `--read {}` lists them",
                count(guesses, "write"),
                row.read.short()
            );
            for line in wrap(&told, screen.width.saturating_sub(5).max(NARROW)) {
                let _ = writeln!(text, "     {line}");
            }
        }
        text.push('\n');
    }
    let terms: Vec<&Term> = table.reads.iter().flat_map(|row| &row.terms).collect();
    let kinds =
        ["seen", "made", "possible and not seen", "not made", "not reached", "cannot be", "struck out"];
    let counts = kinds.map(|kind| (terms.iter().filter(|term| self::kind(term) == kind).count(), kind));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, kind)| format!("{count} {kind}")).collect();
    let (reads, all) = (count(table.reads.len(), "read"), count(terms.len(), "term"));
    let made = match table.made {
        0 => String::new(),
        made => format!(" and {made} more for terms"),
    };
    let runs = count(table.runs as usize, "run") + &made;
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    let _ = writeln!(text, "{runs}, {reads} of shared data, {all}{counts}");
    if table.reads.is_empty() && table.library_reads == 0 {
        text.push_str("no run read what another strand writes; the compiler may have left out a read whose value nobody needs\n");
    }
    if table.reads.is_empty() && table.library_reads > 0 {
        text.push_str(
            "no place in the source is known: is the program stripped, or compiled without `-g`?\n",
        );
    }
    if table.cut > 0 {
        let cut = count(table.cut as usize, "run");
        let _ = writeln!(
            text,
            "not looked at: {cut} of more steps than can be kept; a smaller input makes them shorter"
        );
    }
    if table.unshared > 0 {
        let _ = writeln!(
            text,
            "not shown: {} that no run made, or made of shared data",
            count(table.unshared, "read")
        );
    }
    if table.library_reads > 0 {
        let _ = writeln!(text, "not shown: {} in libraries", count(table.library_reads, "read"));
    }
    if table.apart > 0 {
        let _ = writeln!(
            text,
            "not shown: {} that runs give no reason for: other memory, or other strands",
            count(table.apart, "term")
        );
    }
    if table.unlisted > 0 {
        let _ = writeln!(
            text,
            "not shown: {} of writes that no run made, behind the first of each read; `--runs` may come to them",
            count(table.unlisted, "term")
        );
    }
    if !table.uninstrumented.is_empty() {
        let names: Vec<String> = table.uninstrumented.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(
            text,
            "not instrumented, so that what it writes is not seen: {}; build it with threadbare, too",
            names.join(", ")
        );
    }
    for pair in &table.contradictions {
        let _ = writeln!(text, "warning: a run saw what the code denies, please report it: {pair}");
    }
    text
}

/// What is known of a term, in a word.
fn kind(term: &Term) -> &'static str {
    match (&term.tried, &term.state) {
        (Some(Tried { came: Came::Made { .. }, .. }), _) => "made",
        (Some(Tried { came: Came::CannotBe { .. }, .. }), _) => "cannot be",
        (Some(Tried { came: Came::NotMade { .. }, .. }), _) => "not made",
        (Some(Tried { came: Came::NotReached { .. }, .. }), _) => "not reached",
        (None, State::Seen { .. }) => "seen",
        (None, State::Possible { .. }) => "possible and not seen",
        (None, State::StruckOut { .. }) => "struck out",
    }
}

/// The read of a row.
pub(crate) fn head(row: &Row) -> String {
    let variable = row.variable.as_deref().unwrap_or("memory without a name");
    let reached = if row.reached { "" } else { ", in no run so far" };
    // What has no name is known by its line.
    let text = match &row.variable {
        None if !row.read.text.is_empty() => format!(": `{}`", row.read.text),
        _ => String::new(),
    };
    format!("{} reads {variable}, in {}{reached}{text}", row.read.short(), row.read.function)
}

/// The same with the columns, where they are known.
pub(crate) fn head_with_columns(row: &Row) -> String {
    let columns: Vec<String> = row.columns.iter().map(u32::to_string).collect();
    let place = row.read.short();
    let told = head(row);
    match (columns.is_empty(), told.strip_prefix(&place)) {
        (false, Some(rest)) => format!("{place}:{}{rest}", columns.join(" and :")),
        _ => told,
    }
}

/// The write of a term.
pub(crate) fn place(term: &Term) -> String {
    match (&term.write, term.whose) {
        (Some(site), _) => format!("{} {}", site.short(), site.function),
        (None, Whose::Unseen) => "unseen".to_owned(),
        (None, _) => "initial".to_owned(),
    }
}

fn whose(whose: Whose) -> &'static str {
    match whose {
        Whose::Own => "own",
        Whose::Other => "another strand",
        Whose::Initial | Whose::Unseen => "",
    }
}

fn outcome(tried: &Tried) -> String {
    match (&tried.came, &tried.failed) {
        (Came::Made { .. }, None) => "made, passes".to_owned(),
        (Came::Made { .. }, Some(failed)) => format!("made, fails: {}", failed.name()),
        (came, _) => came.words(),
    }
}

/// The future that passes.
fn passing(near: &Passing) -> String {
    let Passing { fails, passes, differs } = near;
    match *differs {
        1 => format!("one that passes differs in one term: `{passes}`, not `{fails}`"),
        differs => format!(
            "the nearest that passes has `{passes}`, not `{fails}`, and differs in {} after it",
            count(differs - 1, "read")
        ),
    }
}

fn state(term: &Term, of: u64) -> String {
    match &term.state {
        State::Seen { runs, failed, stale } => {
            let older = match stale.len() {
                0 => String::new(),
                all if all == runs.len() => ", always as an older store than the newest".to_owned(),
                some => format!(", in {some} of them as an older store than the newest"),
            };
            let seen = format!("seen in {} of {}{older}", runs.len(), count(of as usize, "run"));
            if failed.is_empty() { seen } else { format!("{seen}, {} of them failed", failed.len()) }
        }
        State::Possible { written: true } => "possible, not seen".to_owned(),
        State::Possible { written: false } if term.named => "possible, the write was not reached".to_owned(),
        State::Possible { written: false } => {
            "possible, the write was not reached, or not with shared memory".to_owned()
        }
        State::StruckOut { reason, .. } => format!("struck out: {reason}"),
    }
}
