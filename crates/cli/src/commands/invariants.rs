//! `threadbare invariants`: what a program keeps in passing runs, and what of it failing runs break.

use super::run::{input, target};
use crate::exit::{Exit, Trouble};
use crate::invariants::{self, Wanted};
use crate::options::{CampaignOptions, Mode, RaceMode};
use std::ffi::OsString;
use std::path::PathBuf;
use threadbare_abi::layout::MemoryModel;
use threadbare_explore::Search;

const EXAMPLES: &str = "\
Examples:
  threadbare invariants -- ./bank 3
  threadbare invariants --kind transition --function withdraw -- ./bank
  threadbare invariants --strategy dpor --format json -- ./bank > invariants.json
  threadbare invariants --keep bank.inv -- ./bank      then `--check bank.inv` after every change";

/// Infer likely invariants over many schedules, and tell which of them failing runs break.
///
/// Makes the runs, with `hapset` unless another strategy is named, and goes on with the portfolio while fewer
/// than 20 runs passed or failed. Every run is made again with the values of shared variables told.
/// What holds in all passing runs is told; what failing runs break of it comes first, the likeliest
/// cause at the top. A data race by itself fails no run here unless `--races fail` is given.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "threadbare invariants [OPTIONS] -- PROG ARGS...")]
pub(crate) struct Args {
    #[command(flatten)]
    campaign: CampaignOptions,
    /// What every run reads as its standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    #[command(flatten)]
    wanted: Wanted,
    /// The program and its arguments.
    #[arg(value_name = "PROG ARGS", required_unless_present = "from", trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Does it.
pub(crate) fn run(args: &Args, given: &[OsString]) -> Result<Exit, Trouble> {
    let mut options = args.campaign.clone();
    options.check()?;
    if !options.format.tells_all() {
        return Err(Trouble::usage("invariants have no such form", "`--format text` or `--format json`"));
    }
    if let Some(file) = &args.wanted.from {
        return invariants::from_file(file, &args.wanted, options.format);
    }
    if options.mode == Mode::Free {
        return Err(Trouble::usage(
            "a free run cannot be made again for its values: the kernel decides in it",
            "leave out `--mode free`",
        ));
    }
    let named = |option: &str| given.iter().any(|word| word.to_string_lossy().starts_with(option));
    if !named("--strategy") {
        options.strategy =
            Search::parse("hapset").map_err(|error| Trouble::internal(error.to_string(), ""))?;
    }
    if !named("--races") {
        options.races = Some(RaceMode::Off);
    }
    // Values are those in memory, which a load that sees an older store does not have.
    options.memory_model = MemoryModel::Sc;
    let mut target = target(&args.command)?;
    if let Some(stdin) = &args.stdin {
        target.stdin = Some(input(stdin)?);
    }
    invariants::of_program(&options, target, &args.wanted)
}
