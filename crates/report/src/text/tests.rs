use super::*;
use crate::columns::width;
use crate::samples::{self, assertion, campaign as report, deadlock};
use crate::style::Style;

/// A finding at 80 and at 40 columns, in UTF-8 and in ASCII.
fn seen(finding: &Finding) -> String {
    let mut text = String::new();
    for (columns, unicode) in [(80, true), (80, false), (40, true), (40, false)] {
        let screen = Screen { width: columns, unicode, ..Screen::PLAIN };
        let told = super::finding(finding, screen, true);
        let _ = writeln!(text, "-- {columns} columns, {} --", if unicode { "UTF-8" } else { "ASCII" });
        text.push_str(&told);
        text.push('\n');
    }
    text
}

#[test]
fn a_race() {
    insta::assert_snapshot!(seen(&samples::race()));
}

#[test]
fn a_deadlock() {
    insta::assert_snapshot!(seen(&deadlock()));
}

#[test]
fn an_assertion() {
    insta::assert_snapshot!(seen(&assertion()));
}

#[test]
fn an_explained_assertion() {
    insta::assert_snapshot!(seen(&samples::explained()));
}

#[test]
fn a_use_after_free() {
    insta::assert_snapshot!(seen(&samples::use_after_free()));
}

#[test]
fn a_crash_without_source() {
    insta::assert_snapshot!(seen(&samples::crash()));
}

#[test]
fn a_timeout() {
    insta::assert_snapshot!(seen(&samples::timeout()));
}

#[test]
fn a_livelock() {
    insta::assert_snapshot!(seen(&samples::livelock()));
}

#[test]
fn long_names_without_source() {
    insta::assert_snapshot!(seen(&samples::long_names()));
}

#[test]
fn every_line_but_the_programs_and_the_replay_has_room() {
    for mut finding in samples::all() {
        (finding.stdout, finding.stderr) = (String::new(), String::new());
        for columns in [30, 40, 60, 80, 100] {
            let told = super::finding(&finding, Screen { width: columns, ..Screen::PLAIN }, true);
            for line in told.lines().filter(|line| !line.starts_with("  replay: ")) {
                assert!(width(line) <= columns, "{columns} columns: {line}\n{told}");
            }
            let last = told.lines().last().unwrap();
            assert!(last.starts_with("  replay: threadbare replay "), "{told}");
        }
    }
}

#[test]
fn without_unicode_there_is_none() {
    for finding in samples::all() {
        let told = super::finding(&finding, Screen { unicode: false, ..Screen::PLAIN }, true);
        let told: Vec<char> = told.chars().filter(|c| !c.is_ascii() && *c != '\u{fffd}').collect();
        assert!(told.is_empty(), "{told:?}");
    }
}

#[test]
fn a_campaign_with_findings() {
    insta::assert_snapshot!(campaign(&report(vec![assertion(), deadlock()]), Screen::PLAIN));
}

#[test]
fn a_clean_campaign() {
    let replayed = CampaignReport { replays: 1234, warnings: Vec::new(), ..report(Vec::new()) };
    insta::assert_snapshot!(campaign(&replayed, Screen::PLAIN));
}

#[test]
fn colour_only_adds_to_the_text() {
    let text = campaign(&report(samples::all()), Screen { style: Style::COLOUR, ..Screen::PLAIN });
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, campaign(&report(samples::all()), Screen::PLAIN));
}

#[test]
fn the_json_has_the_fields_others_read() {
    let json: serde_json::Value = serde_json::from_str(&report(vec![assertion()]).to_json()).unwrap();
    let has = |value: &serde_json::Value, fields: &[&str]| {
        for field in fields {
            assert!(value.get(field).is_some(), "{field} is missing");
        }
    };
    has(
        &json,
        &[
            "format_version",
            "verdict",
            "runs",
            "runs_failed",
            "first_failure_run",
            "elapsed_s",
            "runs_per_s",
            "points",
            "switches",
            "strategy",
            "seed",
            "coverage",
            "findings",
            "trace_hash",
            "replays",
            "warnings",
        ],
    );
    let finding = &json["findings"][0];
    has(finding, &["id", "kind", "message", "schedule", "run", "count", "switches", "locations"]);
    has(&finding["locations"][0], &["file", "line", "function", "strand"]);
    let clean: serde_json::Value = serde_json::from_str(&report(Vec::new()).to_json()).unwrap();
    assert!(clean["first_failure_run"].is_null());
}

