//! Good without bad: what held in every passing run and is broken in failing ones.
//!
//! Passing and failing runs are inferred apart. A statement that the passing runs all keep, and not by chance, and that failing runs break, is a likely
//! cause. Such statements are ranked: what the code does to shared variables before what they are, if three of ten failing runs break it;
//! then by the share of failing runs that do, and by how near the break is to the failure. Who asks may know of a statement that it is
//! aside: of what its place does not touch, or of a place that comes when all is over.

use crate::inference::{Inference, LoadError};
use crate::point::{Points, ProgramPoint, Sample};
use crate::query::{Judge, Truth};
use crate::reduce::{self, Taste};
use crate::state::State;
use crate::statement::Statement;
use crate::tell::Told;
use crate::watch::{Break, Watch};
use std::cmp::Reverse;

/// So many failing runs are also kept apart from each other, to count those that break a statement.
pub const KEPT_RUNS: usize = 8;

/// So many tenths of failing runs break what is a likely cause.
const OFTEN: u64 = 3;

const MAGIC: &[u8; 8] = b"tb-part2";

/// What is known of passing runs, and of failing ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// Of all passing runs.
    pub passing: Inference,
    /// Of all failing runs.
    pub failing: Inference,
    /// How many runs passed.
    pub passing_runs: u64,
    /// How many runs failed.
    pub failing_runs: u64,
    /// Of all failing runs without what activations did by themselves: what holds instead is looked for here.
    between: Inference,
    /// The first failing runs, each by itself.
    kept: Vec<Inference>,
}

/// A failing run that is shown: where a broken statement is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The program's points.
    pub points: &'a Points,
    /// The run's samples, in order.
    pub samples: &'a [Sample],
    /// The event at which it failed.
    pub failure: u64,
}

/// A statement that passing runs keep and failing runs break.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// Where.
    pub point: ProgramPoint,
    /// What the passing runs keep.
    pub told: Told,
    /// Of the failing runs looked at one by one, how many break it.
    pub broken_in: u64,
    /// How many were looked at.
    pub looked_at: u64,
    /// What holds in the failing runs instead, the most telling first.
    pub instead: Vec<Told>,
    /// The first sample of the shown run that breaks it.
    pub first: Option<Break>,
    /// How many events before the failure.
    pub before_failure: Option<u64>,
}

impl Parts {
    /// Nothing known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a run with its samples.
    pub fn take_run(&mut self, points: &Points, failed: bool, samples: &[Sample]) {
        self.take_views(points, failed, samples, &[], 1);
    }

    /// Takes a run with its samples, and those of another view of the same activations: what they did by themselves where others came
    /// in between. A statement is kept by a run if it holds in both; what holds instead in failing runs is said of the first. The run stands for so many.
    pub fn take_views(
        &mut self,
        points: &Points,
        failed: bool,
        samples: &[Sample],
        own: &[Sample],
        times: u64,
    ) {
        let (part, runs) = if failed {
            (&mut self.failing, &mut self.failing_runs)
        } else {
            (&mut self.passing, &mut self.passing_runs)
        };
        *runs += times;
        samples.iter().chain(own).for_each(|sample| part.take_times(points, sample, times));
        if !failed {
            return;
        }
        samples.iter().for_each(|sample| self.between.take_times(points, sample, times));
        if self.kept.len() < KEPT_RUNS {
            let mut alone = Inference::new();
            samples.iter().chain(own).for_each(|sample| alone.take(points, sample));
            self.kept.push(alone);
        }
    }

    /// Takes so many passing runs whose samples come with those of others, counted.
    pub fn take_passing(&mut self, times: u64) {
        self.passing_runs += times;
    }

    /// Takes samples of passing runs, each with how often it came.
    pub fn take_counted(&mut self, points: &Points, counted: impl IntoIterator<Item = (Sample, u64)>) {
        for (sample, times) in counted {
            self.passing.take_times(points, &sample, times);
        }
    }

    /// Takes all runs that another has taken. Names the points whose variables differ.
    pub fn merge(&mut self, other: &Self) -> Vec<String> {
        let mut changed = self.passing.merge(&other.passing);
        changed.extend(self.failing.merge(&other.failing));
        self.between.merge(&other.between);
        self.passing_runs += other.passing_runs;
        self.failing_runs += other.failing_runs;
        let room = KEPT_RUNS.saturating_sub(self.kept.len());
        self.kept.extend(other.kept.iter().take(room).cloned());
        changed.sort();
        changed.dedup();
        changed
    }

