//! A run for each term: what the program does at a glance.

use super::table::{Row, State, Table, Term, Tried, Whose};
use super::{choosing, looking, outcome, table};
use crate::conduct::{self, Saw};
use crate::exit::Trouble;
use crate::said;
use std::sync::Arc;
use threadbare_explore::campaign::Config;
use threadbare_explore::futures::{Source, Step, Wish};
use threadbare_explore::store::Store;
use threadbare_findings::{Finding, Suppressions, SymbolPlaces};
use threadbare_report::progress::ProgressLine;

/// The table with what came of each term, and what failed.
pub(crate) struct All {
    pub(crate) table: Table,
    pub(crate) findings: Vec<Finding>,
}

/// Makes a run for each term of the reads that are wanted.
pub(crate) fn all(
    config: &Config,
    looks: u64,
    store: &Store,
    suppressions: &Arc<Suppressions>,
    wanted: &dyn Fn(&Row) -> bool,
) -> Result<All, Trouble> {
    let conduct = |config: &Config| {
        conduct::campaign(config, store, ProgressLine::on_stderr(), None, suppressions, None)
    };
    let lacks = || Trouble::internal("a campaign did not tell what its reads saw", "please report it");
    let looked = conduct(&looking(config, looks))?;
    let saw = looked.futures.ok_or_else(lacks)?;
    let mut table = table(config, &saw.found, &saw.modules)?;
    table.reads.retain(|row| wanted(row));
    let mut findings = looked.report.findings;
    let open: Vec<(usize, usize)> = table
        .reads
        .iter()
        .enumerate()
        .flat_map(|(at, row)| (0..row.terms.len()).map(move |number| (at, number)))
        .filter(|&(at, number)| is_open(&table.reads[at].terms[number]))
        .collect();
    if open.is_empty() {
        return Ok(All { table, findings });
    }
    let goals = open.iter().map(|&(at, number)| vec![wish(&table.reads[at], number)]).collect();
    let free = Config { runs: None, keep_going: true, ..config.clone() };
    let made = conduct(&choosing(&free, goals, &saw.known, 0))?;
    for finding in made.report.findings {
        if !findings.iter().any(|other| other.id == finding.id) {
            findings.push(finding);
        }
    }
    let tried = made.futures.ok_or_else(lacks)?;
    let places = SymbolPlaces::new(&tried.modules, &config.target.program);
    for (goal, (at, number)) in tried.found.goals.iter().zip(open) {
        let came = outcome::of(goal, &tried.found, None, &places);
        let finding = goal.made.as_ref().and_then(|made| failed(&tried, &made.shown));
        table.reads[at].terms[number].tried = Some(Tried { came, finding });
    }
    Ok(All { table, findings })
}

/// What failed in a run, by the name of its finding.
fn failed(saw: &Saw, shown: &[u64]) -> Option<String> {
    let first = shown.first()?;
    Some(saw.findings.get(first).cloned().unwrap_or_else(|| "hidden".to_owned()))
}

/// Whether a run is to be made for it.
fn is_open(term: &Term) -> bool {
    matches!(term.state, State::Possible { .. }) && term.whose != Whose::Unseen
}

/// The wish for a term.
pub(super) fn wish(row: &Row, number: usize) -> Wish {
    let term = &row.terms[number];
    let step = |sites: &[u64]| Step { sites: sites.to_vec(), ..Step::default() };
    let source = match term.whose {
        Whose::Own => Source::Write(step(&term.sites), Some(true)),
        Whose::Other => Source::Write(step(&term.sites), Some(false)),
        Whose::Initial | Whose::Unseen => Source::Initial,
    };
    Wish { read: step(&row.sites), source }
}

/// The findings behind the table, for people.
pub(crate) fn say(findings: &[Finding]) -> Result<(), Trouble> {
    let screen = threadbare_report::Screen::for_stream(&std::io::stdout());
    for finding in findings {
        said::text(&format!("\n{}", threadbare_report::text::finding(finding, screen, true)))?;
    }
    Ok(())
}
