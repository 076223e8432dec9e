//! Runs under control: one strand at a time, every choice ours.

use super::{Made, Maker, RunMode, Wants};
use crate::advice::Lessons;
use crate::again::Taken;
use crate::batch;
use crate::campaign::Config;
use crate::error::Error;
use crate::ledger::Ticket;
use crate::outcome::{self, Outcome};
use crate::patience::Pace;
use crate::predict::{Prediction, TRIES, Tried};
use crate::processors;
use crate::run::{self, Ended, Follow, Job, Request};
use crate::search::Search;
use crate::server::{Server, Target};
use crate::shm::Told;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use threadbare_abi::event::Segment;
use threadbare_abi::layout::flags;
use threadbare_abi::verdict::VerdictKind;
use threadbare_coverage::Contribution;
use threadbare_strategy::{Spec, StrategyId};
use threadbare_trace::report::RunReport;
use threadbare_trace::run::End;

/// The mode.
#[derive(Clone, Copy, Debug)]
pub struct Controlled;

impl RunMode for Controlled {
    fn announced(&self, target: &Target) -> String {
        // As long either way, or the program's stack would begin elsewhere.
        let reset = if target.reset { ",reset=1" } else { ",reset=0" };
        let stacks = if target.stacks_told { ",stacks=1" } else { ",stacks=0" };
        [reset, stacks].concat()
    }

    fn processors(&self) -> u32 {
        1
    }

    fn makes_choices(&self) -> bool {
        true
    }

    fn params(&self, config: &Config, strategy: &Spec) -> [u64; 8] {
        strategy.plan_params(config.in_order)
    }

    fn decider(&self, config: &Config, strategy: Option<&Spec>) -> String {
        strategy.map_or_else(|| config.search.to_string(), ToString::to_string)
    }

    fn follower(&self, strategy: Spec) -> Spec {
        strategy
    }
}

impl super::Makes for Controlled {
    fn maker<'a>(
        &self,
        config: &'a Config,
        number: usize,
        cancel: &Arc<AtomicBool>,
        pace: &Arc<Pace>,
    ) -> Box<dyn Maker + 'a> {
        processors::bind(number);
        let job = Job::new(Arc::clone(&config.target), Arc::clone(cancel)).with_pace(pace);
        Box::new(Jobs { config, job })
    }
}

/// A job that makes such runs.
struct Jobs<'a> {
    config: &'a Config,
    job: Job,
}

impl Maker for Jobs<'_> {
    fn takes_several(&self) -> bool {
        // Who wants more of each run than its outcome has it made by itself.
        let Config { taker, check_replay, futures, idioms, pairs, .. } = self.config;
        taker.is_none() && !check_replay && futures.is_none() && idioms.is_none() && pairs.is_none()
    }

    fn several(&mut self, tickets: &[Ticket], wants: Wants<'_>) -> Vec<Result<Made, Error>> {
        let Some(first) = tickets.first() else { return Vec::new() };
        self.job.set_known(&first.known);
        let requests: Vec<Request> = tickets.iter().map(|ticket| self.config.request_of(ticket)).collect();
        let batch = match self.job.run_batch(&requests) {
            Ok(batch) => batch,
            Err(Error::Cancelled) => return vec![Err(Error::Cancelled)],
            Err(_) => return Vec::new(),
        };
        let mut made = Vec::with_capacity(batch.told.len() + 1);
        // Details of the run that is answered are there until another run is made.
        let then = batch
            .then
            .filter(|ended| !run::was_killed(ended) && (!ended.end.was_cut() || ended.end == End::TimedOut));
        let then = then.zip(requests.get(batch.told.len())).map(|(ended, request)| {
            let ended = self.job.with_more_time(request, &ended, &[])?.unwrap_or(ended);
            self.outcome_of(request, &ended, wants)
        });
        let then = then.filter(|made| !self.lacks(made));
        for (mut told, request) in batch.told.into_iter().zip(&requests) {
            made.push(self.told_outcome(request, &mut told, wants));
        }
        made.extend(then);
        made.into_iter().map(|made| made.map(|outcome| Made::Run(Box::new(outcome)))).collect()
    }

    fn one(&mut self, ticket: &Ticket, wants: Wants<'_>) -> Result<Made, Error> {
        self.job.set_known(&ticket.known);
        let request = self.config.request_of(ticket);
        if let Some(prediction) = &ticket.prediction {
            return self.attempt(&request, prediction).map(Made::Tried);
        }
        self.whole(&request, wants).map(|outcome| Made::Run(Box::new(outcome)))
    }
}

