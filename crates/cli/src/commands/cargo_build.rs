//! `cargo threadbare build`: cargo's build with instrumentation.

use crate::commands::cargo::Args;
use crate::exit::{Exit, Trouble};
use crate::said;
use threadbare_toolchain::cargo;

/// Builds, and prints the programs made.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let split = args.split()?;
    let request = split.request()?;
    for built in cargo::build(&request)? {
        said::data(&format!("{}\n", built.program.display()))?;
    }
    Ok(Exit::Clean)
}
