//! `threadbare shrink`: the smallest schedule that still shows a finding.

use crate::conduct::{Terminal, cannot};
use crate::exit::{Exit, Trouble};
use crate::options::{FOLDER, Format};
use crate::said;
use std::path::PathBuf;
use std::time::Duration;
use threadbare_explore::interrupt;
use threadbare_report::{Screen, text};
use threadbare_session::Budget;
use threadbare_session::shrink::shrink;

const EXAMPLES: &str = "\
Examples:
  threadbare shrink deadlock-5f3a9c1e              go on where the campaign stopped
  threadbare shrink deadlock-5f3a9c1e --time 5m
  threadbare shrink .threadbare/deadlock-5f3a9c1e.schedule --format json";

/// Make the schedule of a finding smaller.
///
/// The same finding with the fewest preemptions, then with the fewest strands and switches. A campaign
/// does this by itself for a moment; this goes on from there. The new schedule takes the old one's place,
/// and the first one stays beside it as `ID.schedule.original`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// A schedule's file, or the id of a finding.
    #[arg(value_name = "FILE-or-ID")]
    schedule: PathBuf,
    /// The most time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "30s", value_parser = crate::values::duration)]
    time: Duration,
    /// The most runs [default: no bound but the time].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = crate::values::runs)]
    runs: Option<u64>,
    /// The folder with the findings.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    /// The program, if it is not where it was; it must be the same build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// How the result is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    interrupt::watch().map_err(|error| cannot("watch for signals", &error))?;
    let budget = Budget { runs: args.runs.unwrap_or(u64::MAX), time: args.time, least: 0 };
    let program = args.program.as_deref();
    let shrunken = shrink(&args.schedule, &args.out, program, budget, &mut Terminal::new())?;
    if !shrunken.smaller {
        said::note("warning: no smaller run was found; the schedule is what it was");
    }
    if !shrunken.finished && !interrupt::requested() {
        said::note("note: there is more to try: `--time` gives it longer");
    }
    let finding = shrunken.finding;
    match args.format {
        Format::Json => {
            said::json(&format!("{}\n", serde_json::to_string_pretty(&finding).unwrap_or_default()))?;
        }
        Format::Text => said::text(&text::finding(&finding, Screen::for_stream(&std::io::stdout()), true))?,
    }
    Ok(Exit::Failure)
}
