//! The tasks of a campaign while it goes on.

use crate::curve::Curve;
use crate::tasks::counts::{Model, Out, TaskCounts, TaskProgress, TaskSample};
use crate::tasks::rules::{Reason, State};
use crate::tasks::{Function, Seen};
use std::collections::HashMap;
use threadbare_abi::tasks::FUNCTIONS;

/// What all runs of a campaign covered, and those before it if it goes on from them.
#[derive(Clone, Debug, Default)]
pub struct TaskBooks {
    functions: Vec<Function>,
    /// Places in `functions`, by pc.
    places: HashMap<u64, u16>,
    /// A bit for each covered pair, a row for each first function.
    rows: Vec<Vec<u64>>,
    lost: u64,
    /// The first run that was taken, and how many there are up to the last.
    first: Option<u64>,
    runs: u64,
    /// Runs up to the last one that brought a function.
    grown: u64,
    version: u64,
    counts: TaskCounts,
    curve: Curve<TaskProgress>,
    /// What it began with.
    begun: TaskProgress,
}

impl TaskBooks {
    /// Goes on from what earlier campaigns covered.
    pub fn begin_with(&mut self, earlier: &Seen) {
        self.join(earlier);
        self.begun = self.counts.point();
    }

    /// Takes what a run left: all that it was given, and what it added. Runs are counted from 0.
    pub fn take(&mut self, run: u64, seen: &Seen) {
        self.first.get_or_insert(run);
        self.runs = self.runs.max(run + 1);
        let before = self.functions.len();
        self.join(seen);
        if self.functions.len() > before {
            self.grown = self.runs;
        }
        self.curve.see(self.runs, &self.counts.point());
    }

    fn join(&mut self, seen: &Seen) {
        let (mut changed, before) = (false, self.functions.len());
        let places: Vec<Option<u16>> = seen
            .functions
            .iter()
            .map(|function| {
                let place = self.place(function.pc)?;
                let own = &mut self.functions[usize::from(place)];
                let before = *own;
                own.join(function);
                changed |= *own != before;
                Some(place)
            })
            .collect();
        let place = |index: u16| places.get(usize::from(index)).copied().flatten();
        for &(one, other) in &seen.pairs {
            let (Some(one), Some(other)) = (place(one), place(other)) else { continue };
            let row = &mut self.rows[usize::from(one)];
            let (word, bit) = (usize::from(other) / 64, 1u64 << (other % 64));
            if row.len() <= word {
                row.resize(word + 1, 0);
            }
            changed |= row[word] & bit == 0;
            row[word] |= bit;
        }
        self.lost = self.lost.max(seen.lost);
        if changed || self.functions.len() > before {
            self.version += 1;
            self.counts = self.count();
        }
    }

    /// The place of a function, a new one if it is not known and there is room.
    fn place(&mut self, pc: u64) -> Option<u16> {
        if let Some(&place) = self.places.get(&pc) {
            return Some(place);
        }
        if self.functions.len() >= FUNCTIONS {
            self.lost = self.lost.max(1);
            return None;
        }
        let place = self.functions.len() as u16;
        self.functions.push(Function { pc, marks: 0, strand: 0 });
        self.rows.push(Vec::new());
        self.places.insert(pc, place);
        Some(place)
    }

    /// What the next run is given.
    pub fn table(&self) -> Seen {
        Seen { functions: self.functions.clone(), pairs: self.pairs().collect(), lost: self.lost }
    }

    /// Grows with every change of [`TaskBooks::table`].
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Runs of the campaign so far.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The first run that was taken.
    pub fn first_run(&self) -> u64 {
        self.first.unwrap_or(0)
    }

    /// What was covered besides what it began with.
    pub fn added(&self) -> TaskProgress {
        self.counts.point().less(self.begun)
    }

    /// The last runs, none of which brought a new function.
    pub fn runs_without_growth(&self) -> u64 {
        self.runs - self.grown
    }

    /// The functions; pairs are told by their places here.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Functions for which there was no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The bits of the covered pairs, a row for each first function.
    pub(super) fn rows(&self) -> &[Vec<u64>] {
        &self.rows
    }

    /// The covered pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.rows.iter().enumerate().flat_map(|(one, row)| {
            row.iter().enumerate().flat_map(move |(word, &bits)| {
                (0..64)
                    .filter(move |bit| bits & (1 << bit) != 0)
                    .map(move |bit| (one as u16, (word * 64) as u16 + bit))
            })
        })
    }

    /// How the pair of the functions at these places stands.
    pub fn pair(&self, one: u16, other: u16) -> State {
        let word = self.rows.get(usize::from(one)).and_then(|row| row.get(usize::from(other) / 64));
        if word.is_some_and(|bits| bits & (1 << (other % 64)) != 0) {
            return State::Covered;
        }
        match (self.functions.get(usize::from(one)), self.functions.get(usize::from(other))) {
            (Some(one), Some(other)) => one.cannot_meet(other).map_or(State::Open, State::Out),
            _ => State::Out(Reason::Alone),
        }
    }

    /// How many tasks there are, are covered, and can be.
    pub fn counts(&self) -> TaskCounts {
        self.counts
    }

    /// How much was covered after how many runs.
    pub fn samples(&self) -> Vec<TaskSample> {
        self.curve.samples(self.runs, &self.counts.point())
    }

    fn count(&self) -> TaskCounts {
        let mut counts = TaskCounts::default();
        for function in self.functions.iter().filter(|function| function.is_asked_for()) {
            counts.functions += 1;
            counts.beside += u64::from(function.is_beside());
            counts.interrupted.see(function.interrupted());
            counts.ran_through.see(function.through());
        }
        counts.model1 = counts.interrupted.plus(counts.ran_through);
        counts.model2 = self.count_pairs(counts.functions, counts.beside);
        counts
    }

    /// Counts pairs by sorts of functions: looking at each of a square of them would take too long after every run.
    fn count_pairs(&self, functions: u64, beside: u64) -> Model {
        let asked =
            || self.functions.iter().filter(|function| function.is_asked_for() && function.is_beside());
        let mut all_of_strand: HashMap<u64, u64> = HashMap::new();
        for strand in asked().filter(|function| function.has_events()).filter_map(Function::only_strand) {
            *all_of_strand.entry(strand).or_default() += 1;
        }
        let mut out = Out { alone: functions * functions - beside * beside, ..Out::default() };
        let seen = asked().filter(|function| function.has_events()).count() as u64;
        for function in asked() {
            if function.can_be_interrupted() {
                out.no_events += beside - seen;
                let strand = function.only_strand();
                out.one_strand += strand.and_then(|strand| all_of_strand.get(&strand)).unwrap_or(&0);
            } else {
                out.no_events += beside;
            }
        }
        let mut covered = 0;
        for (one, other) in self.pairs() {
            let (one, other) = (&self.functions[usize::from(one)], &self.functions[usize::from(other)]);
            if !one.is_asked_for() || !other.is_asked_for() {
                continue;
            }
            covered += 1;
            if let Some(reason) = one.cannot_meet(other) {
                // It happened all the same.
                let count = out.of(reason);
                *count = count.saturating_sub(1);
            }
        }
        let tasks = functions * functions;
        Model { tasks, covered, coverable: tasks - out.total(), uncoverable: out }
    }
}
