//! What the campaign keeps of each run: little of a clean one, all of what it has not seen before.
//!
//! A run may show several things: its verdict, and each data race. Each is told apart by its own key and has its own
//! facts: those of a race have the race as their verdict and no other race.

use crate::advice::Lessons;
use crate::again::Taken;
use crate::error::Error;
use crate::predict::{self, Cycle};
use crate::run::{Ended, Request};
use crate::server::Server;
use crate::{details, verdict};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use threadbare_abi::event::Segment;
use threadbare_abi::report::RecordTag;
use threadbare_abi::verdict::VerdictKind;
use threadbare_coverage::Contribution;
use threadbare_coverage::tasks::Seen;
use threadbare_trace::identity::{self, Identity};
use threadbare_trace::race::RacePair;
use threadbare_trace::report::{Module, Race, RunReport, Warning, has_record, has_warning};
use threadbare_trace::run::{Counters, RunFacts, Verdict};

/// What is done with data races.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Races {
    /// They are not looked for.
    Off,
    /// They are told; a run that shows one does not fail by that.
    Report,
    /// A run that shows one has failed.
    #[default]
    Fail,
}

/// What is done with memory that is left at the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Leaks {
    /// It is not looked for.
    #[default]
    Off,
    /// It is told; a run that leaves some does not fail by that.
    Note,
    /// A run that leaves some has failed.
    Fail,
}

/// Who knows which findings the user does not want to hear of.
pub trait Filter: fmt::Debug + Send + Sync {
    /// Whether nobody is to hear of this.
    fn hides(&self, facts: &RunFacts) -> bool;
}

/// What a campaign does with what its runs show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Policy<'a> {
    pub(crate) races: Races,
    pub(crate) leaks: Leaks,
    pub(crate) filter: Option<&'a dyn Filter>,
}

/// One thing that a run showed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Shown {
    /// The same for what is surely the same.
    pub(crate) key: u64,
    /// Whether the run has failed by it.
    pub(crate) fails: bool,
    /// Whether nobody is to hear of it; known where the facts are.
    pub(crate) hidden: bool,
    /// The facts unless an earlier run showed the same.
    #[serde(skip)]
    pub(crate) facts: Option<Box<RunFacts>>,
    /// The order of events of a free run, where a controlled one did not show the same by it.
    pub(crate) recording: Option<Arc<[u64]>>,
}

/// The result of one run of a campaign: what the journal keeps of it, but for what the findings have.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub(crate) counters: Counters,
    pub(crate) learnt: Vec<u64>,
    /// The number of who decided.
    pub(crate) strategy: u32,
    /// What it adds to coverage.
    pub(crate) contribution: Contribution,
    pub(crate) lessons: Lessons,
    pub(crate) warnings: Vec<Warning>,
    /// The modules, where the warnings need them.
    pub(crate) modules: Vec<Module>,
    #[serde(with = "kind_alone")]
    pub(crate) verdict: Verdict,
    /// What the run came to, so that it is known again.
    #[serde(skip, default = "Identity::clean")]
    pub(crate) identity: Identity,
    /// The verdict, if it is none of a clean run, then the races.
    pub(crate) shown: Vec<Shown>,
    /// The pairs of places that raced, in order.
    #[serde(skip)]
    pub(crate) races: Vec<RacePair>,
    /// Cycles in the order of locks that did not close in this run.
    pub(crate) cycles: Vec<Cycle>,
    /// The functions a free run met, with all that earlier runs covered.
    #[serde(skip)]
    pub(crate) tasks: Option<Box<Seen>>,
    /// The run was made again and was the same.
    pub(crate) replayed: bool,
    /// The run was made again and was another: the facts of the second, and what differs.
    #[serde(skip)]
    pub(crate) mismatch: Option<(Box<RunFacts>, String)>,
    /// The run as somebody wants to have it.
    #[serde(skip)]
    pub(crate) taken: Option<Box<Taken>>,
}

