//! Futures as a suite: chosen terms in readable files, made again like tests.

use super::kept::{Expect, Kept, KeptTerm};
use super::table::{State, Table, Term, Whose};
use super::{Look, choosing, look, outcome};
use crate::conduct::{self, Conducted, cannot};
use crate::exit::Trouble;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use threadbare_explore::campaign::Config;
use threadbare_explore::files;
use threadbare_explore::futures::Progress;
use threadbare_explore::store::Store;
use threadbare_findings::{Finding, Suppressions, SymbolPlaces};
use threadbare_report::choices::Came;
use threadbare_report::progress::ProgressLine;
use threadbare_report::suite::{Checked, Fate, SuiteReport};

pub(crate) use super::kept::Pair;

/// How the files' names end.
const EXTENSION: &str = "future";
const WRITERS: &str = "`threadbare futures --all --keep DIR -- PROG` and `threadbare futures --of FINDING --keep DIR` write them";

/// What came of a term; `None` if no run has it.
fn expected(term: &Term) -> Option<Expect> {
    match (&term.tried, &term.state) {
        (Some(tried), _) if matches!(tried.came, Came::Made { .. }) => {
            Some(if tried.failed.is_some() { Expect::Fails } else { Expect::Passes })
        }
        (None, State::Seen { runs, failed, .. }) => Some(match failed.len() {
            0 => Expect::Passes,
            all if all == runs.len() => Expect::Fails,
            _ => Expect::Either,
        }),
        _ => None,
    }
}

fn write(folder: &Path, name: &str, kept: &Kept) -> Result<PathBuf, Trouble> {
    let refused = |error: &std::io::Error| cannot(&format!("write to `{}`", folder.display()), error);
    fs::create_dir_all(folder).map_err(|error| refused(&error))?;
    let path = folder.join(format!("{name}.{EXTENSION}"));
    fs::write(&path, kept.to_text()).map_err(|error| refused(&error))?;
    Ok(path)
}

/// Writes a file for each term that a run has.
pub(crate) fn keep(table: &Table, folder: &Path) -> Result<usize, Trouble> {
    let mut count = 0;
    for (row, read) in table.reads.iter().enumerate() {
        for (term, it) in read.terms.iter().enumerate().filter(|(_, it)| it.whose != Whose::Unseen) {
            let Some(expect) = expected(it) else { continue };
            let pair = Pair { row, term, ..Pair::default() };
            let kept = Kept { terms: vec![KeptTerm::of(table, &pair)], expect, of: None };
            count += 1;
            let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let variable = read.variable.as_deref().unwrap_or_default();
            write(folder, &format!("{count:03}-{}-{}", plain(&read.read.function), plain(variable)), &kept)?;
        }
    }
    Ok(count)
}

/// Writes a set of terms that fails, under the name of its finding.
pub(crate) fn keep_set(table: &Table, set: &[Pair], of: &str, folder: &Path) -> Result<PathBuf, Trouble> {
    let terms = set.iter().map(|pair| KeptTerm::of(table, pair)).collect();
    write(folder, of, &Kept { terms, expect: Expect::Fails, of: Some(of.to_owned()) })
}

