//! `threadbare replay`: one schedule again.

use crate::conduct::Terminal;
use crate::exit::{Exit, Trouble};
use crate::options::{FOLDER, Format};
use crate::streams::{self, Wanted};
use crate::{gdb, said};
use std::path::PathBuf;
use std::time::Duration;
use threadbare_abi::layout::{Watch, WatchKind};
use threadbare_findings::Finding;
use threadbare_report::{Screen, text};
use threadbare_session::replay::PATIENCE;
use threadbare_session::{Replay, Replayed};
use threadbare_trace::report::{Moment, Race};
use threadbare_trace::run::RunFacts;

pub(crate) use threadbare_session::follow::{judge, once, read, request, target};

const EXAMPLES: &str = "\
Examples:
  threadbare replay .threadbare/deadlock-5f3a9c1e.schedule
  threadbare replay deadlock-5f3a9c1e              the same, by the finding's id
  threadbare replay deadlock-5f3a9c1e --trace | less
  threadbare replay deadlock-5f3a9c1e --perfetto run.json
  threadbare replay deadlock-5f3a9c1e --record run.trace
  threadbare replay deadlock-5f3a9c1e --gdb        open gdb where it failed";

/// Make one run again from its schedule.
///
/// The run makes the same choices and fails the same way. Exit code 1 says that it did, 0 that the
/// schedule is of a clean run and was clean again, 3 that the run was another.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// A schedule's file, or the id of a finding.
    #[arg(value_name = "FILE-or-ID")]
    schedule: PathBuf,
    /// Print every point: strand, operation, variable, function and place.
    #[arg(long)]
    trace: bool,
    /// Open gdb where the run fails, with a command for each strand's stack.
    #[arg(long, conflicts_with_all = ["trace", "format", "perfetto", "record"])]
    gdb: bool,
    /// Write the run as a trace file that ui.perfetto.dev opens, one track a strand.
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Record all that the run did, for `threadbare trace FILE`: later, elsewhere, without the program.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The folder with the findings.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    /// The program, if it is not where it was; it must be the same build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// How long the run may take [default: what the campaign allowed; with --trace, no bound].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = crate::values::duration)]
    timeout: Option<Duration>,
    /// How the result is written.
    #[arg(long, value_enum, default_value = "text", conflicts_with = "trace")]
    format: Format,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let mut replay = Replay::open(&args.schedule, &args.out, args.program.as_deref(), &mut Terminal::new())?;
    if let Some(timeout) = args.timeout {
        replay.request.timeout = timeout;
    }
    if args.gdb {
        let race = replay.schedule.race.is_some().then(|| replay.schedule.message.clone());
        if race.is_some() {
            // A race does not end its run: gdb is opened where its later access is made.
            let facts = replay.run()?;
            let facts = judge(facts, &replay.schedule, &replay.target.program)?;
            replay.request.watches = facts.report.races.iter().filter_map(later_access).collect();
        }
        let Replay { schedule, target, request, server, .. } = &mut replay;
        return gdb::open(server, request, &schedule.segments, &target.program, race.as_deref());
    }
    let wanted = Wanted {
        lines: args.trace,
        perfetto: args.perfetto.clone(),
        record: args.record.clone(),
        timeout: args.timeout,
    };
    let facts = if wanted.anything() {
        let Replay { schedule, target, request, server, .. } = &mut replay;
        streams::run(server, request, schedule, &target.program, &wanted)?
    } else {
        replay.run()?
    };
    let Replayed { facts, finding } = replay.tell(facts, PATIENCE)?;
    match args.format {
        Format::Json => said::json(&json(&finding, &facts))?,
        Format::Text => said::text(&words(&finding, &facts, args.trace))?,
    }
    Ok(if facts.verdict.is_failure() { Exit::Failure } else { Exit::Clean })
}

/// The moment of a race's later access.
fn later_access(race: &Race) -> Option<Watch> {
    let Moment { strand, event, pc, .. } = race.accesses.first()?.moment;
    Some(Watch { kind: WatchKind::Event as u32, strand: strand.into(), event, addr: 0, pc })
}

fn words(finding: &Finding, facts: &RunFacts, traced: bool) -> String {
    let screen = Screen::for_stream(&std::io::stdout());
    let gap = if traced { "\n" } else { "" };
    if facts.verdict.is_failure() {
        format!("{gap}{}", text::finding(finding, screen, false))
    } else {
        let switches = text::counted(facts.counters.switches, "switch");
        format!("{gap}{}: run {} again, {switches}\n", screen.style.good("clean"), facts.run)
    }
}

fn json(finding: &Finding, facts: &RunFacts) -> String {
    let verdict = if facts.verdict.is_failure() { "failure" } else { "clean" };
    let value = serde_json::json!({
        "format_version": threadbare_report::campaign::FORMAT_VERSION,
        "verdict": verdict,
        "points": facts.counters.points,
        "switches": facts.counters.switches,
        "trace_hash": format!("{:016x}", facts.counters.trace_hash),
        "finding": facts.verdict.is_failure().then_some(finding),
    });
    format!("{value:#}\n")
}