impl Outcome {
    /// The outcome of a run that showed nothing.
    pub(crate) fn clean(counters: Counters, learnt: Vec<u64>) -> Outcome {
        Outcome {
            counters,
            learnt,
            strategy: 0,
            contribution: Contribution::default(),
            lessons: Lessons::default(),
            warnings: Vec::new(),
            modules: Vec::new(),
            verdict: Verdict::clean(),
            identity: Identity::clean(),
            shown: Vec::new(),
            races: Vec::new(),
            cycles: Vec::new(),
            tasks: None,
            replayed: false,
            mismatch: None,
            taken: None,
        }
    }

    /// Takes the outcome of the run that has just ended. `wants` tells of each key whether the details are needed.
    pub(crate) fn of_last(
        server: &Server,
        request: &Request,
        ended: &Ended,
        policy: Policy<'_>,
        wants: impl FnOnce(&[u64]) -> Vec<bool>,
    ) -> Result<Outcome, Error> {
        // All of it is there.
        Outcome::of(&mut (server, ended), request, ended, policy, wants)?.ok_or(Error::Cancelled)
    }

    /// Takes the outcome of a run from what is left of it. `wants` tells of each key whether the details are needed; `None` if they are and are
    /// not there any more.
    pub(crate) fn of(
        remains: &mut dyn Remains,
        request: &Request,
        ended: &Ended,
        policy: Policy<'_>,
        wants: impl FnOnce(&[u64]) -> Vec<bool>,
    ) -> Result<Option<Outcome>, Error> {
        let mut outcome = Outcome::clean(ended.live.counters, remains.learnt());
        outcome.strategy = request.strategy as u32;
        outcome.warnings = remains.limits_met();
        outcome.lessons = remains.lessons();
        let clean = verdict::is_clean(ended.end, &ended.live);
        if clean && ended.live.races == 0 {
            if remains.has_more() {
                let report = RunReport::decode(&remains.report());
                outcome.cycles = predict::cycles(&report.lock_orders);
                if !report.warnings.is_empty() || !outcome.cycles.is_empty() {
                    outcome.warnings.extend(report.warnings);
                    outcome.modules = report.modules;
                }
            }
            return Ok(Some(outcome));
        }
        let mut facts = remains.facts(request)?;
        if !facts.report.warnings.is_empty() {
            outcome.warnings.extend(facts.report.warnings.iter().cloned());
            outcome.modules = facts.report.modules.clone();
        }
        outcome.verdict = facts.verdict.clone();
        outcome.identity = Identity::of(&facts, None);
        if facts.verdict.kind == VerdictKind::None {
            outcome.cycles = predict::cycles(&facts.report.lock_orders);
            if !outcome.cycles.is_empty() {
                outcome.modules = facts.report.modules.clone();
            }
        }
        let races =
            if facts.verdict.is_internal() { Vec::new() } else { std::mem::take(&mut facts.report.races) };
        let exact = policy.filter.is_some();
        let mut list = Vec::new();
        if facts.verdict.kind != VerdictKind::None {
            let fails = facts.verdict.kind != VerdictKind::Leak || policy.leaks == Leaks::Fail;
            list.push((identity::key(&facts, exact), fails, None));
        }
        for race in races {
            let Some(pair) = RacePair::of(&race, &facts.report) else { continue };
            let key = identity::race_key(&race, pair, &facts.report, exact);
            if !list.iter().any(|(other, ..)| *other == key) {
                list.push((key, policy.races == Races::Fail, Some(race)));
            }
            outcome.races.push(pair);
        }
        outcome.races.sort_unstable();
        outcome.races.dedup();
        let keys: Vec<u64> = list.iter().map(|(key, ..)| *key).collect();
        let wanted = wants(&keys);
        if wanted.contains(&true) {
            let Some(segments) = remains.segments() else { return Ok(None) };
            // Segments that are not all of the run are of no use.
            if can_follow(ended) && ended.live.counters.segments_lost == 0 {
                facts.segments = segments;
            }
        }
        for ((key, fails, race), wanted) in list.into_iter().zip(wanted) {
            let facts =
                wanted.then(|| Box::new(race.map_or_else(|| facts.clone(), |race| of_race(&facts, race))));
            outcome.shown.push(Shown { key, fails, hidden: false, facts, recording: None });
        }
        Ok(Some(outcome))
    }