fn read(folder: &Path) -> Result<Vec<(String, Kept)>, Trouble> {
    let refused = |path: &Path, error: &std::io::Error| cannot(&format!("read `{}`", path.display()), error);
    let entries = fs::read_dir(folder).map_err(|error| refused(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    paths.sort();
    let one = |path: PathBuf| {
        let text = files::read_text(&path).map_err(|error| refused(&path, &error))?;
        let kept = Kept::parse(&text)
            .map_err(|why| Trouble::usage(format!("`{}` is no future: {why}", path.display()), WRITERS))?;
        Ok((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), kept))
    };
    let all: Vec<_> = paths.into_iter().map(one).collect::<Result<_, Trouble>>()?;
    if all.is_empty() {
        return Err(Trouble::usage(format!("there are no futures in `{}`", folder.display()), WRITERS));
    }
    Ok(all)
}

/// What a kept future means in a program: its terms, or why there is none any more.
fn means(kept: &Kept, table: &Table) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    for term in &kept.terms {
        let pair = term.finds(table).ok_or("there is no such read and write any more")?;
        if let State::StruckOut { reason, certain: true } = &table.reads[pair.row].terms[pair.term].state {
            return Err(format!("struck out: {reason}"));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

/// What strikes one of the terms out, by the steps of the runs that there were.
fn struck(pairs: &[Pair], table: &Table) -> Option<String> {
    pairs.iter().find_map(|pair| match &table.reads[pair.row].terms[pair.term].state {
        State::StruckOut { reason, .. } => Some(reason.clone()),
        _ => None,
    })
}

/// Makes the futures of a folder again.
pub(crate) fn check(
    config: &Config,
    looks: u64,
    folder: &Path,
    store: &Store,
    suppressions: &Arc<Suppressions>,
) -> Result<SuiteReport, Trouble> {
    let begun = Instant::now();
    let all = read(folder)?;
    let Look { table, known } = look(config, looks)?;
    let meant: Vec<Result<Vec<Pair>, String>> = all.iter().map(|(_, kept)| means(kept, &table)).collect();
    let open: Vec<&Vec<Pair>> = meant.iter().flatten().collect();
    let wishes = |set: &&Vec<Pair>| set.iter().map(|pair| pair.wish(&table)).collect();
    let goals = open.iter().map(wishes).collect();
    let free = Config { runs: None, keep_going: true, ..config.clone() };
    let config = choosing(&free, goals, &known, 0);
    let made = match open.is_empty() {
        true => None,
        false => {
            let line = ProgressLine::on_stderr();
            Some(conduct::campaign(&config, store, line, None, suppressions, None)?)
        }
    };
    let mut report = SuiteReport::new(config.target.program.display().to_string(), config.seed);
    report.runs = table.runs + made.as_ref().map_or(0, |made| made.report.runs);
    report.findings = made.as_ref().map(|made| made.report.findings.clone()).unwrap_or_default();
    let teller = made.as_ref().map(|made| Teller::new(made, &config));
    let mut goals = made.iter().flat_map(|made| made.futures.iter().flat_map(|saw| &saw.found.goals));
    for ((name, kept), meant) in all.iter().zip(&meant) {
        let fate = match meant {
            Err(reason) => Fate::Gone { reason: reason.clone() },
            Ok(pairs) => match (goals.next(), &teller) {
                (Some(goal), Some(teller)) => match (teller.fate(goal), struck(pairs, &table)) {
                    (Fate::NotMade { .. } | Fate::Gone { .. }, Some(reason)) => {
                        Fate::Gone { reason: format!("struck out: {reason}") }
                    }
                    (fate, _) => fate,
                },
                _ => Fate::NotMade { reason: "not in the runs that there were".to_owned() },
            },
        };
        let fails = matches!(&fate, Fate::Made { outcome, .. } if outcome != "pass");
        let failed = fails && kept.expect != Expect::Either;
        report.futures.push(Checked { name: name.clone(), fate, expected: kept.expect.name(), failed });
    }
    report.elapsed_s = begun.elapsed().as_secs_f64();
    Ok(report)
}

/// Who tells what came of goals.
struct Teller<'a> {
    made: &'a Conducted,
    places: SymbolPlaces,
}

impl<'a> Teller<'a> {
    fn new(made: &'a Conducted, config: &Config) -> Teller<'a> {
        let modules = made.futures.as_ref().map(|saw| saw.modules.clone()).unwrap_or_default();
        Teller { made, places: SymbolPlaces::new(&modules, &config.target.program) }
    }

    fn fate(&self, goal: &Progress) -> Fate {
        let Some(saw) = &self.made.futures else { return Fate::NotMade { reason: String::new() } };
        if let Some(made) = &goal.made {
            let Some(key) = made.shown.first() else {
                return Fate::Made { outcome: "pass".to_owned(), finding: None };
            };
            let finding = saw.findings.get(key).cloned();
            let is = |found: &&Finding| Some(&found.id) == finding.as_ref();
            let told = self.made.report.findings.iter().find(is);
            return Fate::Made { outcome: told.map_or("hidden".to_owned(), |it| it.kind.clone()), finding };
        }
        match outcome::of(goal, &saw.found, None, &[], &self.places) {
            Came::CannotBe { reason } => Fate::Gone { reason: format!("cannot be: {reason}") },
            Came::NotReached { what, .. } => Fate::Unreached { reason: what },
            came => Fate::NotMade { reason: came.words().trim_start_matches("not made: ").to_owned() },
        }
    }
}
