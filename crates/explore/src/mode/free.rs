//! Campaigns of free runs: what is different from controlled ones.
//!
//! Runs of a free campaign are not the same when they are made again, so nothing here has to be. What they learn
//! (instructions that are events) goes to later runs all the same, with a word on whether noise is wanted there.

use super::{FirstLook, Made, Maker, Makes, RunMode, Wants};
use crate::campaign::Config;
use crate::error::Error;
use crate::ledger::Ticket;
use crate::outcome::{self, Outcome, Policy, Races, Shown};
use crate::patience::Pace;
use crate::processors;
use crate::run::{Ended, Job, Request};
use crate::server::{Server, Target};
use crate::tasks;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use threadbare_abi::layout;
use threadbare_abi::noise::{Guidance, Noise, Wanted, flags};
use threadbare_abi::verdict::VerdictKind;
use threadbare_coverage::tasks::Seen;
use threadbare_strategy::recorded::notes;
use threadbare_strategy::{Spec, StrategyId};
use threadbare_trace::report::{Module, RunReport, Warning};
use threadbare_trace::run::End;

/// Who knows where noise is of use.
pub trait Quiet: fmt::Debug + Send + Sync {
    /// Whether noise is wanted at this pc.
    fn wants(&self, modules: &[Module], pc: u64) -> Wanted;
    /// Whether the function that begins at this pc is asked for.
    fn owns(&self, modules: &[Module], pc: u64) -> bool {
        self.wants(modules, pc) == Wanted::Here
    }
}

/// What a job of a free campaign keeps between its runs.
#[derive(Debug, Default)]
pub(crate) struct Places {
    modules: Vec<Module>,
    asked: HashMap<u64, Wanted>,
    /// Functions that are asked for, and that are not.
    owned: HashMap<u64, bool>,
    from: Option<Arc<[u64]>>,
    marked: Arc<[u64]>,
}

impl Places {
    /// The modules of the run that has just ended, once.
    pub(crate) fn see(&mut self, server: &Server, ended: &Ended) {
        if self.modules.is_empty() {
            self.modules = RunReport::decode(&server.report_bytes(ended)).modules;
        }
    }

    /// Marks the functions that are not asked for.
    pub(crate) fn mark_libraries(&mut self, seen: &mut Seen, quiet: Option<&dyn Quiet>) {
        tasks::mark_libraries(seen, &self.modules, quiet, &mut self.owned);
    }

    pub(crate) fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The known pcs, those where noise is not wanted marked.
    pub(crate) fn mark(&mut self, known: &Arc<[u64]>, quiet: Option<&dyn Quiet>) -> Arc<[u64]> {
        let (Some(quiet), false) = (quiet, self.modules.is_empty()) else { return Arc::clone(known) };
        if !self.from.as_ref().is_some_and(|from| Arc::ptr_eq(from, known)) {
            let (modules, asked) = (&self.modules, &mut self.asked);
            self.marked = known
                .iter()
                .map(|&pc| asked.entry(pc).or_insert_with(|| quiet.wants(modules, pc)).at(pc))
                .collect();
            self.from = Some(Arc::clone(known));
        }
        Arc::clone(&self.marked)
    }
}

/// How often what was not recorded is tried at other times, when a recording does not lead to the same end.
const ATTEMPTS: u64 = 64;
/// Runs before the campaign, at the most.
const LOOKS: usize = 4;

/// The order of events that a free run recorded.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// As a guide for the strategy that follows it.
    pub(crate) words: Arc<[u64]>,
    /// Events in it.
    pub(crate) events: u64,
    /// Whether there were more.
    pub(crate) cut: bool,
}

/// A run before the campaign, without noise (a few, if it fails), that finds out which accesses are shared, and which functions
/// there are: the first run's events are all recorded then. A campaign of a single run goes without.
fn first_look(config: &Config, cancel: &Arc<AtomicBool>) -> Result<FirstLook, Error> {
    let wanted = config.noise;
    let guided = wanted.flags & flags::COVER != 0 && wanted.guidance != Guidance::Random;
    if config.runs == Some(1) || wanted.flags & flags::RECORD == 0 && !guided {
        return Ok(FirstLook::default());
    }
    let mut job = Job::new(Arc::clone(&config.target), Arc::clone(cancel));
    let noise = Noise { flags: flags::LEARN | wanted.flags & flags::COVER, ..Noise::OFF };
    if noise.flags & flags::COVER != 0 {
        job.set_tasks(&Arc::default());
    }
    let request = Request { params: noise.to_params(), ..config.request(0, &Spec::of(StrategyId::Recorded)) };
    let mut learnt: Vec<u64> = Vec::new();
    let mut functions = None;
    for _ in 0..LOOKS {
        let ended = job.run(&request, &[])?;
        job.see_places(&ended);
        if let Some(seen) = job.tasks(config.quiet.as_deref()) {
            let seen = tasks::known_alone(*seen);
            job.set_tasks(&Arc::new(seen.clone()));
            functions = Some(seen);
        }
        let Some(server) = job.last() else { break };
        let before = learnt.len();
        learnt.extend(server.learnt(&ended));
        learnt.sort_unstable();
        learnt.dedup();
        if ended.end == End::Exited(0) && (learnt.len() == before || before == 0) {
            break;
        }
    }
    Ok(FirstLook { learnt, modules: job.modules().to_vec(), functions })
}

