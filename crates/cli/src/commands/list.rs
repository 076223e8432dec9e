//! `threadbare list`: the campaigns and findings of a folder.

use crate::exit::{Exit, Trouble};
use crate::options::{FOLDER, Format};
use crate::said;
use crate::{conduct, kept};
use std::path::{Path, PathBuf};
use threadbare_explore::files;
use threadbare_explore::journal::{self, CAMPAIGN, Overview};
use threadbare_explore::store;
use threadbare_findings::Finding;
use threadbare_report::table::Table;
use threadbare_report::text::thousands;

/// The version of the JSON form.
const FORMAT_VERSION: u32 = 1;

/// List the campaigns of a folder, and the findings they have kept.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The folder with the findings.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    /// How the list is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    if !args.out.exists() {
        if args.format == Format::Json {
            said::json(&json(&[], &[]))?;
        } else {
            said::note(&format!("there is no folder `{}`: no campaign was made yet", args.out.display()));
        }
        return Ok(Exit::Clean);
    }
    let schedules = store::files(&args.out, store::SCHEDULE).map_err(|error| {
        Trouble::usage(
            format!("cannot read the folder `{}`: {error}", args.out.display()),
            "name the folder with `--out DIR`",
        )
    })?;
    let findings: Vec<Finding> = schedules.iter().filter_map(|schedule| read(schedule)).collect();
    let campaigns = campaigns(&args.out);
    if args.format == Format::Json {
        said::json(&json(&campaigns, &findings))?;
        return Ok(Exit::Clean);
    }
    let campaigns = campaign_table(&campaigns);
    let gap = if campaigns.is_empty() || findings.is_empty() { "" } else { "\n" };
    let mut table = Table::new(["finding", "runs", "place", "message"]);
    for finding in &findings {
        let place = finding.locations.first().and_then(|location| {
            let file = location.file.as_deref()?;
            Some(location.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
        });
        table.row([
            finding.id.clone(),
            finding.count.to_string(),
            place.unwrap_or_default(),
            match finding.regress.as_deref() {
                Some(regress) => format!("{regress}: {}", finding.message),
                None => finding.message.clone(),
            },
        ]);
    }
    said::text(&format!("{campaigns}{gap}{}", table.to_text()))?;
    Ok(Exit::Clean)
}

/// The campaigns, the one that was written to last at the end; one that cannot be read is told and left out.
fn campaigns(folder: &Path) -> Vec<Overview> {
    let mut campaigns = Vec::new();
    for path in store::files(folder, CAMPAIGN).unwrap_or_default() {
        match journal::overview(&path) {
            Ok(overview) => campaigns.push(overview),
            Err(error) => conduct::warn(&format!("`{}` is left out: {error}", path.display())),
        }
    }
    campaigns.sort_by_key(|campaign| std::fs::metadata(&campaign.path).and_then(|file| file.modified()).ok());
    campaigns
}

fn campaign_table(campaigns: &[Overview]) -> String {
    let mut table = Table::new(["campaign", "begun (UTC)", "runs", "verdict", "resume", "program"]);
    for campaign in campaigns {
        let first = campaign.first();
        let name = first.arg0.clone().unwrap_or_else(|| first.program.clone().into_os_string());
        let words = std::iter::once(&name).chain(&first.args);
        let command: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        table.row([
            id(campaign),
            when(first.began),
            thousands(campaign.runs),
            verdict(campaign).to_owned(),
            kept::standing(campaign).words(),
            command.join(" "),
        ]);
    }
    table.to_text()
}

fn id(campaign: &Overview) -> String {
    campaign.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn verdict(campaign: &Overview) -> &'static str {
    if campaign.failed > 0 { "failure" } else { "clean" }
}

/// Seconds since 1970 as a date and a time (days to a date after Howard Hinnant's `civil_from_days`).
fn when(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

fn json(campaigns: &[Overview], findings: &[Finding]) -> String {
    let campaigns: Vec<_> = campaigns.iter().map(campaign_json).collect();
    let value = serde_json::json!({
        "format_version": FORMAT_VERSION,
        "campaigns": campaigns,
        "findings": findings,
    });
    format!("{value:#}\n")
}

fn campaign_json(campaign: &Overview) -> serde_json::Value {
    let (first, standing) = (campaign.first(), kept::standing(campaign));
    let text = |words: &[std::ffi::OsString]| -> Vec<String> {
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    serde_json::json!({
        "id": id(campaign),
        "file": campaign.path.display().to_string(),
        "program": first.program.display().to_string(),
        "program_id": first.program_id,
        "args": text(&first.args),
        "options": campaign.sessions.iter().flat_map(|session| text(&session.options)).collect::<Vec<_>>(),
        "begun": when(first.began),
        "begun_unix": first.began,
        "sessions": campaign.sessions.len(),
        "elapsed_s": campaign.elapsed.as_secs_f64(),
        "runs": campaign.runs,
        "runs_failed": campaign.failed,
        "verdict": verdict(campaign),
        "ended_by": campaign.close.as_ref().map(|close| &close.ended_by),
        "findings": campaign.close.as_ref().map(|close| &close.findings),
        "can_resume": standing.can_resume(),
        "resume": standing.words(),
        "under_way": campaign.under_way.is_some(),
        "process": campaign.under_way.flatten(),
    })
}

/// The finding of a schedule; one that cannot be read is told and left out.
fn read(schedule: &Path) -> Option<Finding> {
    let path = schedule.with_extension("json");
    let told = files::read_text(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    match told {
        Ok(finding) => Some(finding),
        Err(error) => {
            said::note(&format!("warning: `{}` is left out: {error}", path.display()));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(when(0), "1970-01-01 00:00");
        assert_eq!(when(951_782_400), "2000-02-29 00:00");
        assert_eq!(when(1_794_735_059), "2026-11-15 09:30");
        assert_eq!(when(4_102_444_799), "2099-12-31 23:59");
    }
}
