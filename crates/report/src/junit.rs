//! Campaigns as JUnit XML, which most build servers read: a suite for each test binary, a case for each test.

use crate::campaign::CampaignReport;
use crate::columns::printable;
use crate::screen::Screen;
use crate::suite::{Checked, Fate, SuiteReport};
use crate::tests::TestsReport;
use crate::text::{finding, sentence};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;
use threadbare_findings::{Finding, Severity};

/// A name in one line: a reader of XML would make blanks of the others, and a workflow run would read them.
fn line(text: &str) -> String {
    printable(text).replace('\u{fffd}', "?")
}

/// The name of a program's file.
fn program(path: &str) -> String {
    line(&std::path::Path::new(path).file_name().unwrap_or_default().to_string_lossy())
}

/// The tests of packages.
pub fn tests(report: &TestsReport) -> String {
    let mut suites: Vec<TestSuite> = Vec::new();
    for test in &report.tests {
        let name = line(&format!("{}::{}", test.package, test.binary));
        let case = case(&line(&test.name), &name, &test.campaign);
        let same = |suite: &&mut TestSuite| suite.name.as_str() == name;
        match suites.iter_mut().find(same) {
            Some(suite) => _ = suite.add_test_case(case),
            None => {
                let mut suite = TestSuite::new(name.as_str());
                suite.add_test_case(case);
                suites.push(suite);
            }
        }
    }
    whole(suites)
}

/// Findings without their campaigns: each is a test that failed.
pub fn findings(list: &[Finding]) -> String {
    let mut suite = TestSuite::new("findings");
    for found in list {
        let mut case = TestCase::new(line(&found.id), status(std::slice::from_ref(found)));
        case.set_classname(line(&found.kind));
        add_output(&mut case, found);
        suite.add_test_case(case);
    }
    whole(vec![suite])
}

/// Kept futures: each is a test. One that is gone, or that no run was made to have, is skipped, with the reason.
pub fn suite(report: &SuiteReport) -> String {
    let name = program(&report.program);
    let mut suite = TestSuite::new(name.as_str());
    for checked in &report.futures {
        let found = |id: &String| report.findings.iter().find(|found| found.id == *id);
        let found = match &checked.fate {
            Fate::Made { finding, .. } => finding.as_ref().and_then(found),
            _ => None,
        };
        let mut case = TestCase::new(line(&checked.name), of_future(checked, found));
        case.set_classname(name.as_str());
        if let Some(found) = found {
            add_output(&mut case, found);
        }
        suite.add_test_case(case);
    }
    let mut whole = Report::new("threadbare");
    let time = Duration::from_secs_f64(report.elapsed_s.max(0.0));
    suite.set_time(time);
    whole.set_time(time);
    whole.add_test_suite(suite);
    whole.to_string().unwrap_or_default()
}

fn of_future(checked: &Checked, found: Option<&Finding>) -> TestCaseStatus {
    let said = checked.words();
    let mut status = match &checked.fate {
        Fate::Made { outcome, .. } if checked.failed => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(line(outcome));
            if let Some(found) = found {
                status.set_description(finding(found, Screen::PLAIN, true));
            }
            status
        }
        Fate::Made { .. } => return TestCaseStatus::success(),
        Fate::Gone { .. } | Fate::NotMade { .. } | Fate::Unreached { .. } => TestCaseStatus::skipped(),
    };
    status.set_message(line(&said));
    status
}

/// One campaign: the program is the test.
pub fn campaign(report: &CampaignReport) -> String {
    let name = program(&report.program);
    let command: Vec<&str> = std::iter::once(&*name).chain(report.args.iter().map(String::as_str)).collect();
    let mut suite = TestSuite::new(name.as_str());
    suite.add_test_case(case(&line(&command.join(" ")), &name, report));
    whole(vec![suite])
}

fn whole(mut suites: Vec<TestSuite>) -> String {
    let mut report = Report::new("threadbare");
    for suite in &mut suites {
        let time = suite.test_cases.iter().filter_map(|case| case.time).sum();
        suite.set_time(time);
    }
    report.set_time(suites.iter().filter_map(|suite| suite.time).sum());
    report.add_test_suites(suites);
    report.to_string().unwrap_or_default()
}

