//! Tests for an API without a program: made, built into one program, each judged by campaigns, the failing ones made
//! smaller and kept as source.
//!
//! The program is asked first for what the calls give one at a time, in every order (one run with deadlines in order: a call that
//! waits is seen when virtual time jumps). Then each test is a campaign, and what fails is kept (`judge` has the rules).

mod c;
mod judge;
mod keys;
mod options;
mod results;
mod rust;

pub(crate) use c::{CLimits, Header};
pub(crate) use options::ApiOptions;
pub(crate) use results::{Results, Row};
pub(crate) use rust::{Chosen, Package, RustLimits};

use crate::exit::Trouble;
use judge::{Class, Judge, Judged};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use threadbare_api::{LeftOut, Test};
use threadbare_explore::interrupt;
use threadbare_explore::server::Target;

/// Numbers of smaller tests begin here.
const SMALLER: u32 = 100_000;
/// Failing tests that are made smaller, and rounds of it.
const KEPT: usize = 16;
const ROUNDS: usize = 6;

/// A program with tests, and those that could not be built.
pub(crate) struct Built {
    pub(crate) target: Target,
    pub(crate) refused: Vec<(u32, String)>,
}

/// A test to be kept.
pub(crate) struct Failing<'a> {
    pub(crate) test: &'a Test,
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) message: String,
    /// The outcomes that orders of the calls show.
    pub(crate) outcomes: Vec<String>,
}

