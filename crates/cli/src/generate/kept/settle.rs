//! What is expected after a new test's calls, held against its first runs.
//!
//! One call after the other leaves it, whichever begins. That the calls are atomic, nobody has said: often the functions that can be called are those around the two that were held against each other, and do
//! more than these. So what other orders leave is told, and is expected no more.

use super::super::{Atomic, NOT_ATOMIC};
use super::{Outcome, Written, build, source};
use crate::conduct::cannot;
use crate::exit::Trouble;
use std::fs;
use std::path::Path;
use threadbare_findings::{Finding, Location};

impl Outcome {
    /// Takes what runs of a new test left that no order of the two calls leaves: they need not be atomic, so it is no failure unless that is asked for, and is expected no more.
    pub(in super::super) fn settle(
        &mut self,
        written: &Written,
        out: &Path,
        atomic: Atomic,
    ) -> Result<(), Trouble> {
        let Some(bare) = &written.bare else { return Ok(()) };
        let is_broken = |finding: &Finding| breaks_expected(finding, &written.file);
        if !self.findings.iter().any(is_broken) {
            return Ok(());
        }
        if self.findings.iter().all(is_broken) {
            self.verdict = NOT_ATOMIC;
        }
        if atomic == Atomic::Note {
            self.findings.retain(|finding| !is_broken(finding));
            fs::write(&written.file, bare)
                .map_err(|error| cannot(&format!("write `{}`", written.file.display()), &error))?;
            // What lies beside it is built from what it says.
            self.why = build(&written.file, out).err();
        }
        Ok(())
    }
}

/// Whether a finding says only that something is not as a test expects it.
fn breaks_expected(finding: &Finding, test: &Path) -> bool {
    let named = |path: &str| Path::new(path).file_name() == test.file_name();
    let is_there = |place: &Location| {
        place.function.as_deref() == Some(source::EXPECTED) && place.file.as_deref().is_some_and(named)
    };
    finding.kind == "assertion" && finding.locations.iter().any(is_there)
}
