//! Shrinking: the same finding with fewer preemptions, then fewer strands, then fewer switches and events.
//!
//! [`shrink`] first makes the schedule smaller by leaving things out (`reduce`), then looks for a run with fewer
//! preemptions among all there are (`bound`), as far as its budget goes. Runs follow changed schedules loosely (the runtime's
//! `lenient`); one that leaves its plan is judged by what it shows, so nothing can diverge. Only when all runs with fewer
//! preemptions were made, or left out for a reason, the result is told to be minimal.
//!
//! The order of what is tried depends on the schedule and the program only, so with the same number of runs the result is
//! the same.
//!
//! It works when the runs of a campaign are over, on a server of its own. A schedule becomes a *plan*: stretches that end at a count of the strand's own events, so that taking one out leaves the others
//! their meaning. The runtime follows it loosely (`engine/lenient.rs`) and notes every decision (`abi::decision`): who
//! stood before what, who could go on. `reduce` leaves things out of the plan; `bound` makes all runs with fewer
//! preemptions, by level, from the decisions of earlier ones, with `state` telling which decisions have the same
//! future. Each run is judged by what it shows (`goal`), and its own segments are the next plan and, in the end, the
//! strict schedule. `decide` tries pairs of dependent operations the other way round; `findings::decide` and
//! `findings::pattern` put the pair into words from the streams of the failing run and the passing one.

mod acts;
mod bound;
mod decide;
mod plan;
mod reach;
mod reduce;
mod state;
mod trial;

use crate::error::Error;
use crate::run::{Follow, Job, Request};
use bound::Searched;
use plan::Plan;
use std::sync::Arc;
use threadbare_abi::event::Segment;
use threadbare_trace::identity::Identity;
use threadbare_trace::race::RacePair;
use threadbare_trace::run::RunFacts;
use threadbare_trace::shape::Shape;
use trial::{Halt, Made, Trials};

pub use decide::{Pairs, Reach, decide};
pub use trial::Budget;

/// A finding to be shrunk: a run that shows it.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The request of the run.
    pub request: &'a Request,
    /// What it knew.
    pub known: &'a Arc<[u64]>,
    /// Its choices, all of them.
    pub segments: &'a [Segment],
    /// The race, if the finding is one.
    pub race: Option<RacePair>,
    /// The facts of the run, for what the finding is.
    pub facts: &'a RunFacts,
}

/// What shrinking came to.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The run: its verdict, report and choices. Of a race they are those of the whole run.
    pub facts: RunFacts,
    /// Its shape.
    pub shape: Shape,
    /// The shape of the run that was shrunk.
    pub from: Shape,
    /// No run with fewer preemptions shows the finding.
    pub minimal: bool,
    /// Nothing more would be tried with a larger budget.
    pub finished: bool,
    /// Runs that were made.
    pub runs: u64,
    /// The pcs that the runs knew in the end.
    pub known: Arc<[u64]>,
}

/// A schedule as a plan that a run follows loosely ([`threadbare_abi::layout::flags::LENIENT`]).
pub fn loosely(segments: &[Segment]) -> Vec<Segment> {
    Plan::of(segments).segments()
}

/// Shrinks a finding; `None` where a run that follows its schedule loosely does not show it.
pub fn shrink(job: &mut Job, subject: &Subject<'_>, budget: Budget) -> Result<Option<Shrunk>, Error> {
    let goal = Identity::of(subject.facts, subject.race);
    let points = subject.facts.counters.points;
    let mut trials = Trials::new(job, subject.request, subject.known, goal, points, budget);
    let mut best = match begin(&mut trials, subject.segments) {
        Ok(Some(made)) => made,
        Ok(None) | Err(Halt::Spent) => return Ok(None),
        Err(Halt::Failed(error)) => return Err(error),
    };
    // A schedule's own file does not say which instructions are shared.
    trials.learn();
    let from = Shape::of(subject.segments);
    let mut minimal = is_least(&best.shape);
    let finished = match pursue(&mut trials, &mut best, &mut minimal) {
        Ok(()) => true,
        Err(Halt::Spent) => false,
        // What was found so far is not lost by what came after it.
        Err(Halt::Failed(_)) => false,
    };
    minimal |= is_least(&best.shape);
    // The details of the run are told by its points: all that strands share is to be one.
    let plan = Plan::of(&best.segments);
    while trials.learn() && trials.make(&plan).is_ok() {}
    let (runs, known) = (trials.runs, Arc::clone(trials.known()));
    let Some(facts) = best.facts.filter(|facts| comes_again(job, subject, facts)) else { return Ok(None) };
    // A spin that another run waits for has no part in how large a run is: both are counted alike.
    let from = Shape { preemptions: from.preemptions.max(best.shape.preemptions), ..from };
    Ok(Some(Shrunk { facts: *facts, shape: best.shape, from, minimal, finished, runs, known }))
}

/// A run that shows the finding: the one that was recorded, or, where that is too long or depends on what is not told,
/// one that has only its beginning.
fn begin(trials: &mut Trials<'_>, segments: &[Segment]) -> Result<Option<Made>, Halt> {
    let plan = Plan::of(segments);
    let mut kept = plan.stretches.len();
    loop {
        let made = trials.make(&plan.without(|at, _| at >= kept))?;
        if made.facts.is_some() {
            return Ok(Some(made));
        }
        if kept == 0 {
            return Ok(None);
        }
        kept /= 2;
    }
}

fn pursue(trials: &mut Trials<'_>, best: &mut Made, minimal: &mut bool) -> Result<(), Halt> {
    reduce::reduce(trials, best)?;
    // All runs there are, are those of sequentially consistent memory: which stale reads could save a preemption is not known.
    while !*minimal && best.shape.preemptions > 0 && best.shape.stale == 0 {
        match search(trials, best, best.shape.preemptions, true)? {
            Searched::Found(made, complete) => {
                *best = *made;
                *minimal = complete;
                reduce::reduce(trials, best)?;
            }
            Searched::Nothing => *minimal = true,
            Searched::Unknown => return Ok(()),
        }
    }
    // A fault whose absence moves everything after it cannot be left out alone.
    if best.shape.faults > 0
        && best.shape.stale == 0
        && let Searched::Found(made, complete) = search(trials, best, best.shape.preemptions + 1, false)?
    {
        *best = *made;
        *minimal = complete;
        reduce::reduce(trials, best)?;
    }
    Ok(())
}

/// Whether no run can ask less of its reader, as far as preemptions and stale reads go.
fn is_least(shape: &Shape) -> bool {
    shape.preemptions == 0 && shape.stale == 0
}

/// All runs with fewer preemptions, with the values of the best one, and with its faults or without.
fn search(trials: &mut Trials<'_>, best: &Made, below: u64, faults: bool) -> Result<Searched, Halt> {
    trials.fix(&best.segments, faults);
    let searched = bound::search(trials, below);
    trials.free();
    searched
}

/// Whether a strict replay of the run is the same run.
fn comes_again(job: &mut Job, subject: &Subject<'_>, facts: &RunFacts) -> bool {
    let races = subject.request.races || subject.race.is_some();
    let request = Request { flags: 0, races, ..subject.request.clone() }.strictly(facts.verdict.kind);
    let Ok(server) = job.server() else { return false };
    let Ok(ended) = server.run(&request, Follow::Segments(&facts.segments), None) else { return false };
    let goal = Identity::of(subject.facts, subject.race);
    server.facts(&request, &ended, false).is_ok_and(|again| match goal.is_race() {
        true => goal.is_shown_by(&again),
        false => goal.is_repeated_by(&Identity::of(&again, None)),
    })
}
