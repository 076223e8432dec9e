//! Schedules of the runs in which statements were broken, kept beside the findings.

use super::campaigns::Runs;
use super::record::Recorder;
use super::results::Results;
use crate::conduct::{self, cannot};
use crate::exit::Trouble;
use std::collections::BTreeMap;
use std::sync::Arc;
use threadbare_explore::Failure;
use threadbare_explore::store::{SCHEDULE, Store};
use threadbare_strategy::Spec;

/// The folder for them.
const FOLDER: &str = "invariants";
/// Runs that are kept.
const MOST: usize = 8;

/// Adds the schedules, and writes those that are no finding's.
pub(crate) fn add(runs: &Runs, store: &Store, results: &mut Results) -> Result<(), Trouble> {
    let broken = results.invariants.iter().filter_map(|it| it.first_broken.as_ref()).map(|first| first.run);
    let checked = results.checked.iter().filter_map(|it| it.run);
    let mut numbers: Vec<usize> = Vec::new();
    for number in broken.chain(checked) {
        if !numbers.contains(&number) && numbers.len() < MOST {
            numbers.push(number);
        }
    }
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    let mut recorder = Recorder::new(runs);
    for number in numbers {
        let path = match runs.schedule_of(number) {
            Some(path) => Some(path),
            None => write(runs, store, &mut recorder, number)?,
        };
        paths.extend(path.map(|path| (number, path)));
    }
    let path = |number: usize| paths.get(&number).cloned().unwrap_or_default();
    for first in results.invariants.iter_mut().filter_map(|it| it.first_broken.as_mut()) {
        first.schedule = path(first.run);
    }
    for line in &mut results.checked {
        line.schedule = line.run.map(path).unwrap_or_default();
    }
    Ok(())
}

fn write(
    runs: &Runs,
    store: &Store,
    recorder: &mut Recorder<'_>,
    number: usize,
) -> Result<Option<String>, Trouble> {
    let taken = &runs.taken[number];
    let Some(recorded) = recorder.record(&[number])?.into_iter().flatten().next() else { return Ok(None) };
    let mut facts = recorded.facts;
    facts.segments = taken.segments.clone().unwrap_or_default();
    let failure = Failure {
        run: taken.request.run,
        predicted: false,
        key: 0,
        fails: taken.failed,
        hidden: false,
        verdict: taken.verdict.kind,
        facts: None,
        known: Arc::clone(&runs.known),
        estimates: taken.request.estimates,
        strategy: Spec::of(taken.request.strategy),
        guide: Arc::clone(&taken.request.guide),
    };
    let id = conduct::program_id(&runs.target.program)?;
    let schedule = conduct::schedule(&runs.config, &id, &failure, &facts, &taken.verdict.message);
    let folder = store.folder().join(FOLDER);
    let path = folder.join(format!("run-{number}.{SCHEDULE}"));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&path, schedule.to_text()))
        .map_err(|error| cannot(&format!("write `{}`", path.display()), &error))?;
    Ok(Some(path.display().to_string()))
}
