//! What a program's own `check` asks for: defaults of its campaign. What the command line says counts more.

use crate::exit::Trouble;
use crate::options::{CampaignOptions, RunOptions};
use std::ffi::OsString;
use std::path::Path;
use threadbare_explore::server::{Server, Target};

/// Options that a check may have.
const NAMES: [&str; 13] = [
    "runs",
    "time",
    "strategy",
    "seed",
    "memory-model",
    "faults",
    "points",
    "max-points",
    "deadlines",
    "races",
    "timeout",
    "leaks",
    "until",
];
/// What a program with a check has in it.
const MARK: &[u8] = b"threadbare_rt_check";

/// The options for a program, and those of them that were given, by itself or on the command line.
pub(crate) fn options(
    base: &CampaignOptions,
    given: &[OsString],
    target: &Target,
) -> Result<(CampaignOptions, Vec<OsString>), Trouble> {
    let asked = asked(target);
    if asked.is_empty() {
        return Ok((base.clone(), given.to_vec()));
    }
    for (name, _) in &asked {
        if !NAMES.contains(&name.as_str()) {
            let all = NAMES.join(", ");
            return Err(Trouble::usage(
                format!("the program's check asks for `{name}`, which is no option of a check"),
                format!("there are {all}"),
            ));
        }
    }
    let words = asked.iter().map(|(name, value)| OsString::from(format!("--{name}={value}")));
    let line = std::iter::once(OsString::from("check")).chain(words).chain(given.iter().cloned());
    let (read, given) = RunOptions::read(line)?;
    // Those that are not kept with a campaign are not among the given ones.
    let own = base.clone();
    let campaign =
        CampaignOptions { out: own.out, format: own.format, regress: own.regress, ..read.campaign };
    campaign.check()?;
    Ok((campaign, given))
}

/// Names and values.
fn asked(target: &Target) -> Vec<(String, String)> {
    if !has_mark(&target.program) {
        return Vec::new();
    }
    // A program that cannot be started is the campaign's to tell.
    let Ok(server) = Server::start(&target.controlled()) else { return Vec::new() };
    let lines = server.asked().unwrap_or_default().lines();
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn has_mark(program: &Path) -> bool {
    std::fs::read(program).is_ok_and(|bytes| bytes.windows(MARK.len()).any(|window| window == MARK))
}