#[test]
fn numbers_are_readable() {
    assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(per_second(10, Duration::from_millis(500)), "20");
}

#[test]
fn a_word_is_one_line_of_a_shells() {
    for (word, told) in [
        ("./bank", "./bank"),
        ("a b", "'a b'"),
        ("it's", "'it'\\''s'"),
        ("", "''"),
        ("x\n::error::it's \x1b[2J\u{9b}\\", "$'x\\n::error::it\\'s \\x1b[2J\\u009b\\\\'"),
    ] {
        assert_eq!(shell_word(word), told);
    }
}

#[test]
fn a_place_is_told_once() {
    let headline = |message: &str, file: &str| {
        let mut finding = assertion();
        finding.message = message.into();
        finding.locations[0].file = Some(file.into());
        finding.locations[0].line = Some(22);
        self::finding(&finding, Screen::PLAIN, true).lines().next().unwrap().to_owned()
    };
    let told = headline("assertion `x' at bank.c:22", "/tmp/x/bank.c");
    assert_eq!(told, "run 37 failed: assertion `x' at bank.c:22");
    assert!(headline("assertion `x' at bank.c:221", "/tmp/x/bank.c").ends_with(" at /tmp/x/bank.c:22"));
    assert!(headline("assertion `x' at a_bank.c:22", "bank.c").ends_with(" at bank.c:22"));
}

#[test]
fn what_the_test_harness_writes_is_left_out() {
    let text = "\nrunning 1 test\ntest tests::a ... FAILED\n\nfailures:\n\n---- tests::a stdout ----\nmine\n\n\nfailures:\n    \
                tests::a\n\ntest result: FAILED. 0 passed; 1 failed\n";
    let lines = |text: &'static str| without_harness(text.lines().collect());
    assert_eq!(lines(text), ["---- tests::a stdout ----", "mine"]);
    assert_eq!(lines("test x\nfailures:\n"), ["test x", "failures:"], "a program's own words");
    // A run that began with the test.
    let text =
        "mine\nFAILED\n\nfailures:\n\nfailures:\n    tests::a\n\ntest result: FAILED. 0 passed; 1 failed\n";
    assert_eq!(lines(text), ["mine"]);
    assert_eq!(lines("mine\nFAILED\nfailures:\n"), ["mine", "FAILED", "failures:"]);
}

#[test]
fn one_is_not_many() {
    let mut one = assertion();
    (one.count, one.points, one.switches) = (1, 1, 1);
    let told = finding(&one, Screen::PLAIN, true);
    assert!(told.contains("seen in 1 run; run 37 made 1 point and 1 switch\n"), "{told}");
    let again = finding(&one, Screen::PLAIN, false);
    assert!(again.contains("assertion-375b27d8: run 37 again, 1 switch\n"), "{again}");
}

#[test]
fn a_free_campaign_says_what_it_covered() {
    use crate::tasks::{GoalReport, TasksReport};
    let mut tasks = TasksReport {
        goal: Some(GoalReport { model: "model1".into(), share: 0.95 }),
        ..TasksReport::default()
    };
    let counts = &mut tasks.counts;
    (counts.functions, counts.beside) = (20, 20);
    (counts.interrupted.covered, counts.interrupted.coverable) = (1, 1);
    (counts.ran_through.covered, counts.ran_through.coverable) = (1999, 2000);
    let mut free = CampaignReport { tasks: Some(tasks), warnings: Vec::new(), ..report(Vec::new()) };
    free.ended_by = "coverage".into();
    let told = campaign(&free, Screen::PLAIN);
    let lines: Vec<&str> = told.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "ended early: 95% of model1 is covered, as asked for",
            "covered: 1 of 1 function (100%) interrupted, 1,999 of 2,000 (99%) ran through,",
            "  0 of 0 pairs met",
        ]
    );
    if let Some(tasks) = &mut free.tasks {
        tasks.counts.beside = 0;
    }
    let told = campaign(&free, Screen::PLAIN);
    assert!(told.contains("\nended early: there is nothing to cover\ncovered: no function"), "{told}");
}
