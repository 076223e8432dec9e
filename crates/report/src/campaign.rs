//! What a campaign came to, as data: the JSON that other tools read.

use crate::claim::Claim;
use crate::tasks::TasksReport;
use serde::{Deserialize, Serialize};
use threadbare_coverage::{Counts, Estimate};
use threadbare_findings::{Finding, Severity};

/// The version of the JSON form.
pub const FORMAT_VERSION: u32 = 1;

/// The result of a campaign. Field names are an interface: others read them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CampaignReport {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// `clean`, `failure`, or `none` if no run ended.
    pub verdict: String,
    /// Runs made.
    pub runs: u64,
    /// Runs that failed.
    pub runs_failed: u64,
    /// The first of them.
    pub first_failure_run: Option<u64>,
    /// Seconds the campaign took.
    pub elapsed_s: f64,
    /// Runs a second.
    pub runs_per_s: f64,
    /// Points in all runs.
    pub points: u64,
    /// Switches in all runs.
    pub switches: u64,
    /// The most strands in one run.
    pub strands: u64,
    /// The strategy's name.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// What was covered.
    pub coverage: Coverage,
    /// What free runs covered; left out where strands were controlled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TasksReport>,
    /// The bugs.
    pub findings: Vec<Finding>,
    /// Findings that were left out because the user asked for that.
    #[serde(default)]
    pub suppressed: u64,
    /// Hash over the traces of all runs: equal for equal campaigns.
    pub trace_hash: String,
    /// Runs that were made again from their schedule and were the same.
    pub replays: u64,
    /// What the runtime warned of.
    pub warnings: Vec<String>,
    /// The labels that runs came to (`reached`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<String>,
    /// What `--regress` found of the kept findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regress: Vec<Regressed>,
    /// What came of `--future`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<crate::choices::ChoiceReport>,
    /// Why it ended: `runs`, `time`, `failure`, `until`, `coverage`, `complete`, `interrupt` or `regress`.
    pub ended_by: String,
    /// How far the planner came, if one chose the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner: Option<PlannerProgress>,
    /// What is known of orders that were not run, if a planner chose runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// What became of a kept finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Regressed {
    /// The finding.
    pub id: String,
    /// `failure`: it is there, or is there again; `fixed`: its schedule passes; `unfit`: its schedule does not fit this build.
    pub outcome: String,
    /// The same in words.
    pub message: String,
    /// Runs that were made for it.
    pub runs: u64,
}

/// How far a planner came.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannerProgress {
    /// Whether every order that makes a difference was run.
    pub complete: bool,
    /// Whether it had no other run to make.
    #[serde(default)]
    pub finished: bool,
    /// Runs it chose, knowing what it knew in the end.
    pub runs: u64,
    /// Runs before that, which taught it what strands share and where they wait.
    pub learning_runs: u64,
    /// Different orders of dependent steps among the runs it chose.
    pub classes: u64,
    /// Runs among them whose class another had shown.
    pub repeated_runs: u64,
    /// What was left out, in words.
    pub bounds: Vec<String>,
}

/// What a campaign covered.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Instructions found to touch memory that strands share.
    pub shared_instructions: u64,
    /// How much was covered.
    #[serde(flatten, default)]
    pub counts: Counts,
    /// Free runs that were made again under control: the counts are theirs. Left out where all runs were controlled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_followed: Option<u64>,
    /// How likely something new is; none while too little is known.
    #[serde(default)]
    pub estimate: Option<Estimate>,
}

impl CampaignReport {
    /// Whether something failed, be it a run or a kept schedule.
    pub fn has_failed(&self) -> bool {
        self.runs_failed > 0 || self.regress.iter().any(|kept| kept.outcome == "failure")
    }

    /// Whether nothing can be said: no run came to its end, and no kept schedule failed.
    pub fn says_nothing(&self) -> bool {
        self.runs == 0 && !self.has_failed()
    }

    /// What can be said, in a word.
    pub fn word(&self) -> &'static str {
        match self.has_failed() {
            true => "failure",
            false if self.says_nothing() => "none",
            false => "clean",
        }
    }

    /// How many findings make runs fail; the others are only told.
    pub fn failures(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Failure).count()
    }

    /// The report as JSON, one object, with a line end.
    pub fn to_json(&self) -> String {
        let mut json =
            serde_json::to_string_pretty(self).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
        json.push('\n');
        json
    }
}
