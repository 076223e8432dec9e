//! Orders of two places that passing runs keep and failing ones do not, to be tried.
//!
//! A place is an access of the program's own code to memory that strands share. Of two that touch the same bytes, one of them to write,
//! the first comes before the second in a run if the first time it is made comes before the first time of the other. It does not if the second
//! is made and the first is not, or not yet. Such an order is kept by no passing run by chance alone: it is tried.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use threadbare_values::{Program, Recording};

/// Passing runs, and failing ones, that are looked at.
const RUNS: usize = 256;
/// Passing runs that keep an order, at least: those of one class are one.
const KEPT: usize = 1;
/// Of ten failing runs so many break it, at least.
const OFTEN: usize = 5;
/// Instructions that touch the same bytes, and pairs of them, that are looked at.
const AT_ONE: usize = 32;
const PAIRS: usize = 4096;

/// A line of the program's own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Line {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) function: String,
}

/// An order that may have to be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    pub(crate) first: Line,
    pub(crate) second: Line,
    /// Their return addresses.
    pub(crate) pcs: (Vec<u64>, Vec<u64>),
}

/// The first time an instruction is made in a run.
#[derive(Clone, Copy, Debug)]
struct First {
    at: usize,
    strand: u16,
}

/// By how many tenths of failing runs, whether the first does not write, whether the second does, how near they are.
type Rank = (Reverse<usize>, bool, bool, usize);

/// What the runs did first.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    passing: Vec<HashMap<u64, First>>,
    failing: Vec<HashMap<u64, First>>,
    lines: HashMap<u64, Option<Line>>,
    writes: BTreeSet<u64>,
    pairs: BTreeSet<(u64, u64)>,
    /// Of instructions that are made under a lock, where that is taken.
    locked: HashMap<u64, u64>,
}

impl Orders {
    /// Takes a run.
    pub(crate) fn take(&mut self, program: &mut Program, run: &Recording, failed: bool) {
        let part = if failed { &mut self.failing } else { &mut self.passing };
        if part.len() >= RUNS {
            return;
        }
        let mut firsts: HashMap<u64, First> = HashMap::new();
        let mut cells: HashMap<u64, Vec<(u64, u16)>> = HashMap::new();
        let locked = run.locked_since();
        for (at, access) in run.accesses.iter().enumerate() {
            let line = self.lines.entry(access.pc).or_insert_with(|| {
                let chain = program.chain(access.pc);
                let own = chain.iter().rev().find(|level| level.own)?;
                Some(Line { file: own.file.clone(), line: own.line, function: own.function.clone() })
            });
            if line.is_none() {
                continue;
            }
            if let Some(lock) =
                locked[at].filter(|lock| program.chain(*lock).first().is_some_and(|it| it.own))
            {
                self.locked.insert(access.pc, lock);
            }
            firsts.entry(access.pc).or_insert(First { at, strand: access.strand });
            if access.writes() {
                self.writes.insert(access.pc);
            }
            let here = cells.entry(access.addr >> 3).or_default();
            if here.len() < AT_ONE && !here.contains(&(access.pc, access.strand)) {
                here.push((access.pc, access.strand));
            }
        }
        part.push(firsts);
        for here in cells.values() {
            for (one, other) in here.iter().flat_map(|one| here.iter().map(move |other| (one, other))) {
                let writes = self.writes.contains(&one.0) || self.writes.contains(&other.0);
                if one.0 != other.0 && one.1 != other.1 && writes && self.pairs.len() < PAIRS {
                    self.pairs.insert((one.0, other.0));
                }
            }
        }
    }

    /// The orders that all passing runs keep and failing ones do not, the likelier first.
    pub(crate) fn likely(&self) -> Vec<Order> {
        let mut likely: BTreeMap<(Line, Line), (Rank, Order)> = BTreeMap::new();
        for &(one, other) in &self.pairs {
            let line = |pc: u64| self.lines.get(&pc).cloned().flatten();
            let (Some(first), Some(second)) = (line(one), line(other)) else { continue };
            let Some(often) = self.often(one, other).filter(|_| first != second) else { continue };
            let near =
                self.passing.iter().find_map(|run| Some(run.get(&other)?.at.abs_diff(run.get(&one)?.at)));
            let writes = |pc: u64| self.writes.contains(&pc);
            let rank = (Reverse(often), !writes(one), writes(other), near.unwrap_or(usize::MAX));
            let order = Order { first: first.clone(), second: second.clone(), pcs: (Vec::new(), Vec::new()) };
            let known = likely.entry((first, second)).or_insert((rank, order));
            known.0 = known.0.min(rank);
            // Who waits for the other is not to hold a lock that the other needs.
            let waits = self.locked.get(&other).copied().unwrap_or(other);
            for (list, pc) in [(&mut known.1.pcs.0, one), (&mut known.1.pcs.1, waits)] {
                if !list.contains(&pc) {
                    list.push(pc);
                }
            }
        }
        let mut likely: Vec<_> = likely.into_values().collect();
        likely.sort_by_key(|(rank, _)| *rank);
        likely.into_iter().map(|(_, order)| order).collect()
    }

    /// How many tenths of the failing runs break an order that the passing ones keep.
    fn often(&self, one: u64, other: u64) -> Option<usize> {
        let kept = |run: &HashMap<u64, First>| {
            let second = run.get(&other)?;
            let first = run.get(&one).filter(|first| first.at < second.at);
            // What one strand does by itself is in order anyway.
            Some(first.map(|first| first.strand != second.strand))
        };
        let passing: Vec<Option<bool>> = self.passing.iter().filter_map(kept).collect();
        if passing.contains(&None) || passing.iter().filter(|kept| **kept == Some(true)).count() < KEPT {
            return None;
        }
        let broken = self.failing.iter().filter_map(kept).filter(Option::is_none).count();
        let often = broken * 10 / self.failing.len().max(1);
        (often >= OFTEN).then_some(often)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: u64 = 1;
    const READ: u64 = 2;

    /// Runs in which strand 0 writes and strand 1 reads, in one order or the other.
    fn orders(passing: &[&[u64]], failing: &[&[u64]]) -> Orders {
        let run = |pcs: &&[u64]| {
            let first = |(at, &pc): (usize, &u64)| (pc, First { at, strand: u16::from(pc == READ) });
            pcs.iter().enumerate().map(first).collect()
        };
        let line = |line: u32| Line { file: "a.c".to_owned(), line, function: "f".to_owned() };
        Orders {
            passing: passing.iter().map(run).collect(),
            failing: failing.iter().map(run).collect(),
            lines: [(WRITE, Some(line(10))), (READ, Some(line(20)))].into(),
            writes: [WRITE].into(),
            pairs: [(WRITE, READ), (READ, WRITE)].into(),
            locked: HashMap::new(),
        }
    }

    #[test]
    fn an_order_is_likely_if_only_failing_runs_break_it() {
        let kept: &[u64] = &[WRITE, READ];
        let other: &[u64] = &[READ, WRITE];
        let likely = orders(&[kept; 3], &[other, &[READ]]).likely();
        let lines: Vec<_> = likely.iter().map(|order| (order.first.line, order.second.line)).collect();
        assert_eq!(lines, [(10, 20)]);
        assert!(orders(&[kept, kept, kept, other], &[other]).likely().is_empty(), "a passing run breaks it");
        assert!(orders(&[], &[other]).likely().is_empty(), "no run keeps it");
        assert!(orders(&[kept; 3], &[kept, kept, other]).likely().is_empty(), "failing runs keep it");
        assert!(orders(&[kept; 3], &[&[WRITE]]).likely().is_empty(), "a failing run does not come to it");
    }
}