/// The mode.
#[derive(Clone, Copy, Debug)]
pub struct Free;

impl RunMode for Free {
    fn announced(&self, _target: &Target) -> String {
        ",free=1".to_owned()
    }

    fn processors(&self) -> u32 {
        processors::count()
    }

    fn makes_choices(&self) -> bool {
        false
    }

    fn params(&self, config: &Config, _strategy: &Spec) -> [u64; 8] {
        config.noise.to_params()
    }

    fn decider(&self, config: &Config, _strategy: Option<&Spec>) -> String {
        let Noise { kind, guidance, .. } = config.noise;
        match guidance {
            Guidance::Random => format!("noise:{}", kind.name()),
            guidance => format!("noise:{}:{}", kind.name(), guidance.name()),
        }
    }

    fn follower(&self, _strategy: Spec) -> Spec {
        Spec::of(StrategyId::Recorded)
    }

    fn covers_tasks(&self, config: &Config) -> bool {
        config.noise.flags & flags::COVER != 0
    }
}

impl Makes for Free {
    fn first_look(&self, config: &Config, cancel: &Arc<AtomicBool>) -> Result<FirstLook, Error> {
        first_look(config, cancel)
    }

    fn maker<'a>(
        &self,
        config: &'a Config,
        _number: usize,
        cancel: &Arc<AtomicBool>,
        pace: &Arc<Pace>,
    ) -> Box<dyn Maker + 'a> {
        let job = Job::new(Arc::clone(&config.target), Arc::clone(cancel)).with_pace(pace);
        Box::new(Jobs { config, job, replayer: Replayer::new(config, cancel) })
    }
}

/// A job that makes such runs.
struct Jobs<'a> {
    config: &'a Config,
    job: Job,
    replayer: Replayer,
}

impl Maker for Jobs<'_> {
    fn one(&mut self, ticket: &Ticket, wants: Wants<'_>) -> Result<Made, Error> {
        let config = self.config;
        self.job.set_known_marked(&ticket.known, config.quiet.as_deref());
        if Free.covers_tasks(config) {
            self.job.set_tasks(&ticket.tasks);
        }
        let mut request = config.request_of(ticket);
        if !ticket.guided {
            request.params = Noise { guidance: Guidance::Random, ..config.noise }.to_params();
        }
        self.run(&request, &ticket.known, &|keys| wants(ticket.run, keys))
            .map(|outcome| Made::Run(Box::new(outcome)))
    }
}

impl Jobs<'_> {
    /// One free run. What is new in it is made once more under control, in the order that was recorded.
    fn run(
        &mut self,
        request: &Request,
        known: &Arc<[u64]>,
        wants: &dyn Fn(&[u64]) -> Vec<bool>,
    ) -> Result<Outcome, Error> {
        let Jobs { config, job, replayer } = self;
        let ended = job.run(request, &[])?;
        job.see_places(&ended);
        let tasks = job.tasks(config.quiet.as_deref());
        let Some(server) = job.last() else { return Err(Error::Cancelled) };
        let policy = config.policy();
        let mut made = Outcome::of_last(server, request, &ended, policy, wants)?;
        made.strategy = StrategyId::Recorded as u32;
        made.tasks = tasks;
        let recording = server.recording(made.verdict.strand);
        if request.run == 0 || request.run.is_power_of_two() {
            // Where what it covers is; a run that was killed does not tell.
            made.modules = job.modules().to_vec();
        }
        let new = made.shown.iter().any(|shown| shown.facts.is_some());
        let wants_races = config.races != Races::Off && request.run.is_power_of_two();
        if recording.events > 0 && (new || wants_races && made.shown.is_empty()) {
            replayer.follow(config, request, known, &recording, &mut made, wants)?;
        }
        if let (Some(filter), true) = (policy.filter, new) {
            for shown in &mut made.shown {
                shown.hidden = shown.facts.as_ref().is_some_and(|facts| filter.hides(facts));
            }
        }
        Ok(made)
    }
}