impl Jobs<'_> {
    /// The outcome of a run of a batch. One that shows something new is made again by itself.
    fn told_outcome(
        &mut self,
        request: &Request,
        told: &mut Told,
        wants: Wants<'_>,
    ) -> Result<Outcome, Error> {
        let coverage = request.flags & flags::COVERAGE != 0;
        let contribution = if coverage { batch::contribution(told) } else { Contribution::default() };
        let Some(server) = self.job.last() else { return Err(Error::Cancelled) };
        let ended = batch::ended(told);
        let remains = &mut (&*server, told);
        let outcome =
            Outcome::of(remains, request, &ended, self.config.policy(), |keys| wants(request.run, keys))?;
        match outcome {
            Some(mut outcome) => {
                outcome.covers(contribution, remains);
                Ok(outcome)
            }
            None => Ok(Outcome { contribution, ..self.whole(request, wants)? }),
        }
    }

    /// Tries a predicted deadlock until a run fails; `base` is the request of the run that showed it.
    fn attempt(&mut self, base: &Request, prediction: &Arc<Prediction>) -> Result<Tried, Error> {
        // Most tries are thrown away: none may claim to be the first that showed something, and races are for the runs.
        let base = Request { races: false, flags: base.flags & !flags::COVERAGE, ..base.clone() };
        let wants = |_, keys: &[u64]| vec![true; keys.len()];
        let mut tries = 0;
        let mut outcome = None;
        while tries < TRIES && outcome.is_none() {
            let made = self.whole(&prediction.request(&base, tries), &wants)?;
            tries += 1;
            // A run that is killed has no schedule to keep, and the next ones would take as long.
            if made.verdict.kind == VerdictKind::Timeout || made.counters.segments_lost > 0 {
                break;
            }
            if made.verdict.is_failure() || made.verdict.is_internal() || made.mismatch.is_some() {
                outcome = Some(Box::new(made));
            }
        }
        Ok(Tried { prediction: Arc::clone(prediction), tries, outcome })
    }

    /// One run. If somebody kills its server meanwhile, all of it is made again: what it tells does not depend on that.
    fn whole(&mut self, request: &Request, wants: Wants<'_>) -> Result<Outcome, Error> {
        const MORE_TIMES: u32 = 4;
        for _ in 0..MORE_TIMES {
            let made = self.once(request, wants);
            if !self.lacks(&made) {
                return made;
            }
        }
        self.once(request, wants)
    }

    /// Whether somebody has killed the server before all was known of the run.
    fn lacks(&self, made: &Result<Outcome, Error>) -> bool {
        match made {
            Err(error) => error.is_by_a_kill(),
            Ok(outcome) => outcome.may_lack_details() && !self.job.is_alive(),
        }
    }

    /// One run.
    fn once(&mut self, request: &Request, wants: Wants<'_>) -> Result<Outcome, Error> {
        let ended = self.job.run(request, &[])?;
        self.outcome_of(request, &ended, wants)
    }

    /// The outcome of the run that has just ended, with its second making if that is asked for.
    fn outcome_of(&mut self, request: &Request, ended: &Ended, wants: Wants<'_>) -> Result<Outcome, Error> {
        let config = self.config;
        let known = Arc::clone(self.job.known());
        let Some(server) = self.job.last() else { return Err(Error::Cancelled) };
        let policy = config.policy();
        let mut outcome = Outcome::of_last(server, request, ended, policy, |keys| wants(request.run, keys))?;
        let segments = config.taker.is_some().then(|| taken_segments(server, ended));
        if request.flags & flags::COVERAGE != 0 {
            let contribution = server.take_contribution(ended);
            outcome.covers(contribution, &(&*server, ended));
        }
        let by_place = config.futures.is_some() || config.idioms.is_some() || config.pairs.is_some();
        if by_place && outcome.modules.is_empty() {
            outcome.modules = RunReport::decode(&server.report_bytes(ended)).modules;
        }
        if config.check_replay && outcome::can_follow(ended) {
            check_replay(server, request, ended, &mut outcome)?;
        }
        // Whoever forces iroots makes one run after the other, and wants all steps of each.
        let steps = match config.search {
            Search::Strategy(spec) if spec.id == StrategyId::Idioms => true,
            _ => config.idioms.as_ref().is_some_and(|order| order.force || order.once),
        };
        if steps && !outcome.learnt.is_empty() && taken_segments(server, ended).is_some() {
            remake(server, &known, request, ended, &mut outcome)?;
        }
        outcome.look_closer(server, request, policy);
        if let Some(segments) = segments {
            let failed = outcome.shown.iter().any(|shown| shown.fails && !shown.hidden);
            let (verdict, learnt) = (outcome.verdict.clone(), outcome.learnt.clone());
            let request = request.clone();
            let class = outcome.contribution.class;
            outcome.taken = Some(Box::new(Taken { request, segments, verdict, failed, learnt, class }));
        }
        Ok(outcome)
    }
}

