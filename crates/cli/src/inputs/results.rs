//! What came of a campaign over inputs.

use super::{All, Plan, Stop};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use threadbare_explore::idioms::Found;
use threadbare_findings::{Finding, Severity};
use threadbare_inputs::{Input, Kind, Template, Value};
use threadbare_report::Screen;

/// The version of the JSON form.
const FORMAT_VERSION: u32 = 1;

/// A test.
#[derive(Clone, Debug)]
pub(crate) struct TestRow {
    pub(crate) input: Input,
    pub(crate) words: String,
    pub(crate) predicted: usize,
    /// Iroots that no earlier test had shown.
    pub(crate) new: usize,
    pub(crate) runs: u64,
    pub(crate) findings: Vec<String>,
}

/// A finding with the input that shows it.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) finding: Finding,
    pub(crate) input: Input,
    pub(crate) words: String,
    /// The test that showed it first.
    pub(crate) test: usize,
    /// Tests that showed it.
    pub(crate) inputs: u64,
    /// It fails whatever the schedule.
    pub(crate) alone: bool,
    /// The input that was found, if a smaller one shows it too.
    pub(crate) shrunk_from: Option<String>,
}

impl Shown {
    pub(crate) fn new(finding: Finding, input: Input, words: String, test: usize) -> Shown {
        Shown { finding, input, words, test, inputs: 1, alone: false, shrunk_from: None }
    }

    /// The finding as others read it, with what its input has to do with it.
    pub(crate) fn told(&self) -> Finding {
        let mut finding = self.finding.clone();
        finding.notes.push(format!("the input: {}", self.words));
        if self.alone {
            finding.notes.push(
                "it fails with this input whatever the schedule: no second strand is needed".to_owned(),
            );
        }
        finding
    }

    pub(crate) fn fails(&self) -> bool {
        self.finding.severity != Severity::Note
    }

    /// Another input shows it too.
    pub(crate) fn replace(&mut self, finding: Finding, input: Input, words: String) {
        let before = std::mem::replace(&mut self.words, words);
        self.shrunk_from.get_or_insert(before);
        let count = self.finding.count;
        self.finding = Finding { count, ..finding };
        self.input = input;
    }

    /// Runs after which it would have been shown.
    pub(crate) fn runs_needed(&self) -> u64 {
        (self.finding.run + 1) * 3 + 60
    }
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) policy: &'static str,
    pub(crate) stop: Stop,
    pub(crate) candidates: usize,
    pub(crate) seed: u64,
    pub(crate) profiled: u64,
    pub(crate) drawn: u64,
    pub(crate) runs: u64,
    /// Those of them behind the tests, which looked closer at findings and made their inputs smaller.
    pub(crate) runs_to_refine: u64,
    pub(crate) elapsed: Duration,
    pub(crate) tests: Vec<TestRow>,
    /// Iroots shown after each test.
    pub(crate) curve: Vec<u64>,
    pub(crate) findings: Vec<Shown>,
    pub(crate) all: All,
    pub(crate) ended_by: String,
    /// A set cover was not the smallest.
    pub(crate) fell_back: bool,
    /// Inputs made no difference.
    pub(crate) ignores: bool,
    /// Inputs that had something new.
    pub(crate) fruitful: Vec<Input>,
    /// What the program itself chose, by the number that it came from.
    pub(crate) own: BTreeMap<u64, Vec<u64>>,
    pub(crate) warnings: Vec<String>,
}

