//! The command `invariants`: makes runs, has them told with values, infers, tells.

mod around;
mod campaigns;
mod grown;
mod infer;
pub(crate) mod joined;
mod orders;
mod record;
mod regions;
mod results;
mod schedules;
mod text;
mod widen;

use crate::conduct::{cannot, warn};
use crate::exit::{Exit, Trouble};
use crate::options::CampaignOptions;
use crate::output::ReportFormat;
use crate::{hide, output, values};
use around::Around;
use clap::ValueEnum;
use grown::Grown;
use results::Results;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_explore::{files, interrupt};
use threadbare_invariants::Kept;

/// The most accesses of a block, unless the user says otherwise.
const BLOCK: u8 = 8;

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
    #[arg(long, value_name = "N", default_value_t = BLOCK, allow_negative_numbers = true, value_parser = values::between::<u8>(2, 64))]
    pub(crate) block: u8,
    /// Only places around a finding: its lines, and the functions they are in. An id, or its file.
    #[arg(long, value_name = "FINDING", conflicts_with = "from")]
    pub(crate) of: Option<PathBuf>,
    /// The places of that finding.
    #[arg(skip)]
    pub(crate) around: Option<Around>,
    /// Do not try which lines, made atomic, take the failures away.
    #[arg(long)]
    pub(crate) no_regions: bool,
    /// Make only the runs of the strategy, also if few of them pass or fail.
    #[arg(long)]
    pub(crate) alone: bool,
    /// Write what is told to a file, one statement a line, for `--check`.
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
    /// Tell which statements of such a file no longer hold.
    #[arg(long, value_name = "FILE", conflicts_with = "keep")]
    pub(crate) check: Option<PathBuf>,
    /// Let what runs show grow in a file: what earlier campaigns of the same build put there counts, too.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "from"])]
    pub(crate) grow: Option<PathBuf>,
    /// Write the values as a file that Daikon reads, declarations included.
    #[arg(long, value_name = "FILE")]
    pub(crate) dtrace: Option<PathBuf>,
    /// Infer from such a file, and run nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["keep", "check", "dtrace", "command"])]
    pub(crate) from: Option<PathBuf>,
}

impl Wanted {
    /// All that there is, and nothing besides.
    fn all() -> Self {
        Self {
            kind: Kind::All,
            function: Vec::new(),
            file: Vec::new(),
            variable: Vec::new(),
            block: BLOCK,
            of: None,
            around: None,
            no_regions: true,
            alone: true,
            keep: None,
            check: None,
            grow: None,
            dtrace: None,
            from: None,
        }
    }
}

/// Infers from runs of a program.
pub(crate) fn of_program(
    options: &CampaignOptions,
    target: Target,
    wanted: &Wanted,
) -> Result<Exit, Trouble> {
    let began = Instant::now();
    let mut wanted = wanted.clone();
    wanted.around = wanted.of.as_deref().map(|finding| Around::read(finding, &options.out)).transpose()?;
    let wanted = &wanted;
    let kept = wanted.check.as_deref().map(read_kept).transpose()?;
    let suppressions = hide::read(&options.suppressions)?;
    let store = Store::open(&options.out)?;
    interrupt::watch().map_err(|error| cannot("watch for signals", &error))?;
    let target = Arc::new(target);
    let runs = campaigns::make(options, wanted.alone, &target, &store, &suppressions)?;
    let mut grown = wanted.grow.as_deref().map(|file| Grown::open(file, &target.program)).transpose()?;
    let mut inferred = infer::infer(&runs, wanted, kept.as_ref())?;
    if let Some(grown) = &mut grown {
        grown.merge(&mut inferred.parts)?;
    }
    if inferred.not_followed > 0 {
        let (lost, all) = (inferred.not_followed, runs.order().len());
        warn(&format!("{lost} of {all} runs could not be made again; their values are left out"));
    }
    let mut results = Results::new(&runs, &inferred, wanted);
    results.grown = grown.map(|grown| grown.told);
    schedules::add(&runs, &store, &mut results)?;
    if wanted.check.is_none() && !wanted.no_regions {
        results.regions = regions::tried(&runs, &inferred, &results, options, &store)?;
        results.prefer_proven();
    }
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

/// Infers from a file of Daikon's.
pub(crate) fn from_file(file: &Path, wanted: &Wanted, format: ReportFormat) -> Result<Exit, Trouble> {
    let results = record::read_dtrace(file, wanted)?;
    say(&results, format)?;
    Ok(Exit::Clean)
}