/// The choices of the run that has just ended, if they are all there and can be followed.
fn taken_segments(server: &Server, ended: &Ended) -> Option<Vec<Segment>> {
    let whole = outcome::can_follow(ended) && ended.live.counters.segments_lost == 0;
    whole.then(|| server.segments(ended))
}

/// Makes the run that has just ended again, by its own choices and with what it learnt of shared memory: what was out of sight is among its steps then.
fn remake(
    server: &mut Server,
    known: &[u64],
    request: &Request,
    ended: &Ended,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    /// What a run that knows more learns itself; it comes to an end, for there are only so many instructions.
    const TIMES: u32 = 4;
    let mut again = request.clone().strictly(outcome.verdict.kind);
    again.flags &= !flags::COVERAGE;
    let segments = server.segments(ended);
    // The books will have it in the same order.
    let mut known = known.to_vec();
    let mut all: HashSet<u64> = known.iter().copied().collect();
    known.extend(outcome.learnt.iter().copied().filter(|&pc| all.insert(pc)));
    for _ in 0..TIMES {
        server.set_known(&known);
        let second = server.run(&again, Follow::Segments(&segments), None)?;
        if !outcome::can_follow(&second) || second.live.verdict != ended.live.verdict {
            return Ok(());
        }
        let more: Vec<u64> = server.learnt(&second).into_iter().filter(|&pc| all.insert(pc)).collect();
        if more.is_empty() {
            let Lessons { steps, steps_lost, .. } = server.lessons(&second);
            outcome.lessons =
                Lessons { steps, steps_lost, remade: true, ..std::mem::take(&mut outcome.lessons) };
            return Ok(());
        }
        known.extend(&more);
        outcome.learnt.extend(more);
    }
    Ok(())
}

/// Makes the run that has just ended a second time and compares.
fn check_replay(
    server: &mut Server,
    request: &Request,
    ended: &Ended,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let mut again = request.clone();
    let follow = if ended.live.counters.segments_lost == 0 {
        again = again.strictly(outcome.verdict.kind);
        Follow::LastRun
    } else {
        Follow::Nothing
    };
    let second = server.run(&again, follow, None)?;
    let facts = server.facts(&again, &second, false)?;
    outcome.compare(ended, &facts, second.live.class);
    Ok(())
}