    /// The form that is kept in a file.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let all = [&self.passing, &self.failing, &self.between].into_iter().chain(&self.kept);
        bytes.extend(self.passing_runs.to_le_bytes());
        bytes.extend(self.failing_runs.to_le_bytes());
        for inference in all {
            let body = inference.save();
            bytes.extend((body.len() as u64).to_le_bytes());
            bytes.extend(body);
        }
        bytes
    }

    /// What was kept.
    ///
    /// # Errors
    /// If it is something else, of another version, or damaged.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(LoadError::NotFacts)?;
        let number = |rest: &mut &[u8]| {
            let (head, tail) = rest.split_at_checked(8).ok_or(LoadError::Damaged)?;
            *rest = tail;
            head.try_into().map(u64::from_le_bytes).map_err(|_| LoadError::Damaged)
        };
        let (passing_runs, failing_runs) = (number(&mut rest)?, number(&mut rest)?);
        let mut all = Vec::new();
        while !rest.is_empty() {
            let length = usize::try_from(number(&mut rest)?).map_err(|_| LoadError::Damaged)?;
            let (body, tail) = rest.split_at_checked(length).ok_or(LoadError::Damaged)?;
            all.push(Inference::load(body)?);
            rest = tail;
        }
        if !(3..=3 + KEPT_RUNS).contains(&all.len()) {
            return Err(LoadError::Damaged);
        }
        let kept = all.split_off(3);
        let between = all.pop().unwrap_or_default();
        let failing = all.pop().unwrap_or_default();
        let passing = all.pop().unwrap_or_default();
        Ok(Self { passing, failing, passing_runs, failing_runs, between, kept })
    }

    /// What passing runs keep and failing runs break, the likeliest cause first; what is `aside`, by how far, behind the rest.
    pub fn broken(&self, shown: Option<Shown<'_>>, aside: impl Fn(&Broken) -> u8) -> Vec<Broken> {
        let mut all: Vec<Broken> = self.passing.in_order().flat_map(|state| self.broken_at(state)).collect();
        if let Some(shown) = shown {
            show(&mut all, shown);
        }
        all.sort_by_cached_key(|broken| rank(broken, aside(broken)));
        all
    }

    fn broken_at(&self, passing: &State) -> Vec<Broken> {
        let place = |inference: &'_ Inference| {
            let (region, side) = (&passing.point.region, passing.point.side);
            inference.state(region, side).filter(|state| state.layout == passing.layout).cloned()
        };
        let Some(failing) = place(&self.failing) else { return Vec::new() };
        let judge = Judge::new(&failing);
        let (broken, kept): (Vec<_>, Vec<_>) = passing
            .justified()
            .into_iter()
            .partition(|holding| judge.truth(&holding.statement) == Truth::Broken);
        if broken.is_empty() {
            return Vec::new();
        }
        let kept =
            kept.into_iter().filter(|holding| judge.truth(&holding.statement) == Truth::Holds).collect();
        let broken = reduce::reduce_beside(passing, kept, broken, Taste::Transitions);
        let between = place(&self.between).unwrap_or_else(|| failing.clone());
        let mut held = between.justified();
        reduce::sort(&between.layout, &mut held, Taste::Transitions);
        let alone: Vec<State> = self.kept.iter().filter_map(place).collect();
        let alone: Vec<Judge<'_>> = alone.iter().map(Judge::new).collect();
        let make = |holding: &crate::holding::Holding| {
            let breaks = |judge: &&Judge<'_>| judge.truth(&holding.statement) == Truth::Broken;
            let same = |other: &&crate::holding::Holding| other.statement == holding.statement;
            let instead =
                held.iter().filter(|other| instead_of(&other.statement, &holding.statement) && !same(other));
            Broken {
                point: passing.point.clone(),
                told: Told::new(passing, holding),
                broken_in: alone.iter().filter(breaks).count() as u64,
                looked_at: self.kept.len() as u64,
                instead: instead.take(2).map(|other| Told::new(&between, other)).collect(),
                first: None,
                before_failure: None,
            }
        };
        broken.iter().map(make).collect()
    }
}

/// Whether a statement says something else of the same variables.
fn instead_of(other: &Statement<usize>, broken: &Statement<usize>) -> bool {
    let mut mine: Vec<usize> = broken.core().operands().into_iter().copied().collect();
    let mut theirs: Vec<usize> = other.operands().into_iter().copied().collect();
    mine.sort_unstable();
    theirs.sort_unstable();
    mine == theirs
}

/// Looks for the first break of each statement in a run.
fn show(all: &mut [Broken], shown: Shown<'_>) {
    let mut watch = Watch::new();
    let add = |broken: &Broken| {
        let point = shown.points.find(&broken.point.region, broken.point.side)?;
        watch.add(shown.points, point, &broken.told.statement).ok()
    };
    let numbers: Vec<Option<usize>> = all.iter().map(add).collect();
    let before = shown.samples.iter().filter(|sample| sample.event <= shown.failure);
    before.for_each(|sample| watch.take(sample));
    for (broken, number) in all.iter_mut().zip(numbers) {
        broken.first = number.and_then(|number| watch.first(number)).cloned();
        broken.before_failure = broken.first.as_ref().map(|first| shown.failure - first.event);
    }
}

type Rank = (u8, Reverse<u64>, (bool, bool), u32, u8, bool, u32, String);

/// The better cause first.
fn rank(broken: &Broken, aside: u8) -> Rank {
    // Tenths, so that a run more or less decides nothing.
    let share = broken.broken_in * 10 / broken.looked_at.max(1);
    let near = broken.before_failure.map_or(u32::MAX, |events| 64 - events.leading_zeros());
    let kind = kind_of(&broken.told);
    let lines = broken.point.region.lines().unwrap_or(u32::MAX);
    let text = format!("{} {}", broken.point, broken.told.statement);
    // What variables are when the failure is seen restates it, in every failing run; what code does to them is a cause, though other code
    // may fail in other runs.
    let order = match (broken.told.transition, share) {
        (_, 0..OFTEN) => u8::MAX,
        (transition, _) => 2 * aside + u8::from(!transition),
    };
    (
        order,
        Reverse(share),
        (!broken.told.transition, !broken.told.shared),
        near,
        kind,
        broken.instead.is_empty(),
        lines,
        text,
    )
}

/// Equalities before relations, and these before bounds.
fn kind_of(told: &Told) -> u8 {
    let mut next = 0;
    let numbered = told.statement.map(&mut |_| {
        next += 1;
        Some(next)
    });
    numbered.map_or(u8::MAX, |statement| reduce::kind(&statement))
}
