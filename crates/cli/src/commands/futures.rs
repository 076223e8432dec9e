//! `threadbare futures`: which writes each read may see, and runs that have them.

use crate::commands::run::{self, input};
use crate::exit::{Exit, Trouble};
use crate::futures::all::{self, All, Selection};
use crate::futures::choice::{Spot, is_named};
use crate::futures::of::{self, Asked};
use crate::futures::table::Row;
use crate::futures::{self, json, suite, text};
use crate::options::{CampaignOptions, Mode};
use crate::output::ReportFormat;
use crate::{conduct, hide, output, said};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;
use threadbare_explore::interrupt;
use threadbare_explore::store::Store;
use threadbare_report::Screen;

const EXAMPLES: &str = "\
Examples:
  threadbare futures -- ./bank                     every read of shared data, with the writes it may see
  threadbare futures --read bank.c:9 -- ./bank     one of them
  threadbare futures --all -- ./bank               a run for each of them
  threadbare futures --of assertion-375b27d8       the smallest set of them that fails as this finding does
  threadbare futures --check suite -- ./bank       what `--keep suite` kept, like tests
  threadbare run --future 'bank.c:9 <- bank.c:10' -- ./bank";

/// Show which writes each read of shared data may see: by the code, and by what runs saw.
///
/// Some runs are made, and the program's code is read. Each write that may reach a read was seen in
/// so many runs, or is possible and was not seen, or is struck out, with the reason why no run can
/// have it. `threadbare run --future` makes a run that has a chosen one. With `--of` it is the other
/// way round: the smallest set of what reads see that fails, every time, as a finding does.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "threadbare futures [OPTIONS] -- PROG ARGS...\n       threadbare futures --of FINDING [--keep DIR] [OPTIONS]")]
pub(crate) struct Args {
    #[command(flatten)]
    campaign: CampaignOptions,
    /// Only the reads at this place: `bank.c:9`.
    #[arg(long, value_name = "PLACE")]
    read: Option<String>,
    /// Only reads of this variable, or of a part of it.
    #[arg(long, value_name = "NAME")]
    variable: Option<String>,
    /// Make a run for each write that a read may see and no run has seen, and tell what came of each.
    #[arg(long)]
    all: bool,
    /// The smallest set of what reads saw in the run of a finding that fails so every time: its id, or its file.
    #[arg(long, value_name = "FINDING", conflicts_with_all = ["all", "read", "variable", "check", "stdin"])]
    of: Option<PathBuf>,
    /// With `--all`: write each future that a run has to a file of this folder. With `--of`: write the set.
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    keep: Option<PathBuf>,
    /// Make the futures of a folder again, like tests; `--format junit` is for build servers.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["all", "read", "variable"])]
    check: Option<PathBuf>,
    /// What every run reads as its standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(value_name = "PROG ARGS", required_unless_present = "of", trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let begun = Instant::now();
    args.campaign.check()?;
    check(args)?;
    if let Some(finding) = &args.of {
        interrupt::watch().map_err(|error| conduct::cannot("watch for signals", &error))?;
        let keep = args.keep.as_deref();
        return of::of(&Asked { options: &args.campaign, finding, command: &args.command, keep });
    }
    let spot = args.read.as_deref().map(Spot::parse).transpose().map_err(|why| {
        Trouble::usage(format!("`--read`: {why}"), "a place is `FILE:LINE`, such as `bank.c:9`")
    })?;
    let mut target = run::target(&args.command)?;
    if let Some(stdin) = &args.stdin {
        target.stdin = Some(input(stdin)?);
    }
    interrupt::watch().map_err(|error| conduct::cannot("watch for signals", &error))?;
    let config = args.campaign.config(target);
    if !config.target.mode.makes_choices() {
        return Err(Trouble::usage("free runs do not tell what their reads saw", "leave out `--mode free`"));
    }
    let looks = args.campaign.runs.unwrap_or(futures::LOOKS);
    let wanted = |row: &Row| {
        row.reached
            && spot.as_ref().is_none_or(|spot| spot.means(row))
            && args.variable.as_ref().is_none_or(|name| is_named(row, name))
    };
    if let Some(folder) = &args.check {
        let (store, hidden) = (Store::open(&args.campaign.out)?, hide::read(&args.campaign.suppressions)?);
        let report = suite::check(&config, looks, folder, &store, &hidden)?;
        output::say(&output::of_suite(&report, args.campaign.format), args.campaign.format)?;
        return Ok(Exit::of(report.failed() > 0, false));
    }
    let asked = spot.is_some() || args.variable.is_some();
    let (store, hidden) = (Store::open(&args.campaign.out)?, hide::read(&args.campaign.suppressions)?);
    let selection = Selection { wanted: &wanted, asked, tried: args.all };
    let All { table, findings } = all::all(&config, looks, &store, &hidden, &selection)?;
    if let Some(folder) = &args.keep {
        suite::keep(&table, folder)?;
    }
    match args.campaign.format {
        ReportFormat::Json => {
            let elapsed_s = begun.elapsed().as_secs_f64();
            said::json(&json::table(&table, &findings, elapsed_s, config.seed))?;
        }
        _ => {
            said::text(&text::table(&table, Screen::for_stream(&std::io::stdout()), asked))?;
            all::say(&findings)?;
        }
    }
    Ok(if findings.is_empty() { Exit::Clean } else { Exit::Failure })
}

/// What clap cannot see.
fn check(args: &Args) -> Result<(), Trouble> {
    let format = args.campaign.format;
    let fits = match args.check {
        Some(_) => format.tells_tests(),
        None => format.tells_all(),
    };
    if !fits {
        return Err(Trouble::usage(
            "futures have no such form",
            "`--format text` or `--format json`; with `--check` also `--format junit`",
        ));
    }
    if args.keep.is_some() && !args.all && args.of.is_none() {
        return Err(Trouble::usage(
            "there is nothing to keep",
            "`--keep DIR` goes with `--all` or `--of FINDING`",
        ));
    }
    if args.of.is_some() && args.campaign.mode == Mode::Free {
        return Err(Trouble::usage("free runs do not tell what their reads saw", "leave out `--mode free`"));
    }
    Ok(())
}
