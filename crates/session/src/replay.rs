//! One schedule again: the run, and the finding that it shows.

use crate::observer::Observer;
use crate::trouble::Trouble;
use crate::{follow, why};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use threadbare_explore::run::{Job, Request};
use threadbare_explore::server::{Server, Target};
use threadbare_explore::{details, files, store};
use threadbare_findings::explain::explain;
use threadbare_findings::{Finding, SymbolPlaces, identity};
use threadbare_trace::run::RunFacts;
use threadbare_trace::schedule::Schedule;

/// How long the search for what decides may take where no finding tells it.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// A schedule that is about to be followed: its program is started, and stands before its `main`.
#[derive(Debug)]
pub struct Replay {
    /// The schedule's file.
    pub path: PathBuf,
    /// The schedule.
    pub schedule: Schedule,
    /// The program.
    pub target: Target,
    /// What its run is to do.
    pub request: Request,
    /// Who makes it.
    pub server: Server,
}

/// A run that was made again, and was the recorded one.
#[derive(Debug)]
pub struct Replayed {
    /// The run; of a schedule that is kept for a race, the race is its verdict.
    pub facts: RunFacts,
    /// What it shows; of a run that did not fail, what is known of it.
    pub finding: Finding,
}

impl Replay {
    /// Opens the schedule that a file or the id of a finding in `folder` names. `program` says where its build is now.
    pub fn open(
        name: &Path,
        folder: &Path,
        program: Option<&Path>,
        observer: &mut dyn Observer,
    ) -> Result<Replay, Trouble> {
        let (path, schedule) = follow::read(name, folder)?;
        let target = follow::target(&schedule, program, observer)?;
        observer.target("replaying", &target);
        let mut server = Server::start(&target)?;
        server.set_known(&schedule.known);
        Ok(Replay { request: follow::request(&schedule), path, schedule, target, server })
    }

    /// Makes the run. Whether it was the recorded one is still to be asked.
    pub fn run(&mut self) -> Result<RunFacts, Trouble> {
        follow::once(&mut self.server, &self.request, &self.schedule)
    }

    /// Sees that a run was the recorded one, and says what it shows: as its campaign did, if that is kept beside the schedule; else it
    /// is looked for why it fails, for as long as `patience` says.
    pub fn tell(mut self, facts: RunFacts, patience: Duration) -> Result<Replayed, Trouble> {
        let schedule = &self.schedule;
        let verdict = facts.verdict.clone();
        let mut facts = follow::judge(facts, schedule, &self.target.program)?;
        let explained = facts.verdict.is_failure() && schedule.then.is_none();
        if explained {
            // Once more, for what a finding tells beside the verdict.
            facts.segments.clone_from(&schedule.segments);
            details::add(&mut self.server, &self.request, &verdict, vec![&mut facts]);
        }
        let places = SymbolPlaces::new(&facts.report.modules, &self.target.program);
        let mut finding = explain(&facts, &self.target.program.display().to_string(), &places);
        finding.schedule = self.path.display().to_string();
        finding.id = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_plain = self.path.extension().is_some_and(|extension| extension == store::SCHEDULE);
        if explained && is_plain && !recall(&self.path, &mut finding) {
            // A schedule that came without its finding.
            let mut job = Job::new(Arc::new(self.target), Arc::new(AtomicBool::new(false)));
            let known: Arc<[u64]> = schedule.known.clone().into();
            job.set_known(&known);
            why::add(&mut job, &self.request, &known, &facts, &mut finding, &places, patience)?;
        }
        Ok(Replayed { facts, finding })
    }
}

/// The finding that lies beside a schedule.
pub(crate) fn kept(schedule: &Path) -> Option<Finding> {
    serde_json::from_slice(&files::read(&schedule.with_extension("json")).ok()?).ok()
}

/// Tells a finding as the campaign did that kept it beside its schedule; false if there is none, or one of another run.
fn recall(path: &Path, finding: &mut Finding) -> bool {
    let shape = |finding: &Finding| (finding.switches, finding.preemptions);
    let same = |kept: &Finding| identity::is_same(kept, finding) && shape(kept) == shape(finding);
    let Some(kept) = kept(path).filter(same) else { return false };
    if kept.explanation.is_some() {
        finding.message = kept.message;
        finding.steps = kept.steps;
    }
    finding.explanation = kept.explanation;
    finding.shrunk = kept.shrunk;
    finding.notes = kept.notes;
    true
}
