//! The campaigns of `cargo threadbare test`: a line for each as it ends, the findings, and a table.

use crate::campaign::{CampaignReport, FORMAT_VERSION};
use crate::screen::Screen;
use crate::style::Style;
use crate::table::Table;
use crate::text::{self, counted, finding, per_second, thousands};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use threadbare_findings::Severity;

/// One test's campaign.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestResult {
    /// The package.
    pub package: String,
    /// The test binary.
    pub binary: String,
    /// Its kind: `lib`, `bin`, `test`, ….
    pub kind: String,
    /// The test.
    pub name: String,
    /// Its campaign.
    pub campaign: CampaignReport,
}

/// All of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestsReport {
    /// The version of the JSON form.
    pub format_version: u32,
    /// `clean`, `failure`, or `none` if there is a test without a run.
    pub verdict: String,
    /// The tests in the order they were made.
    pub tests: Vec<TestResult>,
    /// Tests left out because they are marked so.
    pub ignored: u64,
    /// Whether the user ended it early.
    pub interrupted: bool,
    /// What the reader should know.
    pub notes: Vec<String>,
}

impl TestsReport {
    /// No test yet.
    pub fn new(notes: Vec<String>) -> TestsReport {
        let verdict = "clean".to_owned();
        TestsReport {
            format_version: FORMAT_VERSION,
            verdict,
            tests: Vec::new(),
            ignored: 0,
            interrupted: false,
            notes,
        }
    }

    /// Tests that failed.
    pub fn failed(&self) -> usize {
        self.tests.iter().filter(|test| test.campaign.has_failed()).count()
    }

    /// Tests of which nothing can be said: none of their runs came to its end.
    pub fn without_a_run(&self) -> usize {
        self.tests.iter().filter(|test| test.campaign.says_nothing()).count()
    }

    fn word(&self) -> &'static str {
        match (self.failed(), self.without_a_run()) {
            (0, 0) => "clean",
            (0, _) => "none",
            _ => "failure",
        }
    }

    /// Whether there was no test to run: a filter that is mistyped must not look like a success.
    pub fn nothing_matched(&self) -> bool {
        self.tests.is_empty() && !self.interrupted
    }

    /// The report as JSON, one object, with a line end.
    pub fn to_json(&self) -> String {
        let verdict = self.word().to_owned();
        let report = TestsReport { verdict, ..self.clone() };
        let mut json = serde_json::to_string_pretty(&report).unwrap_or_default();
        json.push('\n');
        json
    }
}

/// The line of a test that has ended.
pub fn line(test: &TestResult, style: Style) -> String {
    let campaign = &test.campaign;
    let elapsed = Duration::from_secs_f64(campaign.elapsed_s.max(0.0));
    let count = format!("{}, {}/s", counted(campaign.runs, "run"), per_second(campaign.runs, elapsed));
    let first = campaign.findings.iter().find(|finding| finding.severity == Severity::Failure);
    match first {
        None if campaign.says_nothing() => {
            format!("{} {} (none ended in the time there was)", style.warn("no run"), test.name)
        }
        None if campaign.strands == 1 => {
            format!("{} {} ({count}; it has one strand only)", style.good("ok    "), test.name)
        }
        None => format!("{} {} ({count})", style.good("ok    "), test.name),
        Some(finding) => format!("{} {} ({count}): {}", style.bad("FAILED"), test.name, finding.kind),
    }
}

/// The findings, then the table, then the count.
pub fn text(report: &TestsReport, screen: Screen) -> String {
    let mut out: String = report.tests.iter().map(|test| findings(test, screen)).collect();
    out.push_str(&summary(report, screen));
    out
}

/// What was found in one test.
pub fn findings(test: &TestResult, screen: Screen) -> String {
    let style = screen.style;
    let mut out = String::new();
    for warning in &test.campaign.warnings {
        out.push_str(&format!("{}: {}: {warning}\n", style.warn("warning"), test.name));
    }
    for kept in &test.campaign.regress {
        out.push_str(&text::kept(kept, style));
    }
    for found in &test.campaign.findings {
        out.push_str(&format!("{} {}\n", style.strong("test"), test.name));
        out.push_str(&finding(found, screen, true));
        out.push('\n');
    }
    out
}

/// The table of all tests, and the count.
pub fn summary(report: &TestsReport, screen: Screen) -> String {
    let style = screen.style;
    let mut out = String::new();
    let mut table = Table::new(["result", "runs", "test", "finding"]);
    for test in &report.tests {
        let ids: Vec<&str> = test.campaign.findings.iter().map(|finding| finding.id.as_str()).collect();
        let result = match (test.campaign.failures(), test.campaign.says_nothing()) {
            (0, true) => "no run",
            (0, false) => "ok",
            _ => "FAILED",
        };
        let name = format!("{}::{}", test.binary, test.name);
        table.row([result.to_owned(), thousands(test.campaign.runs), name, ids.join(", ")]);
    }
    out.push_str(&table.to_text());
    let (failed, without) = (report.failed(), report.without_a_run());
    let verdict = match failed {
        0 if without > 0 => style.warn("no verdict").to_string(),
        0 if report.nothing_matched() => style.warn("0 tests match").to_string(),
        0 => style.good("ok").to_string(),
        _ => style.bad("FAILED").to_string(),
    };
    let runs: u64 = report.tests.iter().map(|test| test.campaign.runs).sum();
    let suppressed = match report.tests.iter().map(|test| test.campaign.suppressed).sum() {
        0 => String::new(),
        count => format!("; {} suppressed", counted(count, "finding")),
    };
    out.push_str(&format!(
        "{verdict}: {} passed, {failed} failed, {}{} ignored; {}{suppressed}{}\n",
        report.tests.len() - failed - without,
        if without > 0 { format!("{without} without a run, ") } else { String::new() },
        report.ignored,
        counted(runs, "run"),
        if report.interrupted { "; interrupted" } else { "" },
    ));
    out
}
