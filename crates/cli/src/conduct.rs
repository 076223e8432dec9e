//! A campaign as the commands conduct it: the library's, with its progress and its warnings on standard error.

use crate::invariants::joined;
use crate::{cost, said};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use threadbare_explore::campaign::{Config, Progress};
use threadbare_explore::journal::Journal;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_findings::{Findings, Suppressions};
use threadbare_report::Style;
use threadbare_report::progress::{ProgressLine, State};
use threadbare_session::refine::Found;
use threadbare_session::{Observer, Trouble, campaign};

pub(crate) use threadbare_session::campaign::{Conducted, Iroots, Paired};
pub(crate) use threadbare_session::follow::schedule;
pub(crate) use threadbare_session::places::{KeptPlaces, program_id};
pub(crate) use threadbare_session::trouble::cannot;

/// Makes a campaign and stores its findings. With a label it is one of several.
pub(crate) fn campaign(
    config: &Config,
    store: &Store,
    line: ProgressLine,
    label: Option<&str>,
    suppressions: &Arc<Suppressions>,
    journal: Option<Journal>,
) -> Result<Conducted, Trouble> {
    campaign::conduct(config, store, &mut Terminal::on(line), label, suppressions, journal)
}

/// Tells on standard error what goes on.
#[derive(Debug)]
pub(crate) struct Terminal {
    line: ProgressLine,
    /// What a run costs was told, or need not be.
    cost_told: bool,
}

impl Terminal {
    pub(crate) fn new() -> Terminal {
        Terminal::on(ProgressLine::on_stderr())
    }

    fn on(line: ProgressLine) -> Terminal {
        Terminal { line, cost_told: false }
    }
}

impl Observer for Terminal {
    fn progress(&mut self, config: &Config, progress: &Progress, findings: usize) {
        if !self.cost_told
            && let Some(hint) = cost::hint(progress, config.jobs)
        {
            self.cost_told = true;
            self.line.clear();
            said::note(&format!("{}: {hint}", Style::for_stream(&std::io::stderr()).strong("hint")));
        }
        self.line.show(&State {
            runs: progress.runs,
            of: config.runs,
            time: config.time,
            points: progress.points,
            findings,
            elapsed: progress.elapsed,
            estimate: progress.estimate.filter(|_| config.target.mode.makes_choices()),
            goal: config.goal.map(|goal| {
                let model = progress.tasks.map(|counts| goal.model.of(&counts)).unwrap_or_default();
                (model.covered, model.coverable, goal.share)
            }),
        });
    }

    fn runs_made(&mut self) {
        self.line.clear();
    }

    fn warning(&mut self, message: &str) {
        self.line.clear();
        warn(message);
    }

    fn target(&mut self, doing: &str, target: &Target) {
        tell_target(doing, target);
    }

    fn shrunk(
        &mut self,
        config: &Config,
        store: &Store,
        found: &[(String, Found)],
        time: Duration,
        findings: &mut Findings,
    ) {
        joined::all(config, store, found, time, findings);
    }
}

/// Tells which program is about to be run, on whose word soever: arguments, folder and input with it.
pub(crate) fn tell_target(what: &str, target: &Target) {
    said::note(&said::clean(&target_words(what, target, std::env::current_dir().ok().as_deref())));
}

/// A folder that is not the present one comes first.
fn target_words(what: &str, target: &Target, here: Option<&Path>) -> String {
    let mut words = what.to_owned();
    if here != Some(&target.cwd) {
        words.push_str(&format!(" in {}:", shell_word(target.cwd.as_os_str())));
    }
    let here = here.filter(|here| *here == target.cwd);
    let short = here.and_then(|here| target.program.strip_prefix(here).ok());
    let short = short.map(|short| Path::new(".").join(short));
    words.push(' ');
    words.push_str(&shell_word(short.as_deref().unwrap_or(&target.program).as_os_str()));
    for arg in &target.args {
        words.push(' ');
        words.push_str(&shell_word(arg));
    }
    if let Some(input) = &target.stdin {
        words.push_str(&format!(" < {}", shell_word(input.as_os_str())));
    }
    words
}

/// A word as a shell would take it.
pub(crate) fn shell_word(word: &OsStr) -> String {
    threadbare_report::text::shell_word(&word.to_string_lossy())
}

/// Tells something on standard error that is no end.
pub(crate) fn warn(message: &str) {
    said::note(&format!(
        "{}: {}",
        Style::for_stream(&std::io::stderr()).warn("warning"),
        said::clean(message)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn what_is_run_is_told() {
        let mut target = Target::new("/home/me/bank", vec!["3".into(), "a b".into()]);
        target.cwd = PathBuf::from("/home/me");
        let told = |target: &Target, here: &str| target_words("replaying", target, Some(Path::new(here)));
        assert_eq!(told(&target, "/home/me"), "replaying ./bank 3 'a b'");
        target.stdin = Some(PathBuf::from("/in"));
        assert_eq!(told(&target, "/tmp"), "replaying in /home/me: /home/me/bank 3 'a b' < /in");
    }
}
