//! A run for each term: what the program does at a glance.

use super::table::{Failed, Row, Site, State, Table, Term, Tried, Whose};
use super::{choosing, looking, name, neighbour, outcome, table, text};
use crate::conduct;
use crate::exit::Trouble;
use crate::said;
use std::collections::HashMap;
use std::sync::Arc;
use threadbare_explore::campaign::Config;
use threadbare_explore::futures::{Source, Wish, WishedStep};
use threadbare_explore::store::Store;
use threadbare_findings::{Finding, Suppressions, SymbolPlaces};
use threadbare_report::choices::Came;
use threadbare_report::progress::ProgressLine;

/// The table with what came of each term, and what failed.
pub(crate) struct All {
    pub(crate) table: Table,
    pub(crate) findings: Vec<Finding>,
}

/// How often the runs that were made are looked at for reads and writes that none before them came to.
const ROUNDS: usize = 4;

/// What came of a term, to be found again in another table.
struct Past {
    read: (Site, Option<String>),
    term: (Whose, Option<Site>),
    state: State,
    /// Both the read and the write had been made before.
    reached: bool,
    tried: Tried,
    /// The run that has it, if it failed.
    failing: Option<u64>,
}

impl Past {
    fn is_of(&self, row: &Row, term: &Term) -> bool {
        self.term.0 == term.whose
            && self.term.1 == term.write
            && self.read.0 == row.read
            && self.read.1 == row.variable
    }
}

/// The reads that somebody wants.
pub(crate) struct Selection<'a> {
    pub(crate) wanted: &'a dyn Fn(&Row) -> bool,
    /// They were asked for, by place or by name.
    pub(crate) asked: bool,
    /// A run is made for each of their terms.
    pub(crate) tried: bool,
}

impl Selection<'_> {
    /// Leaves the reads that are wanted.
    fn take(&self, table: &mut Table) -> Result<(), Trouble> {
        let all = std::mem::take(&mut table.reads);
        let known: Vec<String> = all.iter().map(|row| format!("\n  {}", text::head(row))).collect();
        table.reads = all.into_iter().filter(|row| (self.wanted)(row)).collect();
        if self.asked && known.is_empty() && table.library_reads > 0 {
            return Err(Trouble::usage(
                "no place in the source is known of this program",
                "compile it with `-g`, and do not strip it",
            ));
        }
        if self.asked && table.reads.is_empty() {
            return Err(Trouble::usage(
                format!("there is no such read of shared data; there are{}", known.concat()),
                "`threadbare futures -- PROG` shows all of them with what they may see",
            ));
        }
        Ok(())
    }
}

