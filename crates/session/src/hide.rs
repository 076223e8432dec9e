//! Findings that the user does not want to hear of, while a campaign goes on.

use crate::places::KeptPlaces;
use crate::trouble::Trouble;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use threadbare_explore::Filter;
use threadbare_explore::files;
use threadbare_findings::explain::explain;
use threadbare_findings::{Finding, Suppressions};
use threadbare_trace::run::RunFacts;

/// Reads the files.
pub fn read(files: &[PathBuf]) -> Result<Arc<Suppressions>, Trouble> {
    let mut suppressions = Suppressions::new();
    for file in files {
        let name = file.display().to_string();
        let bytes = files::read(file).map_err(|error| {
            Trouble::usage(
                format!("cannot read the suppressions `{name}`: {error}"),
                "`--suppressions FILE` takes a file with a `TYPE:PATTERN` a line, such as `race:log_line`",
            )
        })?;
        suppressions
            .parse(&name, &String::from_utf8_lossy(&bytes))
            .map_err(|bad| Trouble::usage(bad.to_string(), "mend the line, or put `#` in front of it"))?;
    }
    Ok(Arc::new(suppressions))
}

/// Asks the suppressions about what is new in a run. Jobs take turns: this happens once for each finding.
pub struct Hider {
    suppressions: Arc<Suppressions>,
    program: PathBuf,
    places: Mutex<KeptPlaces>,
}

impl Hider {
    /// Who asks these about a program's findings.
    pub fn new(suppressions: Arc<Suppressions>, program: PathBuf) -> Hider {
        Hider { suppressions, program, places: Mutex::default() }
    }
}

impl Filter for Hider {
    fn hides(&self, facts: &RunFacts) -> bool {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let places = places.of(&facts.report.modules, &self.program);
        !self.suppressions.matching(&explain(facts, "", places)).is_empty()
    }
}

impl fmt::Debug for Hider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hider").field("suppressions", &self.suppressions).finish_non_exhaustive()
    }
}

/// Which suppressions a campaign had use for.
#[derive(Clone, Debug, Default)]
pub struct Used(BTreeSet<usize>);

impl Used {
    /// Those that fit a finding were of use.
    pub fn by(&mut self, suppressions: &Suppressions, finding: &Finding) {
        self.0.extend(suppressions.matching(finding));
    }

    /// Adds another campaign's.
    pub fn join(&mut self, other: &Used) {
        self.0.extend(&other.0);
    }

    /// The others, each in a line.
    pub fn unused(&self, suppressions: &Suppressions) -> Vec<String> {
        let all = suppressions.all().iter().enumerate();
        all.filter(|(index, _)| !self.0.contains(index))
            .map(|(_, one)| format!("the suppression {one} was not used"))
            .collect()
    }
}
