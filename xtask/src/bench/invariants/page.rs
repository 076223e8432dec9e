//! The tables of a run, shown as they come and kept in a file.

use crate::steps::Outcome;
use std::path::Path;

/// What was shown.
pub(super) struct Page(String);

impl Page {
    pub(super) fn new() -> Self {
        let mut text = "# What `cargo xtask bench invariants` measured\n\n".to_owned();
        if std::env::var_os("THREADBARE_BIN").is_some() {
            text.push_str("By a tool that was there already (`THREADBARE_BIN`), which need not be an optimised one.\n\n");
        }
        Self(text)
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
