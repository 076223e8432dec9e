//! The tables of a run, shown as they come and kept in a file.

use crate::steps::Outcome;
use std::path::Path;

/// What was shown.
pub(super) struct Page(String);

impl Page {
    pub(super) fn new() -> Self {
        Self("# What `cargo xtask bench invariants` measured\n\n".to_owned())
    }

    /// Shows a line and keeps it.
    pub(super) fn line(&mut self, line: &str) {
        println!("{line}");
        self.0.push_str(line);
        self.0.push('\n');
    }

    pub(super) fn write(&self, file: &Path) -> Outcome {
        std::fs::write(file, &self.0).map_err(|error| format!("cannot write `{}`: {error}", file.display()))
    }
}