    /// What it adds to coverage.
    pub(crate) fn covers(&mut self, contribution: Contribution, remains: &dyn Remains) {
        if !contribution.records.is_empty() && self.modules.is_empty() {
            self.modules = RunReport::decode(&remains.report()).modules;
        }
        self.contribution = contribution;
    }

    /// Makes the run again for the details of what is new in it, and asks whether it is to be told.
    pub(crate) fn look_closer(&mut self, server: &mut Server, request: &Request, policy: Policy<'_>) {
        if self.verdict.is_internal() {
            return;
        }
        let new: Vec<&mut RunFacts> =
            self.shown.iter_mut().filter_map(|shown| shown.facts.as_deref_mut()).collect();
        details::add(server, request, &self.verdict, new);
        let Some(filter) = policy.filter else { return };
        for shown in &mut self.shown {
            shown.hidden = shown.facts.as_ref().is_some_and(|facts| filter.hides(facts));
        }
    }

    /// Whether it has something new in it that a run which the driver did not end can tell more of.
    pub(crate) fn may_lack_details(&self) -> bool {
        let cut = matches!(self.verdict.kind, VerdictKind::Timeout | VerdictKind::OutOfMemory);
        !cut && self.shown.iter().any(|shown| shown.facts.is_some())
    }

    /// Whether the run has failed, given the keys that are hidden so far.
    pub(crate) fn has_failed(&self, hidden: &mut HashSet<u64>) -> bool {
        let mut failed = false;
        for shown in &self.shown {
            if shown.hidden {
                hidden.insert(shown.key);
            }
            failed |= shown.fails && !hidden.contains(&shown.key);
        }
        failed
    }

    /// Compares the run with its second making.
    pub(crate) fn compare(&mut self, first: &Ended, second: &RunFacts, second_class: u64) {
        let (a, b) = (&self.verdict, &second.verdict);
        let mut differences = Vec::new();
        if !self.identity.is_repeated_by(&Identity::of(second, None)) || a.strand != b.strand {
            let show = |verdict: &Verdict| match verdict.kind {
                VerdictKind::None => "clean".to_owned(),
                kind => format!("{}: {}", kind.name(), verdict.message),
            };
            differences.push(format!("the run was `{}`, its replay `{}`", show(a), show(b)));
        }
        let (one, two) = (first.live.counters, second.counters);
        if one.trace_hash != two.trace_hash {
            differences.push(format!(
                "the run's trace has hash {:016x} ({} events, {} points, {} switches), its replay's {:016x} ({} events, {} points, {} switches)",
                one.trace_hash, one.events, one.points, one.switches, two.trace_hash, two.events, two.points, two.switches,
            ));
        }
        let class = first.live.class;
        // A run that learns of a loop that waits is of no class, and whoever follows a schedule learns of none.
        let comparable = first.live.learnt == 0 && class != 0 && second_class != 0;
        if comparable && class != second_class {
            differences.push(format!("the run is of class {class:016x}, its replay of {second_class:016x}"));
        }
        let races = race_pairs(&second.report);
        if races != self.races && !b.is_internal() {
            let only = |these: &[RacePair], those: &[RacePair]| {
                these.iter().filter(|race| !those.contains(race)).count()
            };
            differences.push(format!(
                "{} of the run's {} data races did not come again in its replay, which has {} others",
                only(&self.races, &races),
                self.races.len(),
                only(&races, &self.races),
            ));
        }
        if differences.is_empty() {
            self.replayed = true;
        } else {
            self.mismatch = Some((Box::new(second.clone()), differences.join("; ")));
        }
    }
}