fn case(name: &str, class: &str, campaign: &CampaignReport) -> TestCase {
    let status = if campaign.says_nothing() { no_run() } else { status(&campaign.findings) };
    let mut case = TestCase::new(name, status);
    case.set_classname(class).set_time(Duration::from_secs_f64(campaign.elapsed_s.max(0.0)));
    for (key, value) in [
        ("runs", campaign.runs.to_string()),
        ("strategy", campaign.strategy.clone()),
        ("seed", campaign.seed.to_string()),
    ] {
        case.add_property((key, value.as_str()));
    }
    if let Some(first) = campaign.findings.first() {
        add_output(&mut case, first);
    }
    case
}

/// Nothing can be said of a test none of whose runs came to its end.
fn no_run() -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message("no run ended in the time there was").set_type("no-run");
    status
}

/// A test fails by what makes runs fail; what is only told does not.
fn status(findings: &[Finding]) -> TestCaseStatus {
    let Some(first) = findings.iter().find(|found| found.severity == Severity::Failure) else {
        return TestCaseStatus::success();
    };
    let text: Vec<String> = findings.iter().map(|found| finding(found, Screen::PLAIN, true)).collect();
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(line(&sentence(first))).set_type(line(&first.kind)).set_description(text.join("\n"));
    status
}

fn add_output(case: &mut TestCase, found: &Finding) {
    if !found.stdout.is_empty() {
        case.set_system_out(&*found.stdout);
    }
    if !found.stderr.is_empty() {
        case.set_system_err(&*found.stderr);
    }
}

#[cfg(test)]
mod check {
    use super::*;
    use crate::samples;
    use crate::tests::TestResult;

    fn test(binary: &str, name: &str, campaign: CampaignReport) -> TestResult {
        TestResult {
            package: "bank".into(),
            binary: binary.into(),
            kind: "lib".into(),
            name: name.into(),
            campaign,
        }
    }

    #[test]
    fn kept_futures_are_tests() {
        let found = samples::assertion();
        let failing = Fate::Made { outcome: found.kind.clone(), finding: Some(found.id.clone()) };
        let passing = Fate::Made { outcome: "pass".to_owned(), finding: None };
        let gone = Fate::Gone { reason: "struck out: a < b".to_owned() };
        let checked = |name: &str, fate: &Fate, expected, failed| Checked {
            name: name.to_owned(),
            fate: fate.clone(),
            expected,
            failed,
        };
        let mut report = SuiteReport::new("/home/me/bank".to_owned(), 7);
        report.elapsed_s = 1.5;
        report.futures = vec![
            checked("001-deposit", &failing, "fails", true),
            checked("002-deposit", &failing, "either", false),
            checked("003-deposit", &passing, "fails", false),
            checked("004-main", &gone, "passes", false),
        ];
        report.findings = vec![found];
        let text = report.text();
        assert!(
            text.contains("003-deposit: passes now") && text.ends_with("1 of 4 futures failed\n"),
            "{text}"
        );
        let read = Report::deserialize_from_str(&suite(&report)).unwrap();
        assert_eq!((read.tests, read.failures, read.errors), (4, 1, 0));
        let suite = &read.test_suites[0];
        assert_eq!((suite.name.as_str(), suite.skipped), ("bank", 1));
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(json["futures"][3]["status"], "gone");
        assert_eq!(json["futures"][0]["outcome"], json["findings"][0]["kind"]);
    }

    #[test]
    fn suites_cases_and_failures() {
        let mut nasty = samples::assertion();
        nasty.message = "a < b && \"c\" ]]> \u{1}\u{0}".into();
        nasty.stdout = "out\u{1b}[31m ]]> \u{8}\n".into();
        let mut report = TestsReport::new(Vec::new());
        report.tests = vec![
            test("bank", "tests::good", samples::campaign(Vec::new())),
            test("bank", "tests::bad", samples::campaign(vec![nasty, samples::race()])),
            test("audit", "tests::good", samples::campaign(Vec::new())),
        ];
        let xml = tests(&report);
        insta::assert_snapshot!(xml);
        let read = Report::deserialize_from_str(&xml).unwrap();
        assert_eq!((read.tests, read.failures, read.test_suites.len()), (3, 1, 2));
        assert!(xml.chars().all(|c| !c.is_control() || c == '\n'), "{xml}");
        let silent = CampaignReport { runs: 0, ..samples::campaign(Vec::new()) };
        let read = Report::deserialize_from_str(&campaign(&silent)).unwrap();
        assert_eq!((read.tests, read.failures, read.errors), (1, 0, 1));
        let alone = campaign(&samples::campaign(vec![samples::deadlock()]));
        let read = Report::deserialize_from_str(&alone).unwrap();
        assert_eq!((read.tests, read.failures), (1, 1));
        assert_eq!(read.test_suites[0].test_cases[0].name.as_str(), "bank 3");
    }
}
