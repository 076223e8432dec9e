//! What came of the pairs, as it is told.

use super::look::Candidate;
use serde::Serialize;
use threadbare_findings::Finding;

/// How many pairs each filter leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Funnel {
    pub(super) functions: usize,
    /// Pairs of functions.
    pub(super) all: usize,
    /// Those that depend on each other by what the code says.
    pub(super) by_code: usize,
    /// Those that ran at the same time, or could have.
    pub(super) running: usize,
    /// Those of them that depend on each other by accesses of their own.
    pub(super) strong: usize,
    /// The same with what they call.
    pub(super) over_calls: usize,
    /// Those that touched the same object themselves in a run.
    pub(super) same_object: usize,
    /// Those that did so over calls.
    pub(super) met: usize,
    /// Pairs of paths through them.
    pub(super) paths: usize,
    /// Left out: pairs whose calls lay too far apart.
    pub(super) far: usize,
    /// Left out: pairs of which one has a lock all the time that the other takes.
    pub(super) guarded: usize,
    /// Left out: pairs of paths whose conflicts smaller ones have.
    pub(super) covered: usize,
    /// Left out: pairs of paths that were not asked for.
    pub(super) unwanted: usize,
    /// Left out: pairs that met in no run, and whose states recorded apart are not compatible, or cannot be recorded.
    pub(super) unlike: usize,
    /// Left out: tests beyond `--max`.
    pub(super) over: usize,
}

/// What was left out, by reason.
#[derive(Clone, Copy, Debug, Serialize)]
struct LeftOut {
    not_running: usize,
    independent: usize,
    other_objects: usize,
    too_far: usize,
    guarded: usize,
    covered: usize,
    not_wanted: usize,
    not_combined: usize,
    over_max: usize,
}

/// Two calls that met in no run, and why their states are no test.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Uncombined {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) object: String,
    pub(super) why: String,
}

impl Uncombined {
    pub(super) fn new(candidate: &Candidate, why: String) -> Uncombined {
        let [first, second] = [0, 1].map(|at: usize| candidate.functions[at].name.clone());
        Uncombined { first, second, object: candidate.object.clone(), why }
    }
}

/// A test and what came of it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) file: Option<String>,
    pub(super) form: &'static str,
    pub(super) first: String,
    pub(super) second: String,
    pub(super) object: String,
    /// The places at which the two meet.
    pub(super) places: [Vec<String>; 2],
    /// Which of the pairs of paths it is, and how many there are.
    pub(super) paths: String,
    /// `strong`, or `weak` if both only read.
    pub(super) dependence: &'static str,
    /// `together`, or `combined` if each call's was recorded in a run of its own.
    pub(super) states: &'static str,
    /// Whether both calls leave what one of the orders leaves; none if that was not compared.
    pub(super) atomic: Option<bool>,
    /// `pass`, `fail`, `not-atomic` or `not-reached`; of kept tests also `waits`, `state-missing` and `not-built`.
    pub(super) verdict: &'static str,
    pub(super) findings: Vec<String>,
    pub(super) runs: u64,
    /// Runs in which both strands stood before their calls at the same time.
    pub(super) met: u64,
    /// Of a live test: why it is not kept as source as well. Of a kept one: why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
}

/// Everything.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) funnel: Funnel,
    pub(super) tests: Vec<Test>,
    pub(super) uncombined: Vec<Uncombined>,
    pub(super) findings: Vec<Finding>,
    pub(super) runs: u64,
    pub(super) elapsed: f64,
    pub(super) seed: u64,
    pub(super) failed: bool,
    pub(super) warnings: Vec<String>,
    /// The first looks: how many runs, and how long they took.
    pub(super) looked: (u64, f64),
}

#[derive(Serialize)]
struct Json<'a> {
    format_version: u32,
    verdict: &'static str,
    runs: u64,
    elapsed_s: f64,
    look_runs: u64,
    look_s: f64,
    seed: u64,
    functions: usize,
    pairs_all: usize,
    pairs_by_code: usize,
    pairs_running: usize,
    pairs_strong: usize,
    pairs_strong_over_calls: usize,
    pairs_same_object: usize,
    pairs_same_object_over_calls: usize,
    pairs_paths: usize,
    left_out: LeftOut,
    tests: &'a [Test],
    not_combined: &'a [Uncombined],
    findings: &'a [Finding],
    warnings: &'a [String],
}

impl Results {
    /// One JSON object.
    pub(super) fn to_json(&self) -> String {
        let funnel = &self.funnel;
        let json = Json {
            format_version: 1,
            verdict: if self.failed { "failure" } else { "clean" },
            runs: self.runs,
            elapsed_s: self.elapsed,
            look_runs: self.looked.0,
            look_s: self.looked.1,
            seed: self.seed,
            functions: funnel.functions,
            pairs_all: funnel.all,
            pairs_by_code: funnel.by_code,
            pairs_running: funnel.running,
            pairs_strong: funnel.strong,
            pairs_strong_over_calls: funnel.over_calls,
            pairs_same_object: funnel.same_object,
            pairs_same_object_over_calls: funnel.met,
            pairs_paths: funnel.paths,
            left_out: LeftOut {
                not_running: funnel.all.saturating_sub(funnel.running),
                independent: funnel.running.saturating_sub(funnel.over_calls),
                other_objects: funnel.over_calls.saturating_sub(funnel.met),
                too_far: funnel.far,
                guarded: funnel.guarded,
                covered: funnel.covered,
                not_wanted: funnel.unwanted,
                not_combined: funnel.unlike,
                over_max: funnel.over,
            },
            tests: &self.tests,
            not_combined: &self.uncombined,
            findings: &self.findings,
            warnings: &self.warnings,
        };
        let mut text = serde_json::to_string_pretty(&json).unwrap_or_default();
        text.push('\n');
        text
    }
}
