//! `threadbare futures`: which writes each read may see, and runs that have them.

use crate::commands::run::{self, input};
use crate::exit::{Exit, Trouble};
use crate::futures::all::{self, All};
use crate::futures::choice::{Spot, is_named};
use crate::futures::table::{Row, Table};
use crate::futures::{self, suite, text};
use crate::options::{CampaignOptions, ReportFormat};
use crate::{conduct, hide, said};
use std::ffi::OsString;
use std::path::PathBuf;
use threadbare_explore::interrupt;
use threadbare_explore::store::Store;
use threadbare_report::Screen;

const EXAMPLES: &str = "\
Examples:
  threadbare futures -- ./bank                     every read of shared data, with the writes it may see
  threadbare futures --read bank.c:9 -- ./bank     one of them
  threadbare futures --all -- ./bank               a run for each of them
  threadbare run --future 'bank.c:9 <- bank.c:10' -- ./bank";

/// Show which writes each read of shared data may see: by the code, and by what runs saw.
///
/// Some runs are made, and the program's code is read. Each write that may reach a read was seen in
/// so many runs, or is possible and was not seen, or is struck out, with the reason why no run can
/// have it. `threadbare run --future` makes a run that has a chosen one.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "threadbare futures [OPTIONS] -- PROG ARGS...")]
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
    /// With `--all`: write each future that a run has to a file of this folder.
    #[arg(long, value_name = "DIR", requires = "all")]
    keep: Option<PathBuf>,
    /// Make the futures of a folder again, like tests.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["all", "read", "variable"])]
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
    let spot = args.read.as_deref().map(Spot::parse).transpose().map_err(|why| {
        Trouble::usage(format!("`--read`: {why}"), "a place is `FILE:LINE`, such as `bank.c:9`")
    })?;
    let mut target = run::target(&args.command)?;
    if let Some(stdin) = &args.stdin {
        target.stdin = Some(input(stdin)?);
    }
    interrupt::watch().map_err(|error| conduct::cannot("watch for signals", &error))?;
    let config = args.campaign.config(target);
    if config.target.free {
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
        let (text, exit) = suite::check(&config, looks, folder, &store, &hidden)?;
        said::text(&text)?;
        return Ok(exit);
    }
    let asked = spot.is_some() || args.variable.is_some();
    let (table, findings) = if args.all {
        let (store, hidden) = (Store::open(&args.campaign.out)?, hide::read(&args.campaign.suppressions)?);
        let All { table, findings } = all::all(&config, looks, &store, &hidden, &wanted)?;
        (table, findings)
    } else {
        let mut table = futures::look(&config, looks)?.table;
        select(&mut table, asked, wanted)?;
        (table, Vec::new())
    };
    if let Some(folder) = &args.keep {
        suite::keep(&table, folder)?;
    }
    match args.campaign.format {
        ReportFormat::Json => {
            let mut json = serde_json::to_string_pretty(&table).unwrap_or_default();
            json.push('\n');
            said::data(&json)?;
        }
        _ => {
            said::text(&text::table(&table, Screen::for_stream(&std::io::stdout())))?;
            all::say(&findings)?;
        }
    }
    Ok(if findings.is_empty() { Exit::Clean } else { Exit::Failure })
}

/// Leaves the reads that are wanted; that there are none is an error where some were asked for.
fn select(table: &mut Table, asked: bool, wanted: impl Fn(&Row) -> bool) -> Result<(), Trouble> {
    let all = std::mem::take(&mut table.reads);
    let known: Vec<String> = all.iter().map(|row| format!("\n  {}", text::head(row))).collect();
    table.reads = all.into_iter().filter(wanted).collect();
    if asked && table.reads.is_empty() {
        return Err(Trouble::usage(
            format!("there is no such read of shared data; there are{}", known.concat()),
            "`threadbare futures -- PROG` shows all of them with what they may see",
        ));
    }
    Ok(())
}
