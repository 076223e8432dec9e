//! The command `invariants`: makes runs, has them told with values, infers, tells.

mod campaigns;
mod record;
mod results;
mod text;

use crate::conduct::{cannot, warn};
use crate::exit::{Exit, Trouble};
use crate::options::{CampaignOptions, ReportFormat};
use crate::{hide, output};
use campaigns::Runs;
use clap::ValueEnum;
use results::Results;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_explore::{files, interrupt};
use threadbare_invariants::{Kept, Parts, Sample, Shown, Side};
use threadbare_values::{Options, Sampler};

/// Which invariants are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// What happens between entry and exit.
    Transition,
    /// What is.
    State,
    /// Both, transitions first.
    All,
}

/// What is wanted beside the runs.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Wanted {
    /// Which invariants are told.
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) kind: Kind,
    /// Only functions whose name contains this; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub(crate) function: Vec<String>,
    /// Only places in files whose name contains this; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub(crate) file: Vec<String>,
    /// Only variables whose name contains this; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub(crate) variable: Vec<String>,
    /// The most accesses of a block of code.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(2..=64))]
    pub(crate) block: u8,
    /// Write what is told to a file, one statement a line, for `--check`.
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
    /// Tell which statements of such a file no longer hold.
    #[arg(long, value_name = "FILE", conflicts_with = "keep")]
    pub(crate) check: Option<PathBuf>,
    /// Write the values as a file that Daikon reads, declarations included.
    #[arg(long, value_name = "FILE")]
    pub(crate) dtrace: Option<PathBuf>,
    /// Infer from such a file, and run nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["keep", "check", "dtrace", "command"])]
    pub(crate) from: Option<PathBuf>,
}

/// Runs of a program that the variables are chosen by.
const LOOKED_AT: usize = 64;
/// Runs that are recorded at a time.
const CHUNK: usize = 16;

/// Infers from runs of a program.
pub(crate) fn of_program(
    options: &CampaignOptions,
    target: Target,
    wanted: &Wanted,
) -> Result<Exit, Trouble> {
    let began = Instant::now();
    let kept = wanted.check.as_deref().map(read_kept).transpose()?;
    let suppressions = hide::read(&options.suppressions)?;
    let store = Store::open(&options.out)?;
    interrupt::watch().map_err(|error| cannot("watch for signals", &error))?;
    let target = Arc::new(target);
    let runs = campaigns::make(options, &target, &store, &suppressions)?;
    let inferred = infer(&runs, wanted, kept.as_ref())?;
    let mut results = Results::new(&runs, options, &inferred, wanted);
    results.elapsed_s = began.elapsed().as_secs_f64();
    if let Some(file) = &wanted.keep {
        let text = Kept::of(&inferred.parts.passing.tell()).to_string();
        std::fs::write(file, text).map_err(|error| cannot(&format!("write `{}`", file.display()), &error))?;
    }
    say(&results, options.format)?;
    let broken = results.checked.iter().any(|line| line.fate == "broken");
    let failed = if wanted.check.is_some() { broken } else { results.runs_failing > 0 };
    Ok(Exit::of(failed, results.runs == 0))
}

fn say(results: &Results, format: ReportFormat) -> Result<(), Trouble> {
    let text = match format {
        ReportFormat::Json => results.to_json(),
        _ => text::text(results),
    };
    output::say(&text, format)
}

fn read_kept(file: &Path) -> Result<Kept, Trouble> {
    let text =
        files::read_text(file).map_err(|error| cannot(&format!("read `{}`", file.display()), &error))?;
    Kept::parse(&text).map_err(|errors| {
        let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Trouble::usage(
            format!("`{}`: {}", file.display(), words.join("\n")),
            "mend these lines, or leave them out",
        )
    })
}

/// What came of the runs.
pub(crate) struct Inferred {
    pub(crate) parts: Parts,
    pub(crate) sampler: Sampler,
    /// The failing run in which broken statements are shown.
    pub(crate) shown: Option<ShownRun>,
    /// Runs whose values could not be had.
    pub(crate) not_followed: u64,
    /// Accesses of long runs that were not looked at.
    pub(crate) dropped: u64,
    /// What became of the kept lines.
    pub(crate) check: Option<threadbare_invariants::Check>,
}

