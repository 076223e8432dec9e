//! What became of the tests, as text and JSON.

use super::judge::Judged;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;
use threadbare_api::{LeftOut, Test};
use threadbare_findings::{Finding, Severity};
use threadbare_report::{Screen, text};

/// The version of the JSON object.
const FORMAT_VERSION: u32 = 1;
/// Lines of the table for tests that show nothing.
const CLEAN_LINES: usize = 3;

/// A line of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) maker: String,
    pub(crate) calls: String,
    pub(crate) judged: Judged,
    /// Another test shows the same.
    pub(crate) same_as: Option<String>,
    pub(crate) file: Option<String>,
}

impl Row {
    pub(super) fn new(name: &str, test: &Test, judged: &Judged) -> Row {
        let (name, maker, calls) = (name.to_owned(), test.maker.clone(), test.calls());
        Row { name, maker, calls, judged: judged.clone(), ..Row::default() }
    }

    /// Whether it is more than a note.
    pub(super) fn fails(&self, atomic_fails: bool) -> bool {
        let word = self.judged.word(atomic_fails);
        !["clean", "left out", "note: not-atomic"].contains(&word.as_str())
    }
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Tests that did not compile, by the compiler's reason.
    pub(crate) not_built: BTreeMap<String, usize>,
    /// Tests that there was no time for.
    pub(crate) not_run: usize,
    pub(crate) findings: Vec<Finding>,
    /// The program of the findings.
    pub(crate) program: Option<PathBuf>,
    pub(crate) runs: u64,
    pub(crate) elapsed: Duration,
    pub(crate) atomic_fails: bool,
    pub(crate) seed: u64,
}

impl Results {
    pub(crate) fn has_failed(&self) -> bool {
        self.rows.iter().any(|row| self.fails(row))
    }

    fn fails(&self, row: &Row) -> bool {
        row.fails(self.atomic_fails)
    }

    pub(crate) fn to_json(&self) -> String {
        let tests: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                let worst = row.judged.worst();
                json!({
                    "name": row.name,
                    "maker": row.maker,
                    "calls": row.calls,
                    "verdict": row.judged.word(self.atomic_fails),
                    "message": worst.map(|(_, _, message)| message),
                    "orders": row.judged.outcomes.len(),
                    "may_wait": row.judged.waits,
                    "left_out": row.judged.useless,
                    "same_as": row.same_as,
                    "file": row.file,
                    "runs": row.judged.runs,
                })
            })
            .collect();
        let left_out: Vec<_> =
            self.left_out.iter().map(|it| json!({ "what": it.what, "why": it.why })).collect();
        let object = json!({
            "format_version": FORMAT_VERSION,
            "verdict": if self.has_failed() { "failure" } else { "clean" },
            "runs": self.runs,
            "elapsed_s": self.elapsed.as_secs_f64(),
            "seed": self.seed,
            "tests": tests,
            "not_built": self.not_built,
            "not_run": self.not_run,
            "left_out": left_out,
            "findings": self.findings,
        });
        let mut text = serde_json::to_string_pretty(&object).unwrap_or_default();
        text.push('\n');
        text
    }

    pub(crate) fn to_text(&self, screen: Screen) -> String {
        let mut out = String::new();
        let failed = self.rows.iter().filter(|row| self.fails(row)).count();
        let notes =
            self.rows.iter().filter(|row| row.judged.word(self.atomic_fails).starts_with("note")).count();
        let open = |row: &&Row| row.judged.waits && row.judged.useless.is_none();
        let waits = self.rows.iter().filter(open).count();
        let _ = writeln!(
            out,
            "{}: {} {failed} failed, {notes} not atomic; {} runs, seed {}",
            if failed > 0 { "failure" } else { "clean" },
            count(self.rows.len(), "test,", "tests,"),
            self.runs,
            self.seed
        );
        let (mut clean, mut same) = (0, 0);
        let mut lines = vec![["test".to_owned(), "calls".to_owned(), "outcome".to_owned()]];
        for row in &self.rows {
            let word = row.judged.word(self.atomic_fails);
            if row.same_as.is_some() {
                same += 1;
                continue;
            }
            if word == "clean" {
                clean += 1;
            }
            if word == "left out" || (word == "clean" && clean > CLEAN_LINES) {
                continue;
            }
            lines.push([row.name.clone(), row.calls.clone(), word]);
        }
        let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
        let (first, second) = (width(0), width(1));
        for line in &lines {
            let _ = writeln!(out, "  {:first$}  {:second$}  {}", line[0], line[1], line[2]);
        }
        if clean > CLEAN_LINES {
            let _ = writeln!(out, "  … and {} clean", count(clean - CLEAN_LINES, "that is", "that are"));
        }
        if same > 0 {
            let _ = writeln!(out, "{} what another one shows", count(same, "test shows", "tests show"));
        }
        if waits > 0 {
            let _ = writeln!(
                out,
                "{} may wait for ever with one call at a time: there a deadlock is no failure",
                count(waits, "test", "tests")
            );
        }
        let mut useless: BTreeMap<&str, usize> = BTreeMap::new();
        for why in self.rows.iter().filter_map(|row| row.judged.useless.as_deref()) {
            *useless.entry(why).or_default() += 1;
        }
        for (why, tests) in useless {
            let _ = writeln!(out, "{} left out: {why}", count(tests, "test is", "tests are"));
        }
        for (why, tests) in &self.not_built {
            let _ = writeln!(out, "{} not compile: {why}", count(*tests, "test does", "tests do"));
        }
        if self.not_run > 0 {
            let _ =
                writeln!(out, "{} not run: the time was over", count(self.not_run, "test was", "tests were"));
        }
        for left in &self.left_out {
            let _ = writeln!(out, "no test calls `{}`: {}", left.what, left.why);
        }
        let mut told = Vec::new();
        for file in self.rows.iter().filter_map(|row| row.file.as_ref()) {
            if !told.contains(&file) {
                let _ = writeln!(out, "written: {file}");
                told.push(file);
            }
        }
        for finding in self.findings.iter().filter(|finding| finding.severity == Severity::Failure) {
            out.push('\n');
            out.push_str(&text::finding(finding, screen, true));
        }
        out
    }
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
