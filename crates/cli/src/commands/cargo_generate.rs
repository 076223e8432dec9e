//! `cargo threadbare generate`: tests over the API of a crate, written by the tool.

use crate::api::{ApiOptions, Chosen, Package, RustLimits};
use crate::exit::{Exit, Trouble};
use std::path::PathBuf;
use threadbare_api::Drawn;

const EXAMPLES: &str = "\
Examples:
  cargo threadbare generate Semaphore
  cargo threadbare generate Sender Receiver --time 10m     further tests while there is time and none fails
  cargo threadbare generate --function close --atomic fail

What fails is written to tests/threadbare_generated.rs; `cargo threadbare test` runs it again.";

/// Write tests over the API of a crate, and run each under many schedules.
///
/// Public types, constructors and methods are read from the source. Tests have two or three strands
/// with one to three calls each; what may come of them is what their calls give one at a time, in some
/// order. A recipe gives values that cannot be found.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    api: ApiOptions,
    /// The package.
    #[arg(long, short, value_name = "NAME")]
    package: Option<String>,
    /// Features of it to turn on.
    #[arg(long, value_name = "LIST")]
    features: Vec<String>,
    /// All of them.
    #[arg(long)]
    all_features: bool,
    /// Not those that are on by themselves.
    #[arg(long)]
    no_default_features: bool,
    /// The file for tests that fail [default: tests/threadbare_generated.rs].
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// The types to test [default: all that a function makes].
    #[arg(value_name = "TYPE")]
    types: Vec<String>,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    args.api.check()?;
    let chosen = Chosen {
        package: args.package.clone(),
        features: args.features.clone(),
        all_features: args.all_features,
        no_default_features: args.no_default_features,
        out: args.write.clone(),
    };
    let mut package = Package::read(&chosen, args.api.recipes()?)?;
    let limits = RustLimits {
        max: args.api.most(),
        seed: args.api.campaign.seed,
        round: 0,
        types: args.types.clone(),
        functions: args.api.function.clone(),
    };
    let mut drawn = Drawn::default();
    let tests = package.tests(&limits, &mut drawn)?;
    args.api.conduct(&package, tests, &mut |round| {
        package.more(&RustLimits { round, ..limits.clone() }, &mut drawn)
    })
}
