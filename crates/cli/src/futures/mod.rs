//! Futures: the writes that each read may see, by the code and by what runs saw, and runs that have the ones that were chosen.

pub(crate) mod all;
pub(crate) mod choice;
mod join;
pub(crate) mod json;
mod kept;
pub(crate) mod name;
mod neighbour;
pub(crate) mod of;
mod order;
pub(crate) mod outcome;
mod program;
mod road;
pub(crate) mod suite;
pub(crate) mod table;
pub(crate) mod text;

use crate::embedded;
use crate::exit::Trouble;
use std::collections::BTreeMap;
use std::sync::Arc;
use table::{Failed, Table};
use threadbare_abi::layout::MemoryModel;
use threadbare_abi::verdict::VerdictKind;
use threadbare_code::Code;
use threadbare_explore::campaign::{self, Config, Ending, Observer, Progress};
use threadbare_explore::futures::{Found, Order, Wish};
use threadbare_explore::{Error, Failure, Races};
use threadbare_report::progress::{ProgressLine, State};
use threadbare_toolchain::Environment;
use threadbare_trace::report::Module;

/// Runs that are looked at.
pub(crate) const LOOKS: u64 = 50;
/// Runs that are looked at before choices are made, and runs that are to have them.
pub(crate) const FIRST_LOOKS: u64 = 24;
pub(crate) const MORE_LOOKS: u64 = 300;
pub(crate) const AGAIN: u64 = 50;
/// Runs that try one choice, and runs of a search for what did not come true.
pub(crate) const TRIES: u32 = 8;
pub(crate) const TRIES_OF_ONE: u32 = 24;
pub(crate) const SEARCH: u64 = 3000;

/// A campaign that only looks; findings are another campaign's.
struct Looker(ProgressLine, Option<u64>, BTreeMap<u64, Failed>);

impl Observer for Looker {
    fn failed(&mut self, failure: Failure) -> Result<(), Error> {
        if failure.fails && failure.verdict != VerdictKind::None {
            let failed = Failed { kind: failure.verdict.name().to_owned(), finding: None };
            self.2.entry(failure.run).or_insert(failed);
        }
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) {
        self.0.show(&State {
            runs: progress.runs,
            of: self.1,
            time: None,
            points: progress.points,
            findings: 0,
            elapsed: progress.elapsed,
            estimate: None,
            goal: None,
        });
    }
}

/// What a look at some runs gave.
pub(crate) struct Look {
    pub(crate) table: Table,
    /// What later runs are to know.
    pub(crate) known: Arc<[u64]>,
}

/// The campaign that only looks at so many runs.
pub(crate) fn looking(config: &Config, runs: u64) -> Config {
    Config {
        runs: Some(runs),
        keep_going: true,
        ends_complete: false,
        check_replay: false,
        predict: false,
        futures: Some(Arc::default()),
        model: model(config),
        ..config.clone()
    }
}

/// What atomic loads may see: which stores there are is known where races are looked for.
fn model(config: &Config) -> MemoryModel {
    if config.races == Races::Off { MemoryModel::Sc } else { config.model }
}

/// The campaign that makes choices come true, each set of them in a run of its own.
pub(crate) fn choosing(config: &Config, goals: Vec<Vec<Wish>>, known: &[u64], again: u64) -> Config {
    let tries = if goals.len() == 1 { TRIES_OF_ONE } else { TRIES };
    let all = goals.len() as u64 * u64::from(tries) + SEARCH + again + LOOKS;
    let order =
        Order { goals, known: known.to_vec(), looks: 2, tries, search: SEARCH, again, ..Order::default() };
    Config {
        runs: Some(config.runs.unwrap_or(all)),
        predict: false,
        futures: Some(Arc::new(order)),
        model: model(config),
        ..config.clone()
    }
}

/// Looks at some runs, and at the code.
pub(crate) fn look(config: &Config, runs: u64) -> Result<Look, Trouble> {
    let config = looking(config, runs);
    let mut looker = Looker(ProgressLine::on_stderr(), config.runs, BTreeMap::new());
    let summary = campaign::run(&config, &mut looker)?;
    looker.0.clear();
    if let Ending::Internal(_, why) = &summary.ending {
        return Err(Trouble::internal(why.clone(), "this is an error of Threadbare, please report it"));
    }
    let found = summary.futures.unwrap_or_default();
    let mut table = table(&config, &found, &summary.modules)?;
    table.failures = looker.2;
    Ok(Look { table, known: summary.known })
}

/// The table of what runs saw and the code says.
pub(crate) fn table(config: &Config, found: &Found, modules: &[Module]) -> Result<Table, Trouble> {
    Ok(Table::of(found, modules, &config.target.program, &code(config)?))
}

/// What the program's code does.
pub(crate) fn code(config: &Config) -> Result<Code, Trouble> {
    let program = &config.target.program;
    let folder = embedded::place(&Environment::of_process())?.cache().join("code");
    Code::cached(program, &folder).map_err(|error| {
        Trouble::usage(
            format!("the code of `{}` cannot be read: {error}", program.display()),
            "`threadbare cc`, `threadbare rustc` and `cargo threadbare` make programs that can be read",
        )
    })
}
