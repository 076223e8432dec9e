//! Wishes that are to come true in one run, and how near runs have come to it.

use super::reads::Mark;
use super::simulate::{Hold, Stuck};
use super::watch::Example;
use super::wish::{Against, MANNERS, Reference, Sees, Wish};
use std::collections::HashSet;
use std::sync::Arc;
use threadbare_strategy::ordered::{Guide, HOLDS, LOADS};

/// A run in which it came true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// The first such run.
    pub run: u64,
    /// How many there were.
    pub runs: u64,
    /// Which reads saw what they were to see, one for each wish: strand's path, instruction, number.
    pub reads: Vec<(u64, u64, u64)>,
    /// What failed in the first such run, by key.
    pub shown: Vec<u64>,
}

/// How far a goal is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// The run that has it.
    pub made: Option<Made>,
    /// Runs that tried.
    pub tries: u32,
    /// Runs in which all of its reads, all of its writes, and both were made.
    pub read: u64,
    /// See `read`.
    pub written: u64,
    /// See `read`.
    pub both: u64,
    /// The most wishes that came true in one run.
    pub granted: usize,
    /// Who would wait for whom.
    pub stuck: Option<Stuck>,
    /// How a strand's own order is against it.
    pub against: Option<Against>,
}

/// The holds of a run, by the steps' names, and the loads that are to see older stores.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Plan {
    holds: Vec<(Mark, Mark)>,
    sees: Vec<Sees>,
}

impl Plan {
    fn of(reference: &Reference, holds: &[Hold], sees: Vec<Sees>) -> Plan {
        let mark = |event: usize| reference.reads.mark(event);
        let mut named: Vec<(Mark, Mark)> =
            holds.iter().map(|hold| (mark(hold.held), mark(hold.until))).collect();
        named.truncate(HOLDS);
        Plan { holds: named, sees }
    }

    /// The words of the guide of `ordered`.
    pub(crate) fn words(&self) -> Arc<[u64]> {
        let hold = |(held, until): &(Mark, Mark)| {
            [held.path, held.pc, held.number, until.path, until.pc, until.number]
        };
        let load = |Sees { load, store }: &Sees| {
            let (path, pc) = store.unwrap_or_default();
            [load.path, load.pc, load.number, path, pc]
        };
        let holds: Vec<_> = self.holds.iter().map(hold).collect();
        let loads: Vec<_> = self.sees.iter().take(LOADS).map(load).collect();
        let mut words = Vec::new();
        Guide { holds: &holds, loads: &loads }.encode(&mut words);
        words.into()
    }
}

/// Runs that a goal is planned by, at a time.
const REFERENCES: usize = 3;
/// Orders that are gone through for one plan.
const SIMULATED: usize = 64;
/// Ways in which a load comes after a newer store than the one that it is to see.
const WAYS: usize = 3;
/// Plans that are made although they do not seem to lead anywhere.
const BLIND: u32 = 2;

/// A goal.
#[derive(Debug)]
pub(crate) struct Goal {
    wishes: Vec<Wish>,
    pub(crate) progress: Progress,
    references: Vec<Arc<Reference>>,
    planned: HashSet<Plan>,
    blind: u32,
    exhausted: bool,
    /// The plan that made it.
    good: Option<Plan>,
    /// Whether the last run has it.
    pub(super) granted_now: bool,
    /// Atomic loads may see older stores.
    pub(super) weak: bool,
}

impl Goal {
    pub(crate) fn new(wishes: Vec<Wish>, example: Option<&Example>) -> Goal {
        let plans = |reference: &Reference| wishes.iter().all(|wish| !reference.candidates(wish).is_empty());
        let references = example.map(|example| Arc::clone(&example.0)).filter(|reference| plans(reference));
        Goal {
            references: references.into_iter().collect(),
            wishes,
            progress: Progress::default(),
            planned: HashSet::new(),
            blind: 0,
            exhausted: false,
            good: None,
            granted_now: false,
            weak: false,
        }
    }

    /// Whether something is left to try.
    pub(crate) fn is_open(&self) -> bool {
        self.progress.made.is_none() && !self.exhausted
    }

    pub(crate) fn exhaust(&mut self) {
        self.exhausted = true;
        self.references.clear();
    }

    pub(crate) fn lacks_a_reference(&self) -> bool {
        self.references.is_empty()
    }

    /// The plan that made it, to make it again.
    pub(crate) fn again(&mut self) -> Option<Plan> {
        // It may have come true by itself first.
        if self.good.is_none() {
            self.good = self.plan();
        }
        self.good.clone()
    }

    /// A run shows what it shows.
    pub(crate) fn see(&mut self, run: u64, reference: &Arc<Reference>, shown: &[u64]) {
        let granted: Vec<Mark> = self.wishes.iter().filter_map(|wish| reference.granted(wish)).collect();
        let progress = &mut self.progress;
        progress.granted = progress.granted.max(granted.len());
        self.granted_now = granted.len() == self.wishes.len();
        if self.granted_now {
            let reads = granted.iter().map(|mark| (mark.path, mark.pc, mark.number)).collect();
            let new = Made { run, runs: 0, reads, shown: shown.to_vec() };
            progress.made.get_or_insert(new).runs += 1;
            self.references = vec![Arc::clone(reference)];
            return;
        }
        let read = self.wishes.iter().all(|wish| reference.reads_of(wish).next().is_some());
        let initial = |wish: &Wish| matches!(wish.source, super::Source::Initial);
        let written = self.wishes.iter().all(|wish| initial(wish) || !reference.writes_of(wish).is_empty());
        progress.read += u64::from(read);
        progress.written += u64::from(written);
        progress.both += u64::from(read && written);
        if progress.made.is_some() || self.exhausted {
            return;
        }
        if self.wishes.iter().all(|wish| !reference.candidates(wish).is_empty()) {
            self.references.insert(0, Arc::clone(reference));
            self.references.truncate(REFERENCES);
        }
    }

