//! `threadbare coverage`: what campaigns covered, and what they did not.

use crate::exit::{Exit, Trouble};
use crate::options::{FOLDER, Format};
use crate::said;
use std::path::{Path, PathBuf};
use threadbare_coverage::kept::FILE;
use threadbare_coverage::{CampaignCoverage, Kept, Merged};
use threadbare_explore::files;
use threadbare_report::{Screen, coverage};

const EXAMPLES: &str = "\
Examples:
  threadbare coverage                              what the campaigns of this folder covered
  threadbare coverage monday tuesday               put together; says what tuesday added
  threadbare coverage --format json | jq .programs[0].estimate";

/// Show what campaigns covered: classes of runs, pairs of places, and the places that were left out.
///
/// Every campaign adds what it covered to its folder; campaigns of the same build with the same
/// arguments are put together. Several folders are put together in the order they are named, and
/// the last campaign's share is told.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folders of campaigns, or files `coverage.json` of them.
    #[arg(value_name = "FOLDER", default_value = FOLDER)]
    folders: Vec<PathBuf>,
    /// Only programs or tests whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Tell all places, functions and pairs, not only the first of each sort.
    #[arg(long)]
    all: bool,
    /// How it is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let mut campaigns: Vec<CampaignCoverage> = Vec::new();
    for folder in &args.folders {
        campaigns.extend(read(folder)?);
    }
    let wanted = |campaign: &&CampaignCoverage| {
        args.only.as_ref().is_none_or(|part| {
            campaign.identity.program.contains(part) || campaign.identity.label.contains(part)
        })
    };
    let programs = Merged::by_program(campaigns.iter().filter(wanted));
    if programs.is_empty() && args.format == Format::Text {
        let message = match &args.only {
            Some(part) => format!("no campaign of a program or test whose name contains `{part}`"),
            None => "no campaign was kept".to_owned(),
        };
        return Err(Trouble::usage(message, "`threadbare coverage` without `--only` shows all there are"));
    }
    match args.format {
        Format::Text => {
            said::text(&coverage::text(&programs, args.all, Screen::for_stream(&std::io::stdout())))?;
        }
        Format::Json => said::json(&coverage::json(&programs, args.all))?,
    }
    Ok(Exit::Clean)
}

fn read(folder: &Path) -> Result<Vec<CampaignCoverage>, Trouble> {
    let path = if folder.is_dir() { folder.join(FILE) } else { folder.to_owned() };
    let text = files::read_text(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Trouble::usage(
            format!("no campaign has kept its coverage in `{}`", folder.display()),
            "make one with `threadbare run -- ./prog`, or name its folder: `threadbare coverage FOLDER`",
        ),
        _ => Trouble::usage(
            format!("cannot read `{}`: {error}", path.display()),
            "check the path and its permissions",
        ),
    })?;
    let kept = Kept::parse(&text).map_err(|why| {
        // Only a file of ours may be in the way.
        let ours = path.file_name().is_some_and(|name| name == FILE);
        let help = match ours {
            true => "it is damaged: move it away, and the next campaign writes a new one",
            false => "name a folder with campaigns, or its `coverage.json`",
        };
        Trouble::usage(format!("`{}` cannot be used: {why}", path.display()), help)
    })?;
    Ok(kept.campaigns)
}
