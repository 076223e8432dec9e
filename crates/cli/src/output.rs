//! Results in the form that was asked for: all that the command line knows of the forms.

use crate::exit::Trouble;
use crate::said;
use clap::ValueEnum;
use std::borrow::Cow;
use std::path::PathBuf;
use threadbare_findings::Finding;
use threadbare_report::sarif::Shown;
use threadbare_report::suite::SuiteReport;
use threadbare_report::tests::TestsReport;
use threadbare_report::{CampaignReport, Screen, github, junit, sarif, tests, text};

/// How the results of a campaign are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code hosts and editors.
    Sarif,
    /// JUnit XML, for build servers.
    Junit,
    /// Annotations of a GitHub workflow run.
    Github,
}

impl ReportFormat {
    /// Whether it tells any result, and not findings and tests alone.
    pub(crate) fn tells_all(self) -> bool {
        matches!(self, ReportFormat::Text | ReportFormat::Json)
    }

    /// Whether it tells how tests came out.
    pub(crate) fn tells_tests(self) -> bool {
        self.tells_all() || self == ReportFormat::Junit
    }
}

/// Writes a result to standard output.
pub(crate) fn say(text: &str, format: ReportFormat) -> Result<(), Trouble> {
    match format {
        ReportFormat::Text => said::text(text),
        ReportFormat::Github => said::commands(text),
        ReportFormat::Json | ReportFormat::Sarif => said::json(text),
        ReportFormat::Junit => said::xml(text),
    }
}

/// The same for a file.
pub(crate) fn cleaned(text: &str, format: ReportFormat) -> Cow<'_, str> {
    match format {
        ReportFormat::Text => said::clean(text).into(),
        // Its maker leaves nothing in it that is more than text.
        ReportFormat::Github => text.into(),
        ReportFormat::Json | ReportFormat::Sarif => said::in_json(text),
        ReportFormat::Junit => said::in_xml(text).into(),
    }
}

/// A campaign.
pub(crate) fn of_campaign(report: &CampaignReport, format: ReportFormat, screen: Screen) -> String {
    let shown: Vec<Shown<'_>> = report.findings.iter().map(|finding| Shown { finding, test: None }).collect();
    match format {
        ReportFormat::Text => text::campaign(report, screen),
        ReportFormat::Json => report.to_json(),
        ReportFormat::Junit => junit::campaign(report),
        ReportFormat::Sarif | ReportFormat::Github => of_shown(&shown, format),
    }
}

/// The campaigns of tests.
pub(crate) fn of_tests(report: &TestsReport, format: ReportFormat, screen: Screen) -> String {
    let shown: Vec<Shown<'_>> = report
        .tests
        .iter()
        .flat_map(|test| {
            let name = Some(test.name.as_str());
            test.campaign.findings.iter().map(move |finding| Shown { finding, test: name })
        })
        .collect();
    match format {
        ReportFormat::Text => tests::text(report, screen),
        ReportFormat::Json => report.to_json(),
        ReportFormat::Junit => junit::tests(report),
        ReportFormat::Sarif | ReportFormat::Github => of_shown(&shown, format),
    }
}

/// Futures that were kept, made again.
pub(crate) fn of_suite(report: &SuiteReport, format: ReportFormat) -> String {
    match format {
        ReportFormat::Json => report.to_json(),
        ReportFormat::Junit => junit::suite(report),
        ReportFormat::Text | ReportFormat::Sarif | ReportFormat::Github => report.text(),
    }
}

/// Findings without their campaigns.
pub(crate) fn of_findings(findings: &[Finding], format: ReportFormat, screen: Screen) -> String {
    let shown: Vec<Shown<'_>> = findings.iter().map(|finding| Shown { finding, test: None }).collect();
    match format {
        ReportFormat::Text => {
            let texts: Vec<String> =
                findings.iter().map(|finding| text::finding(finding, screen, true)).collect();
            texts.join("\n")
        }
        ReportFormat::Json => {
            let mut json = serde_json::to_string_pretty(findings).unwrap_or_default();
            json.push('\n');
            json
        }
        ReportFormat::Junit => junit::findings(findings),
        ReportFormat::Sarif | ReportFormat::Github => of_shown(&shown, format),
    }
}

fn of_shown(shown: &[Shown<'_>], format: ReportFormat) -> String {
    // Paths are told from here, where the source is checked out.
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    match format {
        ReportFormat::Github => github::github(shown, &folder),
        _ => sarif::sarif(shown, &folder),
    }
}
