//! Runs that try plans, within a budget.

use super::plan::{Choice, Plan};
use crate::error::Error;
use crate::interrupt;
use crate::run::{Ended, Job, Request};
use crate::verdict;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use threadbare_abi::decision::{Decision, WORDS};
use threadbare_abi::event::Segment;
use threadbare_abi::layout::{Record, WORDS_CAPACITY, flags};
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::{BY_POINTS, VerdictKind};
use threadbare_strategy::StrategyId;
use threadbare_trace::identity::Identity;
use threadbare_trace::report::RunReport;
use threadbare_trace::run::{End, RunFacts};
use threadbare_trace::shape::{Shape, is_strand};
use threadbare_trace::strands::Strands;

/// How much may be spent. The result depends on the number of runs; time is the outer limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The most runs.
    pub runs: u64,
    /// The most time, once the least number of runs was made; four times as much at the most.
    pub time: Duration,
    /// So many runs are made though they take longer: other work on the machine does not count.
    pub least: u64,
}

/// Why no more runs are made.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The budget is spent, or the user asked for the end.
    Spent,
    /// Something went wrong.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        match error {
            Error::Cancelled => Halt::Spent,
            error => Halt::Failed(error),
        }
    }
}

/// A run that was made.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) segments: Arc<[Segment]>,
    pub(crate) shape: Shape,
    pub(crate) decisions: Vec<Decision>,
    /// The strands by index; those that never ran are there where a decision could have let them.
    pub(crate) paths: HashMap<StrandId, u64>,
    /// There were more decisions than could be noted, or the run was cut off.
    pub(crate) partial: bool,
    /// Nothing failed; races do not count unless one is the goal.
    pub(crate) passed: bool,
    /// The facts, if the run shows the finding.
    pub(crate) facts: Option<Box<RunFacts>>,
}

/// How many points a run that tries a plan may make, against the run that is shrunk.
const LONGER: u64 = 4;
/// How much more time a budget has until its least number of runs was made.
const LONGER_TIME: u32 = 4;
/// Points that any run may make.
const POINTS: u64 = 20_000;
/// How long a run that tries a plan may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes runs for one finding.
pub(crate) struct Trials<'a> {
    job: &'a mut Job,
    request: Request,
    pub(crate) goal: Identity,
    known: Arc<[u64]>,
    /// Instructions that turned out to be shared and were not known to be.
    learnt: BTreeSet<u64>,
    tried: HashSet<u64>,
    /// Faults and values of every run, whatever its plan says.
    fixed: Vec<Choice>,
    pub(crate) runs: u64,
    budget: Budget,
    begun: Instant,
}

