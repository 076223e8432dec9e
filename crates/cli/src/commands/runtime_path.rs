//! `threadbare runtime-path`: where the runtime is.

use crate::embedded;
use crate::exit::{Exit, Trouble};
use crate::said;
use threadbare_toolchain::Environment;

/// Print the path of the runtime library that campaigns use, after putting it there.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

/// Does it.
pub(crate) fn run(_args: &Args) -> Result<Exit, Trouble> {
    said::data(&format!("{}\n", embedded::library(&Environment::of_process())?.display()))?;
    Ok(Exit::Clean)
}