/// Makes recorded runs again under control.
#[derive(Debug)]
pub(crate) struct Replayer {
    job: Job,
}

impl Replayer {
    pub(crate) fn new(config: &Config, cancel: &Arc<AtomicBool>) -> Replayer {
        Replayer { job: Job::new(config.target.controlled(), Arc::clone(cancel)) }
    }

    /// Follows a recording. If the failure comes again, what is told of it is what the controlled run showed, and its
    /// schedule is that run's; else the recording is kept. Races come from the controlled run in either case.
    fn follow(
        &mut self,
        config: &Config,
        free: &Request,
        known: &Arc<[u64]>,
        recording: &Recorded,
        made: &mut Outcome,
        wants: &dyn Fn(&[u64]) -> Vec<bool>,
    ) -> Result<(), Error> {
        self.job.set_known(known);
        let policy = Policy { races: config.races, leaks: config.target.leaks, filter: None };
        let mut lost = 0;
        let mut attempt = 0;
        let (mut followed, same) = loop {
            let mut params = Spec::of(StrategyId::Recorded).plan_params(config.in_order);
            params[0] = attempt;
            let request = Request {
                strategy: StrategyId::Recorded,
                params,
                guide: Arc::clone(&recording.words),
                flags: if config.coverage { layout::flags::COVERAGE } else { 0 },
                // An access that nobody knew to be shared may be the one that decides.
                points: if attempt % 2 == 1 { layout::PointMode::All } else { free.points },
                ..free.clone()
            };
            let ended = self.job.run(&request, &[])?;
            let Some(server) = self.job.last() else { return Err(Error::Cancelled) };
            if attempt == 0 {
                lost = server.lessons(&ended).notes.get(notes::LOST).copied().unwrap_or(0);
            }
            let mut followed = Outcome::of_last(server, &request, &ended, policy, |keys| {
                // The verdict's details are wanted for the free run's sake; those of races if they are new.
                let mut wanted = wants(keys);
                if let Some(first) = wanted.first_mut() {
                    *first = true;
                }
                wanted
            })?;
            let same = made.identity.is_under_control(&followed.identity) && outcome::can_follow(&ended);
            let clean = made.verdict.kind == VerdictKind::None;
            // What a run covers that went another way is not what the free run covered.
            if config.coverage && (same || clean && followed.verdict.kind == VerdictKind::None && lost == 0) {
                made.contribution = server.take_contribution(&ended);
            }
            if same || made.verdict.kind == VerdictKind::None {
                followed.look_closer(server, &request, policy);
            }
            attempt += 1;
            // A run that hangs would hang again.
            let hangs = followed.verdict.kind == VerdictKind::Timeout;
            if same || made.verdict.kind == VerdictKind::None || attempt > ATTEMPTS || hangs {
                break (followed, same);
            }
        };
        if same {
            made.verdict = followed.verdict.clone();
        }
        let is_race =
            |shown: &Shown| shown.facts.as_ref().is_some_and(|facts| facts.verdict.kind == VerdictKind::Race);
        let verdict =
            followed.shown.iter_mut().find(|shown| !is_race(shown)).and_then(|shown| shown.facts.take());
        // Races are told by their places, so a run under control that goes another way shows the same ones or others.
        let told = same || made.verdict.kind == VerdictKind::None;
        let mut races = if told { followed.shown } else { Vec::new() };
        races.retain(is_race);
        for shown in made.shown.iter_mut().filter(|shown| shown.facts.is_some()) {
            let again = races.iter().position(|race| race.key == shown.key);
            match again.map(|at| races.swap_remove(at).facts) {
                Some(facts) => shown.facts = facts,
                None if same && !is_race(shown) && verdict.is_some() => shown.facts = verdict.clone(),
                None => {
                    shown.recording = Some(Arc::clone(&recording.words));
                    let text = if is_race(shown) { not_again() } else { unlike(recording, lost) };
                    if let Some(facts) = &mut shown.facts {
                        facts.report.warnings.push(Warning::new(text));
                    }
                }
            }
        }
        races.retain(|race| made.shown.iter().all(|shown| shown.key != race.key));
        made.shown.extend(races);
        Ok(())
    }
}

/// What to say of a race that the run did not show under control.
fn not_again() -> String {
    "under control the recorded run did not show this race: of the earlier access only its place is known"
        .to_owned()
}

/// What to say of a recording that did not lead to the same end.
fn unlike(recording: &Recorded, lost: u64) -> String {
    let from = match (lost, recording.cut) {
        (0, false) => "its end".to_owned(),
        (0, true) => format!("event {} on, where the recording ends", recording.events),
        (lost, _) => format!("event {lost} of {} on", recording.events),
    };
    format!("under control the run went another way from {from}; a replay follows it up to there")
}
