//! `threadbare report`: findings that were kept, in any form, without a run.

use crate::conduct::cannot;
use crate::exit::{Exit, Trouble};
use crate::options::FOLDER;
use crate::output;
use crate::output::ReportFormat;
use crate::said;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use threadbare_explore::files;
use threadbare_findings::Finding;
use threadbare_report::tests::TestsReport;
use threadbare_report::{CampaignReport, Screen};

const EXAMPLES: &str = "\
Examples:
  threadbare report                                what the last campaign found
  threadbare report race-5f3a9c1e | less           one finding
  threadbare report --format sarif --out threadbare.sarif
  threadbare report --format junit results/tests.json > junit.xml";

/// Show findings again that earlier campaigns have kept.
///
/// Nothing is run. Without an ID or a FILE it is the last campaign of the folder, be it of `threadbare run` or
/// of `cargo threadbare test`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Ids of findings, or files: `ID.json`, `ID.schedule`, `campaign.json`, `tests.json`.
    #[arg(value_name = "ID-or-FILE")]
    what: Vec<PathBuf>,
    /// How it is written.
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The folder with the findings.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    from: PathBuf,
}

/// What a file holds.
enum Kept {
    Finding(Box<Finding>),
    Campaign(Box<CampaignReport>),
    Tests(TestsReport),
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let mut kept = Vec::new();
    for name in &args.what {
        kept.push(read(&path(name, &args.from))?);
    }
    if args.what.is_empty() {
        // A campaign without findings leaves no folder.
        if args.from.as_os_str() != FOLDER && !args.from.is_dir() {
            let message = format!("there is no folder `{}`", args.from.display());
            return Err(Trouble::usage(
                message,
                "make a campaign with `threadbare run`, or name its folder with `--from`",
            ));
        }
        kept.extend(last(&args.from)?);
    }
    if kept.is_empty() && args.format == ReportFormat::Text {
        said::note(&format!("nothing was found by the last campaign in `{}`", args.from.display()));
        said::note("help: `threadbare list` shows what earlier ones have found");
    }
    let screen = match &args.out {
        Some(_) => Screen::PLAIN,
        None => Screen::for_stream(&std::io::stdout()),
    };
    let text = written(&kept, args.format, screen);
    match &args.out {
        Some(file) => std::fs::write(file, output::cleaned(&text, args.format).as_bytes())
            .map_err(|error| cannot(&format!("write `{}`", file.display()), &error))?,
        None => output::say(&text, args.format)?,
    }
    Ok(Exit::Clean)
}

/// A campaign as a whole, several things as their findings.
fn written(kept: &[Kept], format: ReportFormat, screen: Screen) -> String {
    match kept {
        [Kept::Campaign(report)] => output::of_campaign(report, format, screen),
        [Kept::Tests(report)] => output::of_tests(report, format, screen),
        kept => {
            let findings: Vec<Finding> = kept.iter().flat_map(findings).collect();
            output::of_findings(&findings, format, screen)
        }
    }
}

fn findings(kept: &Kept) -> Vec<Finding> {
    match kept {
        Kept::Finding(finding) => vec![(**finding).clone()],
        Kept::Campaign(report) => report.findings.clone(),
        Kept::Tests(report) => report.tests.iter().flat_map(|test| test.campaign.findings.clone()).collect(),
    }
}

/// The summary of the folder that was written last.
fn last(folder: &Path) -> Result<Option<Kept>, Trouble> {
    let written = |name: &str| {
        let path = folder.join(name);
        let time = std::fs::metadata(&path).and_then(|data| data.modified()).ok()?;
        Some((time, path))
    };
    let latest = ["campaign.json", "tests.json"].into_iter().filter_map(written).max();
    latest.map(|(_, path)| read(&path)).transpose()
}

/// The file that an id or a file's name means.
fn path(name: &Path, folder: &Path) -> PathBuf {
    let is_id = !name.exists() && name.components().count() == 1 && name.extension().is_none();
    match is_id {
        true => folder.join(name).with_extension("json"),
        false
            if name.extension().is_some_and(|extension| extension == threadbare_explore::store::SCHEDULE) =>
        {
            name.with_extension("json")
        }
        false => name.to_owned(),
    }
}

fn read(path: &Path) -> Result<Kept, Trouble> {
    let text = files::read_text(path).map_err(|error| {
        Trouble::usage(
            format!("cannot read `{}`: {error}", path.display()),
            "`threadbare list` shows the findings of this folder",
        )
    })?;
    let refused = |why: String| {
        Trouble::usage(
            format!("`{}` is no finding and no campaign: {why}", path.display()),
            "name a finding's id, its file, `campaign.json` or `tests.json`",
        )
    };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    // Each form has a field that the others have not.
    let kept = if value.get("tests").is_some() {
        parse(value).map(Kept::Tests)
    } else if value.get("findings").is_some() {
        parse(value).map(|report| Kept::Campaign(Box::new(report)))
    } else {
        parse(value).map(|finding| Kept::Finding(Box::new(finding)))
    };
    kept.map_err(refused)
}

fn parse<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
