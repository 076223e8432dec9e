//! A run for each term: what the program does at a glance.

use super::table::{Failed, Row, State, Table, Term, Tried, Whose};
use super::{choosing, looking, name, neighbour, outcome, table};
use crate::conduct;
use crate::exit::Trouble;
use crate::said;
use std::collections::HashMap;
use std::sync::Arc;
use threadbare_explore::campaign::Config;
use threadbare_explore::futures::{Source, Step, Wish};
use threadbare_explore::store::Store;
use threadbare_findings::{Finding, Suppressions, SymbolPlaces};
use threadbare_report::choices::Came;
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
    table.failures =
        saw.found.failures.iter().map(|(run, key)| (*run, failed(&saw.findings, &findings, *key))).collect();
    let open: Vec<(usize, usize)> = table
        .reads
        .iter()
        .enumerate()
        .flat_map(|(at, row)| (0..row.terms.len()).map(move |number| (at, number)))
        .filter(|&(at, number)| is_open(&table.reads[at].terms[number]))
        .collect();
    if open.is_empty() {
        neighbour::fill(&mut table, [&saw.found.whole, &[]], &HashMap::new());
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
    table.made = made.report.runs;
    let tried = made.futures.ok_or_else(lacks)?;
    let places = SymbolPlaces::new(&tried.modules, &config.target.program);
    let mut failing = HashMap::new();
    for (goal, (at, number)) in tried.found.goals.iter().zip(open) {
        let wishes = [wish(&table.reads[at], number)];
        let mut came = outcome::of(goal, &tried.found, None, &wishes, &places);
        if let Came::NotReached { branches, .. } = &mut came {
            branches.clone_from(&table.reads[at].terms[number].branches);
        }
        let made = goal.made.as_ref();
        failing.extend(made.filter(|made| !made.shown.is_empty()).map(|made| ((at, number), made.run)));
        let failed =
            made.and_then(|made| made.shown.first()).map(|&key| failed(&tried.findings, &findings, key));
        let read =
            made.and_then(|made| made.reads.first()).map(|(path, _, time)| (name::strand(*path), *time));
        table.reads[at].terms[number].tried = Some(Tried { came, tries: goal.tries, read, failed });
    }
    neighbour::fill(&mut table, [&saw.found.whole, &tried.found.whole], &failing);
    Ok(All { table, findings })
}

/// What failed in a run, by the key of its finding.
fn failed(ids: &HashMap<u64, String>, findings: &[Finding], key: u64) -> Failed {
    let finding = ids.get(&key).and_then(|id| findings.iter().find(|finding| finding.id == *id));
    Failed {
        kind: finding.map_or("hidden".to_owned(), |finding| finding.kind.clone()),
        finding: finding.map(|finding| finding.id.clone()),
    }
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
