//! `cargo threadbare run`: a campaign over the program that `cargo run` would run.

use crate::commands::cargo::Args;
use crate::commands::run::{campaign, go_on};
use crate::exit::{Exit, Trouble};
use threadbare_toolchain::cargo;

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let split = args.split()?;
    let request = split.request()?;
    let target = split.target(&cargo::run_target(&request)?)?;
    if let Some(id) = &split.resume {
        return go_on(&split.campaign, id, Some(&target), &split.given);
    }
    campaign(&split.campaign, target, &split.given)
}
