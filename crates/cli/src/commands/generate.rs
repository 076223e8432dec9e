//! `threadbare generate`: pairs of calls that depend on each other, each with a test of its own.

use crate::commands::run::{self, input};
use crate::exit::{Exit, Trouble};
use crate::generate::{self, Atomic, Wanted};
use crate::options::{CampaignOptions, Mode, ReportFormat};
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  threadbare generate -- ./bank                          pairs of calls, and a test of each
  threadbare generate --function deposit -- ./bank       only pairs with this function
  threadbare generate --out tests/pairs -- ./bank        keep the tests there
  threadbare generate --check tests/pairs -- ./bank      make them again, like unit tests";

/// Find pairs of calls that depend on each other, and test each pair by itself.
///
/// Some runs are made and the program's code is read: which functions touch the same object, and may be under way at the
/// same time. Each such pair becomes a test: runs of the program in which two strands stand before the two calls, everyone
/// else is held, and the two run on in many orders. What fails is a finding like any other.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "threadbare generate [OPTIONS] -- PROG ARGS...")]
pub(crate) struct Args {
    #[command(flatten)]
    campaign: CampaignOptions,
    /// Only pairs with a function whose name has this in it; `*` stands for anything. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    function: Vec<String>,
    /// Only pairs that meet at an object whose name has this in it. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    object: Vec<String>,
    /// The most tests.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    max: u64,
    /// Pairs of calls that only read the same as well.
    #[arg(long)]
    weak: bool,
    /// A test for each pair of paths, although others have the same conflicts.
    #[arg(long)]
    all_paths: bool,
    /// Only calls with at most so many events between them [default: any that nothing keeps from running at the same time].
    #[arg(long, value_name = "EVENTS")]
    margin: Option<u64>,
    /// Calls that leave what they leave in neither order, one after the other: told (`note`), or a failure (`fail`).
    #[arg(long, value_enum, default_value = "note")]
    atomic: Atomic,
    /// Only a test of the two calls of this finding, a race: its id, or its file.
    #[arg(long, value_name = "FINDING", conflicts_with_all = ["function", "object", "check"])]
    of: Option<PathBuf>,
    /// Make the tests of a folder again.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["function", "object", "weak"])]
    check: Option<PathBuf>,
    /// What every run reads as its standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(value_name = "PROG ARGS", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    args.campaign.check()?;
    if !matches!(args.campaign.format, ReportFormat::Text | ReportFormat::Json) {
        return Err(Trouble::usage("pairs have no such form", "`--format text` or `--format json`"));
    }
    if args.campaign.mode == Mode::Free {
        return Err(Trouble::usage("a free run holds nobody before a call", "leave out `--mode free`"));
    }
    let mut target = run::target(&args.command)?;
    if let Some(stdin) = &args.stdin {
        target.stdin = Some(input(stdin)?);
    }
    let of = args.of.as_deref().map(|name| generate::finding(name, &args.campaign.out)).transpose()?;
    let wanted = Wanted {
        of,
        functions: args.function.clone(),
        objects: args.object.clone(),
        max: args.max as usize,
        weak: args.weak,
        all_paths: args.all_paths,
        margin: args.margin,
        atomic: args.atomic,
    };
    match &args.check {
        Some(folder) => generate::check(&args.campaign, target, folder, &wanted),
        None => generate::of_program(&args.campaign, target, &wanted),
    }
}
