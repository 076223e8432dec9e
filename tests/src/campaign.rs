//! One `threadbare run` over a program of the corpus, and what it says.

use crate::corpus::Program;
use crate::tool::{self, Outcome};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The seed of every campaign of the tests: the result is the same on every machine.
pub const SEED: &str = "1";

/// What a campaign came to.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// The command's end.
    pub outcome: Outcome,
    /// The JSON object it printed.
    pub report: Value,
}

impl Campaign {
    /// A number of the report.
    ///
    /// # Errors
    /// If the report has no such number.
    pub fn number(&self, field: &str) -> Result<u64, String> {
        self.report[field].as_u64().ok_or_else(|| self.complain(&format!("`{field}` is no number")))
    }

    /// A text of the report.
    ///
    /// # Errors
    /// If the report has no such text.
    pub fn text(&self, field: &str) -> Result<&str, String> {
        self.report[field].as_str().ok_or_else(|| self.complain(&format!("`{field}` is no text")))
    }

    /// The findings.
    pub fn findings(&self) -> &[Value] {
        self.report["findings"].as_array().map_or(&[], Vec::as_slice)
    }

    /// What is wrong, with everything the command said.
    pub fn complain(&self, what: &str) -> String {
        format!("{what}\nthe command: {}", self.outcome.describe())
    }
}

/// Runs a campaign; if the options do not say otherwise, with one job, so that tests beside it have their share of
/// the machine.
///
/// # Errors
/// In words, when the command fails or prints no JSON object.
pub fn run(program: &Program, executable: &Path, out: &Path, options: &[&str]) -> Result<Campaign, String> {
    let mut arguments = vec!["run", "--format", "json"];
    for (option, value) in [("--jobs", "1"), ("--seed", SEED), ("--strategy", &program.strategy)] {
        if !options.contains(&option) {
            arguments.extend([option, value]);
        }
    }
    // What is told of a finding is a matter of its own test.
    if !options.contains(&"--shrink") {
        arguments.extend(["--shrink", "off"]);
    }
    if let Some(points) = &program.points {
        arguments.extend(["--points", points]);
    }
    if let Some(model) = program.memory_model.as_ref().filter(|_| !options.contains(&"--memory-model")) {
        arguments.extend(["--memory-model", model]);
    }
    if let Some(faults) = program.faults.as_ref().filter(|_| !options.contains(&"--faults")) {
        arguments.extend(["--faults", faults]);
    }
    if let Some(timeout) = &program.timeout {
        arguments.extend(["--timeout", timeout]);
    }
    arguments.extend(options);
    let mut command = tool::command(&arguments);
    if !program.suppress.is_empty() {
        let file = out.join("suppressions.txt");
        fs::write(&file, program.suppress.join("\n"))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        command.arg("--suppressions").arg(file);
    }
    command.arg("--out").arg(out).arg("--").arg(executable).args(&program.args);
    command.envs(program.env.iter().map(|(variable, value)| (variable, value)));
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    let wrong = |why: String| format!("{why}\n{command:?}: {}", outcome.describe());
    if !matches!(outcome.code, Some(0 | 1)) {
        return Err(wrong("the campaign did not come to an end of its own".to_owned()));
    }
    let report = serde_json::from_str(&outcome.stdout)
        .map_err(|error| wrong(format!("the standard output is no JSON object: {error}")))?;
    Ok(Campaign { outcome, report })
}
