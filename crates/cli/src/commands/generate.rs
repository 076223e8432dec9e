//! `threadbare generate`: tests, written by the tool.

use crate::api::{ApiOptions, CLimits, Header};
use crate::exit::{Exit, Trouble};
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  threadbare generate --api queue.h -- queue.c
  threadbare generate --api ring.h --single pop -- -Iinclude ring.c -lm

What fails is written to the folder of `--out`, a file for each test.";

/// Write tests over the functions of a C header, and run each under many schedules.
///
/// Functions are grouped by the object they take. Tests have two or three strands with one to three
/// calls each; what may come of them is what their calls give one at a time, in some order.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "threadbare generate --api HEADER [OPTIONS] -- SOURCES AND FLAGS")]
pub(crate) struct Args {
    #[command(flatten)]
    options: ApiOptions,
    /// The header.
    #[arg(long, value_name = "HEADER")]
    api: PathBuf,
    /// Only objects of this type. May be given several times.
    #[arg(long = "type", value_name = "NAME")]
    types: Vec<String>,
    /// Functions with this in their names are called by one strand only. May be given several times.
    #[arg(long, value_name = "PART")]
    single: Vec<String>,
    /// What the tests are compiled and linked with: sources, libraries, flags.
    #[arg(value_name = "SOURCES AND FLAGS", last = true)]
    arguments: Vec<OsString>,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    args.options.check()?;
    let out = &args.options.campaign.out;
    let header = Header::read(&args.api, &args.arguments, out, args.options.recipes()?)?;
    let limits = CLimits {
        max: args.options.max,
        seed: args.options.campaign.seed,
        types: args.types.clone(),
        functions: args.options.function.clone(),
        single: args.single.clone(),
    };
    args.options.conduct(&header, header.tests(&limits))
}