/// What is different between languages.
pub(crate) trait Language {
    /// Builds tests into one program.
    fn build(&self, tests: &[Test]) -> Result<Built, Trouble>;
    /// Writes the source of failing tests, and tells the file of each.
    fn keep(&self, failing: &[Failing<'_>]) -> Result<Vec<PathBuf>, Trouble>;
}

/// What is wanted of all tests.
#[derive(Clone, Debug)]
pub(crate) struct Wishes {
    /// Outcomes of no order are failures.
    pub(crate) atomic_fails: bool,
    /// No test is begun after this.
    pub(crate) time: Option<Duration>,
    /// There may be more tests than were asked for at first, as long as there is time.
    pub(crate) goes_on: bool,
    /// Also if one has failed.
    pub(crate) keep_going: bool,
    /// How long failing tests are made smaller.
    pub(crate) shrink: Option<Duration>,
}

/// What came of tests while they are judged.
#[derive(Default)]
struct Book {
    /// Findings by key, and the test that showed each first.
    known: BTreeMap<String, String>,
    names: BTreeSet<String>,
    failing: Vec<(usize, Test, Judged)>,
}

/// Judges tests and keeps what fails. While there is time and nothing has failed, more are drawn.
pub(crate) fn campaign(
    language: &dyn Language,
    (tests, left_out): (Vec<Test>, Vec<LeftOut>),
    more: &mut dyn FnMut(u64) -> Vec<Test>,
    judge: &mut Judge<'_>,
    wishes: &Wishes,
) -> Result<Results, Trouble> {
    let started = Instant::now();
    let mut results = Results { left_out, ..Results::default() };
    if tests.is_empty() {
        return Ok(results);
    }
    let (mut built, mut built_at, mut book) = (language.build(&tests)?, None, Book::default());
    let mut tests = tests;
    for round in 1.. {
        // What the compiler takes at first is not the tests'.
        let began = *built_at.get_or_insert_with(Instant::now);
        let late = || wishes.time.is_some_and(|time| began.elapsed() > time) || interrupt::requested();
        judged(judge, &built, tests, &mut results, &mut book, &late)?;
        let ends = wishes.time.is_none() || !wishes.goes_on || late();
        let fails = |(row, ..): &(usize, Test, Judged)| results.rows[*row].fails(wishes.atomic_fails);
        if ends || (!wishes.keep_going && book.failing.iter().any(fails)) {
            break;
        }
        tests = more(round);
        if tests.is_empty() {
            break;
        }
        built = language.build(&tests)?;
    }
    let Book { mut failing, .. } = book;
    // Notes leave room for what fails.
    failing.sort_by_key(|(_, _, judged)| judged.worst().map(|(_, class, _)| class));
    failing.truncate(KEPT);
    if let Some(time) = wishes.shrink {
        smaller(language, judge, &mut failing, time)?;
    }
    keep(language, judge, failing, &mut results, wishes)?;
    results.runs = judge.runs;
    results.elapsed = started.elapsed();
    Ok(results)
}

/// Judges the tests of a program.
fn judged(
    judge: &mut Judge<'_>,
    built: &Built,
    tests: Vec<Test>,
    results: &mut Results,
    book: &mut Book,
    late: &dyn Fn() -> bool,
) -> Result<(), Trouble> {
    let refused: BTreeMap<u32, &String> = built.refused.iter().map(|(number, why)| (*number, why)).collect();
    for why in refused.values() {
        *results.not_built.entry((*why).clone()).or_default() += 1;
    }
    for test in tests {
        if refused.contains_key(&test.number) {
            continue;
        }
        if late() {
            results.not_run += 1;
            continue;
        }
        let judged = judge.test(&built.target, &test)?;
        let name = unique(&test.name(), &mut book.names);
        let mut row = Row::new(&name, &test, &judged);
        let shown: Vec<&String> = judged.shown.keys().collect();
        let fresh = shown.iter().any(|key| !book.known.contains_key(*key));
        if !shown.is_empty() && !fresh {
            row.same_as = shown.first().and_then(|key| book.known.get(*key)).cloned();
        }
        for key in judged.shown.keys() {
            book.known.entry(key.clone()).or_insert_with(|| name.clone());
        }
        if fresh {
            book.failing.push((results.rows.len(), test, judged));
        }
        results.rows.push(row);
    }
    Ok(())
}

/// Leaves out calls as long as one of the same findings is shown.
fn smaller(
    language: &dyn Language,
    judge: &mut Judge<'_>,
    failing: &mut [(usize, Test, Judged)],
    time: Duration,
) -> Result<(), Trouble> {
    let started = Instant::now();
    let mut open: Vec<bool> = vec![true; failing.len()];
    for _ in 0..ROUNDS {
        let mut tries: Vec<(usize, Test)> = Vec::new();
        for (at, (_, test, _)) in failing.iter().enumerate().filter(|(at, _)| open[*at]) {
            for mut smaller in test.smaller() {
                smaller.number = SMALLER + u32::try_from(tries.len()).unwrap_or_default();
                tries.push((at, smaller));
            }
        }
        if tries.is_empty() || started.elapsed() > time || interrupt::requested() {
            break;
        }
        let tests: Vec<Test> = tries.iter().map(|(_, test)| test.clone()).collect();
        let built = language.build(&tests)?;
        let refused: BTreeSet<u32> = built.refused.iter().map(|(number, _)| *number).collect();
        open.iter_mut().for_each(|open| *open = false);
        for (at, test) in tries {
            if open[at] || refused.contains(&test.number) || started.elapsed() > time {
                continue;
            }
            let judged = judge.test(&built.target, &test)?;
            if judged.shows_worst_of(&failing[at].2) {
                failing[at].1 = test;
                failing[at].2 = judged;
                open[at] = true;
            }
        }
    }
    Ok(())
}

/// Writes the failing tests, and makes their findings anew with what was written.
fn keep(
    language: &dyn Language,
    judge: &mut Judge<'_>,
    failing: Vec<(usize, Test, Judged)>,
    results: &mut Results,
    wishes: &Wishes,
) -> Result<(), Trouble> {
    let mut names = BTreeSet::new();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut rows = Vec::new();
    let mut tests: Vec<Test> = Vec::new();
    for (row, mut test, judged) in failing {
        let Some((_, class, message)) = judged.worst() else { continue };
        let kept = format!("{} {} {:?}", class.word(), test.calls(), test.make);
        if let Some(other) = seen.get(&kept) {
            results.rows[row].same_as = Some(other.clone());
            continue;
        }
        if class == Class::NotAtomic && !wishes.atomic_fails {
            // A note: it is told in the table, and kept with the others only if it was asked for.
            results.rows[row].calls = test.calls();
            continue;
        }
        let name = unique(&test.name(), &mut names);
        seen.insert(kept, name.clone());
        test.number = u32::try_from(tests.len()).unwrap_or_default();
        rows.push((row, name, class.word().to_owned(), message, judged.outcomes.clone()));
        tests.push(test);
    }
    if tests.is_empty() {
        return Ok(());
    }
    let built = language.build(&tests)?;
    results.program = Some(built.target.program.clone());
    for (test, (row, name, ..)) in tests.iter().zip(&rows) {
        let found = judge.again(&built.target, test, name)?;
        results.rows[*row].name.clone_from(name);
        results.rows[*row].calls = test.calls();
        results.findings.extend(found);
    }
    let failing: Vec<Failing<'_>> = tests
        .iter()
        .zip(&rows)
        .map(|(test, (_, name, class, message, outcomes))| Failing {
            test,
            name: name.clone(),
            class: class.clone(),
            message: message.clone(),
            outcomes: outcomes.clone(),
        })
        .collect();
    let files = language.keep(&failing)?;
    for ((row, ..), file) in rows.iter().zip(files) {
        results.rows[*row].file = Some(file.display().to_string());
    }
    Ok(())
}

/// A name that no other test has.
fn unique(name: &str, names: &mut BTreeSet<String>) -> String {
    // A name has an end, as a line has.
    let name: String = name.chars().take(60).collect();
    let name = name.trim_end_matches('_').to_owned();
    if names.insert(name.clone()) {
        return name;
    }
    let found = (2..).map(|number| format!("{name}_{number}")).find(|name| !names.contains(name));
    let found = found.unwrap_or_default();
    names.insert(found.clone());
    found
}

pub(crate) use judge::Judge as Judging;
