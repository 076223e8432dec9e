//! `threadbare generate`: tests, written by the tool: of pairs of calls in a program, or over the functions of a header.

use crate::api::{ApiOptions, CLimits, Header};
use crate::commands::run::{self, input};
use crate::exit::{Exit, Trouble};
use crate::generate::{self, Form, Wanted};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use threadbare_api::Drawn;

const EXAMPLES: &str = "\
Examples:
  threadbare generate -- ./bank                          pairs of calls, and a test of each
  threadbare generate --function deposit -- ./bank       only pairs with this function
  threadbare generate --out tests/pairs -- ./bank        keep the tests there
  threadbare generate --check tests/pairs -- ./bank      make them again, like unit tests
  threadbare generate --api queue.h -- queue.c           tests over the functions of a header
  threadbare generate --api ring.h --single pop -- -Iinclude ring.c -lm";

/// Find pairs of calls that depend on each other, and test each pair by itself; or write tests over a C header's functions.
///
/// Some runs are made and the program's code is read: which functions touch the same object, and may be under way at the
/// same time. Each such pair becomes a test: runs of the program in which two strands stand before the two calls, everyone
/// else is held, and the two run on in many orders. What fails is a finding like any other.
///
/// With `--api`, functions are grouped by the object they take. Tests have two or three strands with one to three calls
/// each; what may come of them is what their calls give one at a time, in some order.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "threadbare generate [OPTIONS] -- PROG ARGS...\n       threadbare generate --api HEADER [OPTIONS] -- SOURCES AND FLAGS")]
pub(crate) struct Args {
    #[command(flatten)]
    options: ApiOptions,
    /// Write tests over the functions of this header.
    #[arg(long, value_name = "HEADER")]
    api: Option<PathBuf>,
    /// Only objects of this type of the header. May be given several times.
    #[arg(long = "type", value_name = "NAME", requires = "api")]
    types: Vec<String>,
    /// Functions of the header with this in their names are called by one strand only. May be given several times.
    #[arg(long, value_name = "PART", requires = "api")]
    single: Vec<String>,
    /// Only pairs that meet at an object whose name has this in it. May be given several times.
    #[arg(long, value_name = "PATTERN", conflicts_with = "api")]
    object: Vec<String>,
    /// Pairs of calls that only read the same as well.
    #[arg(long, conflicts_with = "api")]
    weak: bool,
    /// A test for each pair of paths, although others have the same conflicts.
    #[arg(long, conflicts_with = "api")]
    all_paths: bool,
    /// Only calls with at most so many events between them [default: any that nothing keeps from running at the same time].
    #[arg(long, value_name = "EVENTS", allow_negative_numbers = true, value_parser = crate::values::number, conflicts_with = "api")]
    margin: Option<u64>,
    /// Only a test of the two calls of this finding, a race: its id, its file, or a file with a report of ThreadSanitizer.
    #[arg(long, value_name = "FINDING", conflicts_with_all = ["function", "object", "check", "api"])]
    of: Option<PathBuf>,
    /// Which forms of tests are written: runs of the program that hold the two calls, or these and a source file of each.
    #[arg(long, value_name = "FORM", default_value = "both", conflicts_with = "api")]
    form: Form,
    /// Make the tests of a folder again.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["function", "object", "weak", "api"])]
    check: Option<PathBuf>,
    /// What every run reads as its standard input [default: nothing].
    #[arg(long, value_name = "FILE", conflicts_with = "api")]
    stdin: Option<PathBuf>,
    /// The program and its arguments; with `--api` what the tests are compiled and linked with: sources, libraries, flags.
    #[arg(value_name = "PROG ARGS", required_unless_present = "api", trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    args.options.check()?;
    match &args.api {
        Some(header) => of_header(args, header),
        None => of_program(args),
    }
}

fn of_header(args: &Args, header: &Path) -> Result<Exit, Trouble> {
    let options = &args.options;
    let header = Header::read(header, &args.command, &options.campaign.out, options.recipes()?)?;
    let limits = CLimits {
        max: options.most(),
        seed: options.campaign.seed,
        round: 0,
        types: args.types.clone(),
        functions: options.function.clone(),
        single: args.single.clone(),
    };
    let mut drawn = Drawn::default();
    let tests = header.tests(&limits, &mut drawn);
    options.conduct(&header, tests, &mut |round| {
        header.tests(&CLimits { round, ..limits.clone() }, &mut drawn).0
    })
}

fn of_program(args: &Args) -> Result<Exit, Trouble> {
    let ApiOptions { campaign, function, atomic, .. } = &args.options;
    let mut target = run::target(&args.command)?;
    if let Some(stdin) = &args.stdin {
        target.stdin = Some(input(stdin)?);
    }
    let of = args.of.as_deref().map(|name| generate::finding(name, &campaign.out)).transpose()?;
    let wanted = Wanted {
        of,
        functions: function.clone(),
        objects: args.object.clone(),
        max: args.options.most(),
        weak: args.weak,
        all_paths: args.all_paths,
        margin: args.margin,
        atomic: *atomic,
        form: args.form,
    };
    match &args.check {
        Some(folder) => generate::check(campaign, target, folder, &wanted),
        None => generate::of_program(campaign, target, &wanted),
    }
}
