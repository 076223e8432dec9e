//! Who looks on while something goes on.

use crate::refine::Found;
use std::time::Duration;
use threadbare_explore::campaign::{Config, Progress};
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_findings::{Finding, Findings};

/// Hears of what goes on. Nothing has to be done about any of it.
pub trait Observer {
    /// A little time has passed in a campaign, which has this many findings so far.
    fn progress(&mut self, _config: &Config, _progress: &Progress, _findings: usize) {}
    /// The runs of a campaign are made; its findings are looked at more closely now.
    fn runs_made(&mut self) {}
    /// There is a new finding, and it is kept.
    fn found(&mut self, _finding: &Finding) {}
    /// Something that is good to know, and no end of what goes on.
    fn warning(&mut self, _message: &str) {}
    /// A program is about to be run on the word of a file: `doing` says what for (`resuming`).
    fn target(&mut self, _doing: &str, _target: &Target) {}
    /// The findings of a campaign are made smaller. Who knows more of them may add it, in this time for each.
    fn shrunk(
        &mut self,
        _config: &Config,
        _store: &Store,
        _found: &[(String, Found)],
        _time: Duration,
        _findings: &mut Findings,
    ) {
    }
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
