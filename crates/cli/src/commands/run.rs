//! `threadbare run`: a campaign over schedules.

use crate::conduct::{self, Terminal};
use crate::exit::{Exit, Trouble};
use crate::futures::choice::{Choice, Chosen};
use crate::futures::{self, outcome};
use crate::options::{CampaignOptions, FOLDER, RunOptions};
use crate::output::ReportFormat;
use crate::said;
use crate::{asked, hide, kept, output};
use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use threadbare_explore::campaign::Config;
use threadbare_explore::interrupt;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_findings::SymbolPlaces;
use threadbare_report::progress::ProgressLine;
use threadbare_report::{Screen, Style};
use threadbare_session::{Campaign, Ran, Session};

const EXAMPLES: &str = "\
Examples:
  threadbare run -- ./bank 3
  threadbare run --time 30s --keep-going -- ./bank
  threadbare run --runs 5000 --strategy round-robin --format json -- ./bank > result.json";

/// Run a program under many schedules until it fails.
///
/// The program must have been built with `threadbare cc`, `threadbare c++`, `threadbare rustc` or
/// `cargo threadbare build`. Each run makes other choices; a failing run's choices are kept as a
/// schedule that `threadbare replay` makes again.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "threadbare run [OPTIONS] -- PROG ARGS...")]
pub(crate) struct Args {
    #[command(flatten)]
    campaign: CampaignOptions,
    /// What every run reads as its standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Go on with a campaign of the folder where it ended: the last one, the one with this id, or the last of PROG
    /// ARGS. It has its program and its options; `--runs` and `--time` count from its beginning.
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    resume: Option<String>,
    /// Only runs in which a read sees a certain write: `bank.c:9 <- bank.c:10`, `bank.c:9 <- initial`, or `@FILE` with one a
    /// line. May be given several times. `threadbare futures` shows what there is.
    #[arg(long, value_name = "CHOICE", conflicts_with = "resume")]
    future: Vec<String>,
    /// The program and its arguments.
    #[arg(value_name = "PROG ARGS", required_unless_present = "resume", trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Does it.
pub(crate) fn run(args: &Args, given: &[OsString]) -> Result<Exit, Trouble> {
    args.campaign.check()?;
    if let Some(id) = &args.resume {
        return resume(args, id, given);
    }
    let mut target = target(&args.command)?;
    if let Some(stdin) = &args.stdin {
        target.stdin = Some(input(stdin)?);
    }
    if !args.future.is_empty() {
        return chosen(&args.campaign, target, &args.future);
    }
    campaign(&args.campaign, target, given)
}

/// A campaign whose runs have what was chosen.
fn chosen(options: &CampaignOptions, target: Target, texts: &[String]) -> Result<Exit, Trouble> {
    let choices: Vec<Vec<Choice>> = texts.iter().map(|text| Choice::all(text)).collect::<Result<_, _>>()?;
    let config = options.config(target);
    if !config.target.mode.makes_choices() {
        return Err(Trouble::usage("a free run cannot be told what to see", "leave out `--mode free`"));
    }
    watch()?;
    let suppressions = hide::read(&options.suppressions)?;
    let resolve = |look: &futures::Look| -> Result<Vec<Chosen>, Trouble> {
        choices.iter().flatten().map(|choice| choice.resolve(&look.table)).collect()
    };
    let mut look = futures::look(&config, futures::FIRST_LOOKS)?;
    // What a few runs did not come to, more may.
    if resolve(&look).is_err() {
        look = futures::look(&config, futures::MORE_LOOKS)?;
    }
    let chosen = resolve(&look)?;
    let goals = vec![chosen.iter().map(|choice| choice.wish.clone()).collect()];
    let runs = Config { runs: options.runs, ..config };
    let config = futures::choosing(&runs, goals, &look.known, options.runs.unwrap_or(futures::AGAIN));
    let store = Store::open(&options.out)?;
    let made = conduct::campaign(&config, &store, ProgressLine::on_stderr(), None, &suppressions, None)?;
    let mut report = made.report;
    if let Some(saw) = &made.futures {
        let places = SymbolPlaces::new(&saw.modules, &config.target.program);
        report.choices = outcome::together(&chosen, &saw.found, &places);
    }
    let all = report.choices.iter().all(|choice| choice.is_made());
    let screen = Screen::for_stream(&std::io::stdout());
    output::say(&output::of_campaign(&report, options.format, screen), options.format)?;
    Ok(Exit::of(report.has_failed(), report.says_nothing() || !all))
}

/// Goes on with a campaign.
fn resume(args: &Args, id: &str, given: &[OsString]) -> Result<Exit, Trouble> {
    if args.stdin.is_some() {
        return Err(Trouble::usage("a campaign goes on with its own input", "leave out `--stdin`"));
    }
    let command = match &args.command[..] {
        [] => None,
        command => Some(target(command)?),
    };
    go_on(&args.campaign, id, command.as_ref(), given)
}

/// The same for a program that is known.
pub(crate) fn go_on(
    options: &CampaignOptions,
    id: &str,
    command: Option<&Target>,
    given: &[OsString],
) -> Result<Exit, Trouble> {
    watch()?;
    let mut terminal = Terminal::new();
    let resumed = kept::resume(&options.out, id, command, given, &RunOptions::campaign, &mut terminal)?;
    let ran = Session::new(&options.out)?.go_on(resumed, options.regress, &mut terminal)?;
    say(&ran, options.format)
}

/// Ends a campaign early when the user asks for it.
fn watch() -> Result<(), Trouble> {
    interrupt::watch().map_err(|error| conduct::cannot("watch for signals", &error))
}

/// The full path of an input file, which must be readable.
pub(crate) fn input(file: &Path) -> Result<PathBuf, Trouble> {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let refused =
        |error: &std::io::Error| conduct::cannot(&format!("read the input `{}`", path.display()), error);
    let kind = std::fs::metadata(&path).map_err(|error| refused(&error))?.file_type();
    if kind.is_dir() {
        return Err(refused(&std::io::Error::other("it is a folder")));
    }
    if kind.is_fifo() || kind.is_socket() {
        return Err(Trouble::usage(
            format!("the input `{}` is a pipe: it can be read once, and every run reads it", path.display()),
            "write it to a file, and name that",
        ));
    }
    std::fs::File::open(&path).map_err(|error| refused(&error))?;
    Ok(path)
}

/// A campaign over one program, and its report.
pub(crate) fn campaign(
    options: &CampaignOptions,
    target: Target,
    given: &[OsString],
) -> Result<Exit, Trouble> {
    let (options, given) = asked::options(options, given, &target)?;
    let suppressions = hide::read(&options.suppressions)?;
    let campaign = Campaign { config: options.config(target), suppressions, regress: options.regress, given };
    watch()?;
    let ran = Session::new(&options.out)?.run(&campaign, &mut Terminal::new())?;
    say(&ran, options.format)
}

/// Tells what a campaign came to.
fn say(ran: &Ran, format: ReportFormat) -> Result<Exit, Trouble> {
    let report = &ran.report;
    output::say(&output::of_campaign(report, format, Screen::for_stream(&std::io::stdout())), format)?;
    if ran.can_resume && report.ended_by == "interrupt" && report.runs > 0 {
        let style = Style::for_stream(&std::io::stderr());
        said::note(&format!("{}: `threadbare run --resume` goes on with it", style.strong("help")));
    }
    Ok(Exit::of(report.has_failed(), report.says_nothing()))
}

/// The target for a command line; the program is checked.
pub(crate) fn target(command: &[OsString]) -> Result<Target, Trouble> {
    let [program, args @ ..] = command else {
        return Err(Trouble::usage("no program is given", "threadbare run -- ./prog args"));
    };
    Session::new(FOLDER)?.target(Path::new(program), args.to_vec())
}