/// A failing run.
pub(crate) struct ShownRun {
    pub(crate) samples: Vec<Sample>,
    /// Those of them that are what an activation did by itself.
    pub(crate) own: Vec<Sample>,
    pub(crate) failure: u64,
    pub(crate) schedule: String,
    pub(crate) strands: Vec<(u32, String)>,
}

impl Inferred {
    pub(crate) fn broken(&self) -> Vec<threadbare_invariants::Broken> {
        let points = self.sampler.points();
        let shown = self.shown.as_ref();
        self.parts.broken(shown.map(|run| Shown { points, samples: &run.samples, failure: run.failure }))
    }

    /// A strand's name in the shown run.
    pub(crate) fn strand(&self, index: u32) -> String {
        let names = self.shown.iter().flat_map(|run| &run.strands);
        names
            .clone()
            .find(|(strand, _)| *strand == index)
            .map_or_else(|| index.to_string(), |(_, name)| name.clone())
    }
}

fn infer(runs: &Runs, wanted: &Wanted, kept: Option<&Kept>) -> Result<Inferred, Trouble> {
    let order = runs.order();
    let mut recorder = record::Recorder::new(runs);
    let mut sampler = Sampler::new(Options { block: wanted.block.into() });
    let mut program = None;
    let (mut not_followed, mut dropped) = (0, 0);
    for chunk in order[..order.len().min(LOOKED_AT)].chunks(CHUNK) {
        for recorded in recorder.record(chunk)?.into_iter().flatten() {
            let program = program.get_or_insert_with(|| record::program(runs, &recorded.modules));
            sampler.learn(program, &recorded.recording);
        }
    }
    let Some(mut program) = program else {
        return Err(Trouble::internal("no run could be made again", "please report it"));
    };
    sampler.seal(&program, &|name| {
        wanted.variable.is_empty() || wanted.variable.iter().any(|part| name.contains(part.as_str()))
    });
    let mut inferred =
        Inferred { parts: Parts::new(), sampler, shown: None, not_followed: 0, dropped: 0, check: None };
    let mut all: Vec<(u64, Sample)> = Vec::new();
    let mut activation = 0;
    let shown = runs.shown();
    for chunk in order.chunks(CHUNK) {
        for (&number, recorded) in chunk.iter().zip(recorder.record(chunk)?) {
            let Some(recorded) = recorded else {
                not_followed += 1;
                continue;
            };
            let failed = runs.taken[number].failed;
            dropped += recorded.recording.dropped;
            let samples = inferred.sampler.samples(&mut program, &recorded.recording, number as u64);
            inferred.parts.take_views(inferred.sampler.points(), failed, &samples.outer, &samples.own);
            if kept.is_some() || wanted.dtrace.is_some() {
                let room = record::MOST_SAMPLES.saturating_sub(all.len());
                for sample in samples.outer.iter().take(room) {
                    activation += u64::from(inferred.sampler.points()[sample.point].side == Side::Enter);
                    all.push((activation, sample.clone()));
                }
            }
            if shown == Some(number) {
                let mut both = samples.outer;
                both.extend(samples.own.iter().cloned());
                both.sort_by_key(|sample| sample.event);
                let strands =
                    both.iter().map(|sample| sample.strand).collect::<std::collections::BTreeSet<_>>();
                let name = |strand: u32| (strand, recorded.recording.strand_name(strand as u16));
                inferred.shown = Some(ShownRun {
                    samples: both,
                    own: samples.own,
                    failure: recorded.events,
                    schedule: runs.schedule_of(number).unwrap_or_default(),
                    strands: strands.into_iter().map(name).collect(),
                });
            }
        }
    }
    (inferred.not_followed, inferred.dropped) = (not_followed, dropped);
    if let Some(kept) = kept {
        let mut check = kept.check(inferred.sampler.points());
        all.iter().for_each(|(_, sample)| check.take(sample));
        inferred.check = Some(check);
    }
    if let Some(file) = &wanted.dtrace {
        record::write_dtrace(file, inferred.sampler.points(), &all)?;
    }
    if not_followed > 0 {
        warn(&format!(
            "{not_followed} of {} runs could not be made again; their values are left out",
            order.len()
        ));
    }
    Ok(inferred)
}

/// Infers from a file of Daikon's.
pub(crate) fn from_file(file: &Path, wanted: &Wanted, format: ReportFormat) -> Result<Exit, Trouble> {
    let results = record::read_dtrace(file, wanted)?;
    say(&results, format)?;
    Ok(Exit::Clean)
}
