//! The table as one JSON object.

use super::table::{Failed, Passing, Row, State, Table, Term, Whose};
use serde::Serialize;
use std::collections::BTreeSet;
use threadbare_findings::Finding;
use threadbare_report::branches::Branch;
use threadbare_report::campaign::FORMAT_VERSION;
use threadbare_report::choices::Came;

#[derive(Serialize)]
struct TableTold<'a> {
    format_version: u32,
    runs: u64,
    elapsed_s: f64,
    seed: u64,
    reads: Vec<ReadTold<'a>>,
    cut: u64,
    unshared: usize,
    library_reads: usize,
    apart: usize,
    unlisted: usize,
    unseen: usize,
    accesses: Accesses,
    uninstrumented: &'a [String],
    contradictions: &'a [String],
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct Accesses {
    shared: usize,
    known: usize,
}

#[derive(Serialize)]
struct ReadTold<'a> {
    place: String,
    file: &'a str,
    line: u32,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    columns: &'a BTreeSet<u32>,
    function: &'a str,
    text: &'a str,
    variable: Option<&'a str>,
    reached: bool,
    terms: Vec<TermTold<'a>>,
}

#[derive(Serialize)]
struct TermTold<'a> {
    /// A place, `initial` or `unseen`.
    write: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_function: Option<&'a str>,
    whose: Whose,
    variable: Option<&'a str>,
    status: &'static str,
    /// The code alone says so, of a pointer of which it cannot tell where it leads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    guess: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// `pass`, or the kind of a finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_failed: Option<u64>,
    /// Runs in which a load saw it although there was a newer store.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_stale: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strand: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<&'a str>,
    /// What must be so for a write to be made that no run made.
    #[serde(skip_serializing_if = "<[Branch]>::is_empty")]
    branches: &'a [Branch],
    /// The nearest future that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    passing: Option<&'a Passing>,
}

/// The object, with a line's end behind it.
pub(crate) fn table(table: &Table, findings: &[Finding], elapsed_s: f64, seed: u64) -> String {
    let told = TableTold {
        format_version: FORMAT_VERSION,
        runs: table.runs + table.made,
        elapsed_s,
        seed,
        reads: table.reads.iter().map(|row| read(row, table, findings)).collect(),
        cut: table.cut,
        unshared: table.unshared,
        library_reads: table.library_reads,
        apart: table.apart,
        unlisted: table.unlisted,
        unseen: table.unseen,
        accesses: Accesses { shared: table.shared, known: table.known },
        uninstrumented: &table.uninstrumented,
        contradictions: &table.contradictions,
        findings,
    };
    let mut json = serde_json::to_string_pretty(&told).unwrap_or_default();
    json.push('\n');
    json
}

fn read<'a>(row: &'a Row, table: &'a Table, findings: &'a [Finding]) -> ReadTold<'a> {
    ReadTold {
        place: row.read.whole(),
        file: &row.read.file,
        line: row.read.line,
        columns: &row.columns,
        function: &row.read.function,
        text: &row.read.text,
        variable: row.variable.as_deref(),
        reached: row.reached,
        terms: row.terms.iter().map(|it| term(it, row, table, findings)).collect(),
    }
}

fn term<'a>(term: &'a Term, row: &'a Row, table: &'a Table, findings: &'a [Finding]) -> TermTold<'a> {
    let (status, reason) = status(term);
    let (runs, runs_failed, failed) = match (&term.state, &term.tried) {
        (State::Seen { runs, failed, .. }, _) => {
            let first = failed.iter().find_map(|run| table.failures.get(run));
            (runs.len() as u64, Some(failed.len() as u64), first)
        }
        (_, Some(tried)) => {
            let runs = if let Came::Made { runs, .. } = &tried.came { *runs } else { 0 };
            (runs, None, tried.failed.as_ref())
        }
        _ => (0, None, None),
    };
    let read = term.tried.as_ref().and_then(|tried| tried.read.as_ref());
    let finding = failed.and_then(|failed| failed.finding.as_deref());
    let schedule = finding.and_then(|id| findings.iter().find(|finding| finding.id == id));
    TermTold {
        write: match (&term.write, term.whose) {
            (Some(site), _) => site.whole(),
            (None, Whose::Unseen) => "unseen".to_owned(),
            (None, _) => "initial".to_owned(),
        },
        write_line: term.write.as_ref().map(|site| site.line),
        write_function: term.write.as_ref().map(|site| site.function.as_str()),
        whose: term.whose,
        variable: row.variable.as_deref(),
        status,
        guess: term.is_guess(),
        reason,
        outcome: (runs > 0).then(|| outcome(failed, runs_failed)),
        runs,
        runs_failed,
        runs_stale: match &term.state {
            State::Seen { stale, .. } if !stale.is_empty() => Some(stale.len() as u64),
            _ => None,
        },
        tries: term.tried.as_ref().map(|tried| tried.tries),
        strand: read.map(|(strand, _)| strand.as_str()),
        instance: read.map(|(_, time)| *time),
        finding,
        schedule: schedule.map(|finding| finding.schedule.as_str()),
        branches: &term.branches,
        passing: term.passing.as_ref(),
    }
}

/// A failure of a run that has the term, if there was one.
fn outcome(failed: Option<&Failed>, runs_failed: Option<u64>) -> String {
    match (failed, runs_failed) {
        (Some(failed), _) => failed.kind.clone(),
        (None, Some(some)) if some > 0 => "failure".to_owned(),
        (None, _) => "pass".to_owned(),
    }
}

/// What is known of a term, in a word, and why.
fn status(term: &Term) -> (&'static str, Option<String>) {
    match (&term.tried, &term.state) {
        (Some(tried), _) => match &tried.came {
            Came::Made { .. } => ("made", None),
            Came::CannotBe { reason } => ("impossible", Some(reason.clone())),
            Came::NotMade { near } => ("not-made", Some(near.clone())),
            Came::NotReached { what, .. } => ("unreached", Some(what.clone())),
        },
        (None, State::Seen { .. }) => ("seen", None),
        (None, State::Possible { written: true }) => ("possible", None),
        (None, State::Possible { written: false }) => {
            ("possible", Some("the write was not reached".to_owned()))
        }
        (None, State::StruckOut { reason, .. }) => ("struck", Some(reason.clone())),
    }
}
