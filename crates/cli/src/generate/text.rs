//! Pairs and tests in words.

use super::COMBINED;
use super::table::{Funnel, Results, Test, Uncombined};
use std::fmt::Write;
use threadbare_findings::{Finding, Severity};
use threadbare_report::Screen;
use threadbare_report::choices::count;
use threadbare_report::columns::{width, wrap};

/// How many pairs each filter leaves.
fn funnel(funnel: &Funnel, tests: usize) -> String {
    let mut text = String::new();
    let all = count(funnel.all, "pair");
    let digits = funnel.all.to_string().len();
    let _ = writeln!(text, "{}, {all} of them", count(funnel.functions, "function"));
    let mut line = |number: usize, what: &str| {
        let _ = writeln!(text, "  {number:digits$} {what}");
    };
    line(funnel.running, "ran at the same time, or could have");
    line(funnel.strong, "of these may touch the same by accesses of their own, as the code says");
    line(funnel.same_object, "did so in a run");
    line(funnel.met, "did so in a run with what they call");
    if funnel.guarded > 0 {
        line(funnel.guarded, "left out: a lock keeps them apart from beginning to end");
    }
    line(funnel.paths, "pairs of paths through them");
    for (number, why) in [
        (funnel.far, "left out: calls too far apart"),
        (funnel.covered, "left out: smaller ones have the same conflicts"),
        (funnel.unwanted, "left out: not asked for"),
        (funnel.unlike, "left out: met in no run, and states recorded apart are no test"),
        (funnel.over, "left out: more than `--max`"),
    ] {
        if number > 0 {
            line(number, why);
        }
    }
    line(tests, if tests == 1 { "test" } else { "tests" });
    text
}

/// The outcome of a test.
pub(super) fn outcome(test: &Test) -> String {
    match test.verdict {
        "not-built" => format!("cannot be compiled: {}", test.why.as_deref().unwrap_or_default()),
        "state-missing" => "state missing: it comes to memory that was not recorded".to_owned(),
        "waits" => "passes; in some order a call waits for what the rest of the program does".to_owned(),
        "fail" if test.findings.is_empty() => "fails: hidden".to_owned(),
        "fail" if test.states == COMBINED => {
            format!("fails, from combined states: {}", test.findings.join(", "))
        }
        "fail" => format!("fails: {}", test.findings.join(", ")),
        "not-reached" => "not reached: the two never stood before their calls together".to_owned(),
        "not-atomic" => "not atomic: leaves what neither order leaves".to_owned(),
        "pass" if test.states == COMBINED => "passes, from combined states".to_owned(),
        _ if test.atomic == Some(true) => "passes, atomic".to_owned(),
        _ => "passes".to_owned(),
    }
}

/// The table of tests.
fn table(tests: &[Test], screen: Screen) -> String {
    let mut text = String::new();
    let cells: Vec<[String; 4]> = tests
        .iter()
        .map(|test| {
            let pair = format!("{} | {}", test.first, test.second);
            [pair, test.object.clone(), test.paths.clone(), outcome(test)]
        })
        .collect();
    let head = ["pair", "object", "paths", "outcome"].map(str::to_owned);
    let rows = || std::iter::once(&head).chain(&cells);
    let widest = |column: usize| rows().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths = [widest(0), widest(1), widest(2)];
    for row in rows() {
        let mut edge = String::new();
        for (cell, wide) in row.iter().zip(widths) {
            edge.push_str(cell);
            edge.push_str(&" ".repeat(wide - width(cell) + 2));
        }
        let room = screen.width.saturating_sub(width(&edge)).max(30);
        for line in wrap(&row[3], room) {
            let _ = writeln!(text, "{edge}{line}");
            edge = " ".repeat(width(&edge));
        }
    }
    text
}

/// Which tests are kept as source, what came of them, and why others are not.
fn sources(kept: &[Test], live: &[Test], uncombined: &[Uncombined]) -> String {
    let mut text = String::new();
    if !kept.is_empty() {
        let _ = writeln!(text, "\nkept as source");
        for test in kept {
            let _ = writeln!(text, "  {}.c: {}", test.name, outcome(test));
        }
    }
    let refused: Vec<(&Test, &String)> =
        live.iter().filter_map(|test| Some((test, test.why.as_ref()?))).collect();
    if !refused.is_empty() {
        let _ = writeln!(text, "\nlive only");
        for (test, why) in refused {
            let _ = writeln!(text, "  {}: {why}", test.name);
        }
    }
    if !uncombined.is_empty() {
        let _ = writeln!(text, "\nmet in no run, and not combined");
        for Uncombined { first, second, object, why } in uncombined {
            let _ = writeln!(text, "  {first} | {second} on {object}: {why}");
        }
    }
    text
}

/// All of it for people.
pub(super) fn all(results: &Results, screen: Screen) -> String {
    let (kept, live): (Vec<Test>, Vec<Test>) =
        results.tests.iter().cloned().partition(|test| test.form == "kept");
    let mut text = funnel(&results.funnel, live.len());
    if !live.is_empty() {
        let _ = write!(text, "\n{}", table(&live, screen));
    }
    text.push_str(&sources(&kept, &live, &results.uncombined));
    let counts = |test: &&Test| test.states != COMBINED;
    let of =
        |verdict: &str| results.tests.iter().filter(counts).filter(|test| test.verdict == verdict).count();
    let parts = [
        ("fail", "failed"),
        ("not-atomic", "not atomic"),
        ("not-reached", "not reached"),
        ("state-missing", "without their state"),
    ];
    let noted = results.tests.iter().filter(|test| test.states == COMBINED && test.verdict == "fail").count();
    let from_combined = (noted > 0).then(|| format!("{noted} failed from combined states"));
    let told: Vec<String> = parts
        .iter()
        .filter(|(verdict, _)| of(verdict) > 0)
        .map(|(verdict, words)| format!("{} {words}", of(verdict)))
        .chain(from_combined)
        .collect();
    let told = if told.is_empty() { "none failed".to_owned() } else { told.join(", ") };
    let _ = writeln!(
        text,
        "\n{}, {}: {told}",
        count(results.runs as usize, "run"),
        count(results.tests.len(), "test")
    );
    let of_tests: Vec<&String> = results.tests.iter().flat_map(|test| &test.findings).collect();
    let fails = |finding: &&Finding| finding.severity != Severity::Note && !of_tests.contains(&&finding.id);
    let besides: Vec<&str> =
        results.findings.iter().filter(fails).map(|finding| finding.id.as_str()).collect();
    if !besides.is_empty() {
        let _ = writeln!(text, "failed besides, by no two calls of a test: {}", besides.join(", "));
    }
    for warning in &results.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}