impl<'a> Trials<'a> {
    /// Trials with the request of the run that showed the finding. `points` is the number of points it made.
    pub(crate) fn new(
        job: &'a mut Job,
        request: &Request,
        known: &Arc<[u64]>,
        goal: Identity,
        points: u64,
        budget: Budget,
    ) -> Trials<'a> {
        let mut request = request.clone();
        request.flags = flags::LENIENT;
        request.record = Record::Nothing;
        request.watches = Vec::new();
        request.timeout = request.timeout.min(PATIENCE);
        request.races |= goal.is_race();
        if request.max_points == 0 {
            request.max_points = LONGER * points + POINTS;
        }
        job.set_known(known);
        Trials {
            job,
            request,
            goal,
            known: Arc::clone(known),
            learnt: BTreeSet::new(),
            tried: HashSet::new(),
            fixed: Vec::new(),
            runs: 0,
            budget,
            begun: Instant::now(),
        }
    }

    fn spend(&mut self) -> Result<(), Halt> {
        let Budget { runs, time, least } = self.budget;
        let time = if self.runs < least { LONGER_TIME * time } else { time };
        if self.runs >= runs || self.begun.elapsed() >= time || interrupt::requested() {
            return Err(Halt::Spent);
        }
        self.runs += 1;
        Ok(())
    }

    /// Makes a run by chance, for what it learns: one that fails early says nothing of what others would have touched.
    pub(crate) fn scout(&mut self, seed: u64) -> Result<(), Halt> {
        self.spend()?;
        let mut params = [0; 8];
        params[threadbare_strategy::IN_ORDER] = self.request.params[threadbare_strategy::IN_ORDER];
        let request = Request {
            flags: 0,
            strategy: StrategyId::Uniform,
            params,
            seed,
            guide: (&[][..]).into(),
            ..self.request.clone()
        };
        let ended = self.job.run(&request, &[])?;
        let Some(server) = self.job.last() else { return Err(Halt::Spent) };
        if ended.live.learnt > 0 {
            self.learnt.extend(server.learnt(&ended));
        }
        Ok(())
    }

    /// Tries a plan.
    pub(crate) fn make(&mut self, plan: &Plan) -> Result<Made, Halt> {
        self.spend()?;
        let ended = self.job.run(&self.request, &plan.with_fixed(&self.fixed).segments())?;
        self.look(&ended)
    }

    /// The values that the program asked for in a run are those of all runs from now on, and so are its faults, if it is to have any: what is
    /// asked is how few preemptions do with them.
    pub(crate) fn fix(&mut self, of: &[Segment], faults: bool) {
        self.fixed = Plan::of(of).fixed();
        self.fixed.retain(|choice| faults || choice.fault == 0);
    }

    /// Values and faults are those of the plans.
    pub(crate) fn free(&mut self) {
        self.fixed.clear();
    }

    /// Tries a plan unless it was tried before.
    pub(crate) fn make_new(&mut self, plan: &Plan) -> Result<Option<Made>, Halt> {
        if self.tried.insert(plan.fingerprint()) { self.make(plan).map(Some) } else { Ok(None) }
    }

    fn look(&mut self, ended: &Ended) -> Result<Made, Halt> {
        let Some(server) = self.job.last() else { return Err(Halt::Spent) };
        let clean = verdict::is_clean(ended.end, &ended.live);
        let shows = !clean || self.goal.is_race() && ended.live.races > 0;
        let killed = ended.end == End::TimedOut;
        let lost = ended.live.counters.segments_lost > 0;
        if ended.live.learnt > 0 {
            self.learnt.extend(server.learnt(ended));
        }
        let segments: Arc<[Segment]> = server.segments(ended).into();
        let notes = server.lessons(ended).notes;
        let full = notes.len() + WORDS >= WORDS_CAPACITY;
        let (records, _) = notes.as_chunks::<WORDS>();
        let decisions: Vec<Decision> = records.iter().copied().filter_map(Decision::decode).collect();
        let mut paths: HashMap<StrandId, u64> =
            segments.iter().filter(|it| is_strand(it)).map(|it| (StrandId(it.strand), it.path)).collect();
        let could_run = |paths: &HashMap<StrandId, u64>| {
            let ran =
                paths.keys().filter_map(|id| 1u64.checked_shl(u32::from(id.0))).fold(0, |set, bit| set | bit);
            decisions.iter().any(|it| it.enabled & !ran != 0)
        };
        if could_run(&paths) {
            let report = RunReport::decode(&server.report_bytes(ended));
            let strands = Strands::from_report(&report);
            let all = report.strands.iter().map(|strand| StrandId(strand.index));
            paths.extend(all.filter_map(|id| Some((id, strands.path(id)?.0))));
        }
        let mut facts = None;
        let mut cut = killed || lost;
        if shows && !killed && !lost {
            let made = server.facts(&self.request, ended, false)?;
            cut |= (made.verdict.kind, made.verdict.code) == (VerdictKind::Livelock, BY_POINTS);
            if self.goal.is_shown_by(&made) {
                facts = Some(Box::new(RunFacts { segments: segments.to_vec(), ..made }));
            }
        }
        Ok(Made {
            shape: Shape::of(&segments),
            segments,
            decisions,
            paths,
            partial: full || cut,
            passed: clean && !(self.goal.is_race() && facts.is_some()),
            facts,
        })
    }

    /// Makes what the runs have learnt known to the later ones; false if that is nothing new.
    pub(crate) fn learn(&mut self) -> bool {
        let new: Vec<u64> = self.learnt.iter().copied().filter(|pc| !self.known.contains(pc)).collect();
        self.learnt.clear();
        if new.is_empty() {
            return false;
        }
        self.known = self.known.iter().copied().chain(new).collect();
        self.job.set_known(&self.known);
        true
    }

    /// What the runs know.
    pub(crate) fn known(&self) -> &Arc<[u64]> {
        &self.known
    }

    /// Whether deadlines may come while a strand can go on.
    pub(crate) fn early_deadlines(&self) -> bool {
        self.request.params[threadbare_strategy::IN_ORDER] == 0
    }
}