/// What is left of a run, wherever that is. Each part is taken once.
pub(crate) trait Remains {
    /// The pcs it learnt.
    fn learnt(&mut self) -> Vec<u64>;
    /// What it teaches.
    fn lessons(&mut self) -> Lessons;
    /// What of the machine it took more of than it may.
    fn limits_met(&self) -> Vec<Warning>;
    /// Whether the report has warnings or orders of locks.
    fn has_more(&self) -> bool;
    /// The report.
    fn report(&self) -> Vec<u8>;
    /// All that is to be kept of it, but for its choices.
    fn facts(&self, request: &Request) -> Result<RunFacts, Error>;
    /// Its choices, if they are still there.
    fn segments(&self) -> Option<Vec<Segment>>;
}

/// A run that has just ended.
impl Remains for (&Server, &Ended) {
    fn learnt(&mut self) -> Vec<u64> {
        if self.1.live.learnt > 0 { self.0.learnt(self.1) } else { Vec::new() }
    }

    fn lessons(&mut self) -> Lessons {
        self.0.lessons(self.1)
    }

    fn limits_met(&self) -> Vec<Warning> {
        let server = self.0;
        let told = [
            (server.left_behind > 0, "the program left processes behind; they were ended with the run"),
            (
                server.was_slow,
                "slow, not stuck: a run took longer than `--timeout` allows, and came to its end when it was given more; all later \
                 runs have 4 times as long. A smaller input makes more runs",
            ),
            (server.stdout.was_cut() || server.stderr.was_cut(), WAS_CUT),
        ];
        let met = told.into_iter().filter(|(met, _)| *met);
        met.map(|(_, text)| Warning::new(text)).collect()
    }

    fn has_more(&self) -> bool {
        tells_more(&self.report())
    }

    fn report(&self) -> Vec<u8> {
        self.0.report_bytes(self.1)
    }

    fn facts(&self, request: &Request) -> Result<RunFacts, Error> {
        self.0.facts(request, self.1, false)
    }

    fn segments(&self) -> Option<Vec<Segment>> {
        Some(self.0.segments(self.1))
    }
}

/// What is told of a run that wrote too much.
pub(crate) const WAS_CUT: &str = "a run wrote more than `--output` allows; only the end of it was kept";

/// Whether a report has warnings or orders of locks.
pub(crate) fn tells_more(report: &[u8]) -> bool {
    has_warning(report) || has_record(report, RecordTag::LockOrder)
}

/// Of a verdict the journal keeps the kind.
mod kind_alone {
    use super::{Verdict, VerdictKind};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(verdict.kind as u8)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Verdict, D::Error> {
        let code = u8::deserialize(deserializer)?;
        let kind = VerdictKind::from_code(code).ok_or_else(|| D::Error::custom("no verdict's code"))?;
        Ok(Verdict { kind, ..Verdict::clean() })
    }
}

/// The pairs of places that raced in a run, in order.
fn race_pairs(report: &RunReport) -> Vec<RacePair> {
    let mut pairs: Vec<_> = report.races.iter().filter_map(|race| RacePair::of(race, report)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The facts of a run as those of one race it showed.
pub fn of_race(facts: &RunFacts, race: Race) -> RunFacts {
    let mut facts = facts.clone();
    let later = race.accesses.first().map(|access| &access.moment);
    facts.verdict = Verdict {
        kind: VerdictKind::Race,
        message: "data race".to_owned(),
        place: None,
        strand: later.map_or(u16::MAX, |moment| moment.strand),
        pc: later.map_or(0, |moment| moment.pc),
        addr: race.addr,
        code: 0,
    };
    facts.report.races = vec![race];
    facts
}

/// Whether the choices of a run are all there: not of one that was killed.
pub(crate) fn can_follow(ended: &Ended) -> bool {
    !ended.end.was_cut()
}