impl Outcome {
    pub(super) fn new(plan: &Plan) -> Outcome {
        Outcome {
            policy: plan.policy.name(),
            stop: plan.stop,
            candidates: plan.candidates,
            seed: plan.seed,
            profiled: 0,
            drawn: 0,
            runs: 0,
            runs_to_refine: 0,
            elapsed: Duration::ZERO,
            tests: Vec::new(),
            curve: Vec::new(),
            findings: Vec::new(),
            all: All::default(),
            ended_by: String::new(),
            fell_back: false,
            ignores: false,
            fruitful: Vec::new(),
            own: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// An input in words; what the program itself chose as far as that was seen.
    pub(crate) fn words(&self, template: &Template, input: &Input) -> String {
        let words = template.words(input);
        let Some(number) = template.own(input) else { return words };
        let (name, told) = (Template::OWN, self.own.get(&number).filter(|own| !own.is_empty()));
        match (told, number) {
            (Some(own), _) => {
                let own: Vec<String> = own.iter().map(u64::to_string).collect();
                words.replace(&format!("{name}={number}"), &format!("{name}={}", own.join(",")))
            }
            (None, 1) => words.replace(&format!("{name}=1"), &format!("{name}=first")),
            (None, _) => words,
        }
    }

    /// Of how many iroots what is known: predicted, shown, infeasible.
    pub(crate) fn iroots(&self) -> [u64; 3] {
        let found = &self.all.found;
        [found.predicted.len() as u64, found.shown.len() as u64, found.infeasible.len() as u64]
    }

    /// One JSON object.
    pub(crate) fn json(&self, template: &Template) -> Json {
        let found = &self.all.found;
        let [predicted, executed, infeasible] = self.iroots();
        let tests: Vec<Json> = self
            .tests
            .iter()
            .map(|test| {
                json!({"input": self.values(template, &test.input), "predicted": test.predicted, "new": test.new,
                    "runs": test.runs, "findings": test.findings})
            })
            .collect();
        json!({
            "format_version": FORMAT_VERSION,
            "verdict": if self.has_failed() { "failure" } else { "clean" },
            "policy": self.policy,
            "stop": if self.stop == Stop::Distance { "distance" } else { "limit" },
            "candidates": self.candidates,
            "seed": self.seed,
            "runs": self.runs,
            "runs_to_refine": self.runs_to_refine,
            "elapsed_s": self.elapsed.as_secs_f64(),
            "ended_by": self.ended_by,
            "drawn": self.drawn,
            "profiled": self.profiled,
            "tests_executed": self.tests.len(),
            "tests": tests,
            "iroots_predicted": predicted,
            "iroots_executed": executed,
            "iroots_infeasible": infeasible,
            "iroots_predicted_by_idiom": Found::by_idiom(&found.predicted),
            "iroots_executed_by_idiom": Found::by_idiom(found.shown.keys()),
            "iroots_infeasible_by_idiom": Found::by_idiom(&found.infeasible),
            "iroots_cut": found.cut,
            "curve": self.curve,
            "cover_exact": !self.fell_back,
            "input_ignored": self.ignores,
            "first_failure_test": self.findings.iter().filter(|shown| shown.fails()).map(|shown| shown.test).min(),
            "findings": self.findings.iter().map(|shown| self.finding(template, shown)).collect::<Vec<_>>(),
            "warnings": self.warnings,
        })
    }

    fn finding(&self, template: &Template, shown: &Shown) -> Json {
        let mut json = serde_json::to_value(&shown.finding).unwrap_or_default();
        if let Some(object) = json.as_object_mut() {
            object.insert("input".to_owned(), Json::Object(self.values(template, &shown.input)));
            object.insert("alone".to_owned(), Json::Bool(shown.alone));
            object.insert("test".to_owned(), Json::from(shown.test));
            object.insert("inputs".to_owned(), Json::from(shown.inputs));
            if let Some(before) = &shown.shrunk_from {
                object.insert("input_found".to_owned(), Json::from(before.clone()));
            }
        }
        json
    }

    /// For people.
    pub(crate) fn text(&self, screen: Screen) -> String {
        let mut out = String::new();
        let [predicted, executed, infeasible] = self.iroots();
        let found = &self.all.found;
        let style = screen.style;
        let verdict = if self.has_failed() { style.bad("failure") } else { style.good("clean") };
        let refined = match self.runs_to_refine {
            0 => String::new(),
            runs => format!(" and {runs} to make inputs smaller"),
        };
        let _ = writeln!(
            out,
            "{verdict}: {} of {} profiled, {}{refined} in {:.2} s; policy {}, seed {}; ended by {}",
            counted(self.tests.len() as u64, "test"),
            counted(self.profiled, "input"),
            counted(self.runs - self.runs_to_refine, "run"),
            self.elapsed.as_secs_f64(),
            self.policy,
            self.seed,
            self.ended_by
        );
        let _ = writeln!(out, "\n  {:<10} {:>9} {:>9} {:>10}", "iroots", "predicted", "shown", "infeasible");
        let (by, shown, not) = (
            Found::by_idiom(&found.predicted),
            Found::by_idiom(found.shown.keys()),
            Found::by_idiom(&found.infeasible),
        );
        for at in (0..by.len()).filter(|&at| by[at] > 0) {
            let _ = writeln!(
                out,
                "  {:<10} {:>9} {:>9} {:>10}",
                format!("idiom {}", at + 1),
                by[at],
                shown[at],
                not[at]
            );
        }
        let _ = writeln!(out, "  {:<10} {predicted:>9} {executed:>9} {infeasible:>10}", "all");
        self.tests_text(&mut out);
        if found.cut {
            out.push_str("\n  a run predicted more iroots than are looked at; the complex ones are cut\n");
        }
        if self.fell_back {
            out.push_str(
                "\n  a set cover took too long: the best that was found is not proved to be the smallest\n",
            );
        }
        for shown in &self.findings {
            let _ = write!(out, "\n{}", threadbare_report::text::finding(&shown.finding, screen, true));
            let words = if shown.words.is_empty() { "nothing".to_owned() } else { shown.words.clone() };
            let _ = writeln!(out, "  input: {words}");
            if let Some(before) = &shown.shrunk_from {
                let _ = writeln!(out, "    found with {before}");
            }
            if shown.alone {
                out.push_str(
                    "    it fails with this input whatever the schedule: no second strand is needed\n",
                );
            }
        }
        out
    }

    fn tests_text(&self, out: &mut String) {
        const MOST: usize = 20;
        if self.tests.is_empty() {
            return;
        }
        let _ = writeln!(out, "\n  {:>4} {:>9} {:>5} {:>6}  input", "test", "predicted", "new", "runs");
        for (number, test) in self.tests.iter().enumerate().take(MOST) {
            let mark = if test.findings.is_empty() { "" } else { "  !" };
            let _ = writeln!(
                out,
                "  {:>4} {:>9} {:>5} {:>6}  {}{mark}",
                number + 1,
                test.predicted,
                test.new,
                test.runs,
                test.words
            );
        }
        if self.tests.len() > MOST {
            let _ = writeln!(out, "  {} more in `--format json`", self.tests.len() - MOST);
        }
    }
}

impl Outcome {
    /// The values of an input by name.
    fn values(&self, template: &Template, input: &Input) -> Map<String, Json> {
        let mut map = values(template, input);
        let own = template.own(input).and_then(|number| self.own.get(&number));
        if let Some(own) = own {
            map.insert(Template::OWN.to_owned(), Json::from(own.clone()));
        }
        map
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The values of an input by name.
fn values(template: &Template, input: &Input) -> Map<String, Json> {
    let mut map = Map::new();
    for (hole, value) in template.holes.iter().zip(&input.0) {
        let json = match (&hole.kind, value) {
            (_, Value::Int(number)) => Json::from(*number),
            (Kind::OneOf(words), Value::Choice(index)) => {
                Json::from(words.get(*index).map(|(word, _)| word.clone()))
            }
            (_, Value::Choice(index)) => Json::from(*index == 1),
            (_, Value::Bytes(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => Json::from(text),
                Err(_) => json!({"hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()}),
            },
        };
        map.insert(hole.name.clone(), json);
    }
    map
}

/// Several complete tests, told together.
#[derive(Debug, Serialize)]
pub(crate) struct Repeated {
    pub(crate) complete_tests: usize,
    pub(crate) tests_least: usize,
    pub(crate) tests_mean: f64,
    pub(crate) tests_most: usize,
    pub(crate) runs_mean: f64,
    pub(crate) profiled_mean: f64,
    pub(crate) seconds_mean: f64,
    pub(crate) iroots: u64,
    pub(crate) failed: usize,
}

impl Repeated {
    pub(crate) fn of(outcomes: &[Outcome]) -> Repeated {
        let count = outcomes.len().max(1) as f64;
        let tests = || outcomes.iter().map(|outcome| outcome.tests.len());
        let mean = |number: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(number).sum::<f64>() / count;
        Repeated {
            complete_tests: outcomes.len(),
            tests_least: tests().min().unwrap_or(0),
            tests_mean: tests().sum::<usize>() as f64 / count,
            tests_most: tests().max().unwrap_or(0),
            runs_mean: mean(&|outcome| outcome.runs as f64),
            profiled_mean: mean(&|outcome| outcome.profiled as f64),
            seconds_mean: mean(&|outcome| outcome.elapsed.as_secs_f64()),
            iroots: outcomes.iter().map(|outcome| outcome.iroots()[1]).max().unwrap_or(0),
            failed: outcomes.iter().filter(|outcome| outcome.has_failed()).count(),
        }
    }
}