/// Looks at runs, and makes one for each term of the reads that are wanted if they are to be tried.
pub(crate) fn all(
    config: &Config,
    looks: u64,
    store: &Store,
    suppressions: &Arc<Suppressions>,
    selection: &Selection<'_>,
) -> Result<All, Trouble> {
    let conduct = |config: &Config| {
        conduct::campaign(config, store, ProgressLine::on_stderr(), None, suppressions, None)
    };
    let lacks = || Trouble::internal("a campaign did not tell what its reads saw", "please report it");
    let looked = conduct(&looking(config, looks))?;
    let saw = looked.futures.ok_or_else(lacks)?;
    let (mut found, mut modules, mut known, mut ids) = (saw.found, saw.modules, saw.known, saw.findings);
    // Not every run shows what its reads saw.
    let (looked_at, looked_runs) = (found.runs, looked.report.runs);
    let mut findings = looked.report.findings;
    let (mut past, mut made_runs) = (Vec::<Past>::new(), 0);
    let mut news = true;
    for round in 0.. {
        let mut table = table(config, &found, &modules)?;
        selection.take(&mut table)?;
        (table.runs, table.made) = (looked_at, found.runs - looked_at);
        table.failures =
            found.failures.iter().map(|(run, key)| (*run, failed(&ids, &findings, *key))).collect();
        let failing = recall(&mut table, &past);
        let open = if selection.tried && news && round < ROUNDS { open(&table, &past) } else { Vec::new() };
        if !selection.tried {
            return Ok(All { table, findings });
        }
        if open.is_empty() {
            neighbour::fill(&mut table, &found.whole, &failing);
            return Ok(All { table, findings });
        }
        let goals = open.iter().map(|&(at, number)| vec![wish(&table.reads[at], number)]).collect();
        let free = Config { runs: None, keep_going: true, ..config.clone() };
        let made = conduct(&choosing(&free, goals, &known, 0))?;
        for finding in made.report.findings {
            if !findings.iter().any(|other| other.id == finding.id) {
                findings.push(finding);
            }
        }
        let first = looked_runs + made_runs;
        made_runs += made.report.runs;
        let tried = made.futures.ok_or_else(lacks)?;
        ids.extend(tried.findings);
        let places = SymbolPlaces::new(&tried.modules, &config.target.program);
        for (goal, (at, number)) in tried.found.goals.iter().zip(open) {
            let (row, term) = (&table.reads[at], &table.reads[at].terms[number]);
            let mut came = outcome::of(goal, &tried.found, None, &[wish(row, number)], &places);
            if let Came::NotReached { branches, .. } = &mut came {
                branches.clone_from(&term.branches);
            }
            let made = goal.made.as_ref();
            let shown = made.and_then(|made| Some((made.run, *made.shown.first()?)));
            let read =
                made.and_then(|made| made.reads.first()).map(|(path, _, time)| (name::strand(*path), *time));
            let failed = shown.map(|(_, key)| failed(&ids, &findings, key));
            past.retain(|it| !it.is_of(row, term));
            past.push(Past {
                read: (row.read.clone(), row.variable.clone()),
                term: (term.whose, term.write.clone()),
                state: term.state.clone(),
                reached: is_reached(row, term),
                tried: Tried { came, tries: goal.tries, read, failed },
                failing: shown.map(|(run, _)| run + first),
            });
        }
        news = found.join(&tried.found, first);
        (modules, known) = (tried.modules, tried.known);
    }
    Err(lacks())
}

/// Puts what came of terms into a new table; the runs that failed with them.
fn recall(table: &mut Table, past: &[Past]) -> HashMap<(usize, usize), u64> {
    let mut failing = HashMap::new();
    for (at, row) in table.reads.iter_mut().enumerate() {
        for number in 0..row.terms.len() {
            let Some(it) = past.iter().find(|it| it.is_of(row, &row.terms[number])) else { continue };
            let term = &mut row.terms[number];
            // A run that was made for another one has shown it meanwhile.
            if matches!(term.state, State::Seen { .. }) && !matches!(it.tried.came, Came::Made { .. }) {
                continue;
            }
            // What no run was made to have is as it was, if the order of steps is against it.
            if matches!(it.state, State::StruckOut { .. }) && matches!(it.tried.came, Came::NotMade { .. }) {
                term.state = it.state.clone();
                continue;
            }
            (term.state, term.tried) = (it.state.clone(), Some(it.tried.clone()));
            failing.extend(it.failing.map(|run| ((at, number), run)));
        }
    }
    failing
}

/// Whether runs have made both the read and the write.
fn is_reached(row: &Row, term: &Term) -> bool {
    row.reached && !matches!(term.state, State::Possible { written: false })
}

/// The terms that a run is to be made for: those that were not tried, or before anybody came to them.
fn open(table: &Table, past: &[Past]) -> Vec<(usize, usize)> {
    let mut list = Vec::new();
    for (at, row) in table.reads.iter().enumerate() {
        for (number, term) in row.terms.iter().enumerate() {
            let tried = past.iter().find(|it| it.is_of(row, term));
            let again = |it: &Past| !it.reached && matches!(it.tried.came, Came::NotReached { .. });
            if is_open(term) && tried.is_none_or(|it| again(it) && is_reached(row, term)) {
                list.push((at, number));
            }
        }
    }
    list
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
    let open = matches!(term.state, State::Possible { .. } | State::StruckOut { certain: false, .. });
    open && term.whose != Whose::Unseen
}

/// The wish for a term.
pub(super) fn wish(row: &Row, number: usize) -> Wish {
    let term = &row.terms[number];
    let step = |sites: &[u64]| WishedStep { sites: sites.to_vec(), ..WishedStep::default() };
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