    /// A plan of this goal was made; `fair`: the run can tell whether it came true.
    pub(crate) fn tried(&mut self, plan: Plan, fair: bool) {
        self.progress.tries += 1;
        if fair && self.granted_now {
            self.good = Some(plan);
        } else if !fair {
            self.planned.remove(&plan);
        }
    }

    /// The next plan.
    pub(crate) fn plan(&mut self) -> Option<Plan> {
        // Orders that seem to lead there may all fail, so every other plan has loads that see older stores.
        let weak_first = self.weak && self.progress.tries % 2 == 1;
        if weak_first && let Some(plan) = self.plan_older() {
            return Some(plan);
        }
        let blind = match self.plan_order() {
            Planned::Good(plan) => return Some(plan),
            Planned::Blind(plan) => plan,
        };
        if self.weak
            && !weak_first
            && let Some(plan) = self.plan_older()
        {
            return Some(plan);
        }
        let plan = blind.filter(|_| self.blind < BLIND)?;
        self.blind += 1;
        self.planned.insert(plan.clone());
        Some(plan)
    }

    /// A plan by the order of steps alone.
    fn plan_order(&mut self) -> Planned {
        let mut left = SIMULATED;
        let mut blind = None;
        for reference in self.references.clone() {
            let lists: Vec<_> = self.wishes.iter().map(|wish| reference.candidates(wish)).collect();
            let most = lists.iter().map(Vec::len).max().unwrap_or(0);
            for at in 0..most {
                for manner in MANNERS {
                    let chosen: Vec<_> = lists.iter().map(|list| list[at % list.len()]).collect();
                    let holds = chosen.iter().map(|&(read, write)| reference.holds(read, write, manner));
                    let holds = match holds.collect::<Result<Vec<_>, _>>() {
                        Ok(holds) => holds.concat(),
                        Err(against) => {
                            self.progress.against.get_or_insert(against);
                            continue;
                        }
                    };
                    let plan = Plan::of(&reference, &holds, Vec::new());
                    if self.planned.contains(&plan) {
                        continue;
                    }
                    if left == 0 {
                        return Planned::Blind(None);
                    }
                    left -= 1;
                    let goals: Vec<usize> = chosen.iter().map(|(read, _)| *read).collect();
                    match reference.try_holds(&holds, &goals) {
                        Ok(()) => {
                            self.planned.insert(plan.clone());
                            return Planned::Good(plan);
                        }
                        Err(stuck) => {
                            self.progress.stuck.get_or_insert(stuck);
                            blind.get_or_insert(plan);
                        }
                    }
                }
            }
        }
        Planned::Blind(blind)
    }

    /// A plan in which one of the loads sees a store that is not the newest, or all of them do.
    fn plan_older(&mut self) -> Option<Plan> {
        let mut left = SIMULATED;
        for reference in self.references.clone() {
            let lists: Vec<_> = self.wishes.iter().map(|wish| reference.candidates(wish)).collect();
            let most = lists.iter().map(Vec::len).max().unwrap_or(0);
            let count = self.wishes.len();
            let masks = (0..count).map(Some).chain((count > 1).then_some(None));
            for (at, older) in (0..most).flat_map(|at| masks.clone().map(move |older| (at, older))) {
                let chosen: Vec<_> = lists.iter().map(|list| list[at % list.len()]).collect();
                for way in 0..WAYS {
                    let (mut holds, mut sees) = (Vec::new(), Vec::new());
                    let mut fits = true;
                    for (number, &(read, write)) in chosen.iter().enumerate() {
                        if older.is_none_or(|it| it == number) {
                            match reference.older(read, write).into_iter().nth(way) {
                                Some((more, load)) => {
                                    holds.extend(more);
                                    sees.push(load);
                                }
                                None => fits &= older.is_none(),
                            }
                        } else if let Ok(more) = reference.holds(read, write, MANNERS[0]) {
                            holds.extend(more);
                        } else {
                            fits = false;
                        }
                    }
                    let plan = Plan::of(&reference, &holds, sees);
                    if !fits || plan.sees.is_empty() || self.planned.contains(&plan) {
                        continue;
                    }
                    left = left.checked_sub(1)?;
                    let goals: Vec<usize> = chosen.iter().map(|(read, _)| *read).collect();
                    if reference.try_holds(&holds, &goals).is_ok() {
                        self.planned.insert(plan.clone());
                        return Some(plan);
                    }
                }
            }
        }
        None
    }
}

/// A plan that seems to lead to its goal, or one that does not, if there is any.
enum Planned {
    Good(Plan),
    Blind(Option<Plan>),
}
