//! The stretches of a run that have an entry and an exit: functions, and blocks of accesses.
//!
//! A block is named by lines, so it must be all that the strand does on them: from the first access on its first line to
//! the last on its last one. What goes round a loop is no block; a loop inside a function that the block calls is. An access that is alone on its line
//! is looked at by itself, if so asked: it has an entry and no exit.

use crate::places::{Level, Program, shared_levels};
use crate::recording::Recording;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;
use threadbare_invariants::Region;

/// A stretch of a strand's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// What it is, by its number.
    pub(crate) region: usize,
    /// The number of its first access; while a strand is looked at, its place among the strand's.
    pub(crate) first: usize,
    /// The same of its last one.
    pub(crate) last: usize,
    /// Whether the strand came to its end.
    pub(crate) whole: bool,
    /// How many calls lead from its function to the first access.
    pub(crate) up: u32,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as it is shown.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The function.
    pub function: String,
}

impl SourceLine {
    fn of(level: &Level) -> Self {
        Self { file: level.file.clone(), line: level.line, function: level.function.clone() }
    }
}

/// A strand's way at one of its functions: an access there, or the call that the access was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    pc: u64,
    called: Option<u32>,
    /// Whether it is an access that writes: the call of a copy is one that reads, then one that writes.
    writes: bool,
}

impl Step {
    /// Where it is in the code.
    fn at(&self) -> (u64, bool) {
        (self.pc, self.writes)
    }
}

/// So many times a run is looked at what begins at one instruction; then the 512th time, the 1,024th and so on.
const ENOUGH: u64 = 256;

/// How often each instruction was the beginning of something.
#[derive(Default)]
struct Told(HashMap<u64, u64>);

impl Told {
    /// Whether there is enough of it.
    fn enough(&mut self, pc: u64) -> bool {
        let times = self.0.entry(pc).or_insert(0);
        *times += 1;
        *times > ENOUGH && !times.is_power_of_two()
    }
}

/// Stretches of strands that are kept, to be found again.
const MOST_KNOWN: usize = 1 << 20;

/// All regions of a program that its runs came to.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    list: Vec<(Region, SourceLine)>,
    numbers: HashMap<Region, usize>,
    /// What the way of a strand consists of. Most runs have strands that go the same ways.
    known: HashMap<u128, Rc<[Found]>>,
    kept: usize,
    /// Regions that are more than one access.
    wide: HashSet<usize>,
}

impl Regions {
    /// Whether a region is never more than one access.
    pub(crate) fn is_single(&self, region: &Region) -> bool {
        self.numbers.get(region).is_some_and(|number| !self.wide.contains(number))
    }

    pub(crate) fn region(&self, number: usize) -> &Region {
        &self.list[number].0
    }

    pub(crate) fn find(&self, region: &Region) -> Option<usize> {
        self.numbers.get(region).copied()
    }

    /// Where a region begins.
    pub(crate) fn place(&self, region: &Region) -> Option<&SourceLine> {
        self.numbers.get(region).map(|&number| &self.list[number].1)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    fn number(&mut self, region: Region, place: SourceLine) -> usize {
        let list = &mut self.list;
        *self.numbers.entry(region).or_insert_with_key(|region| {
            list.push((region.clone(), place));
            list.len() - 1
        })
    }

    /// All stretches of a run; `counts` says which accesses are looked at.
    pub(crate) fn of(
        &mut self,
        run: &Recording,
        program: &mut Program,
        counts: &[bool],
        block: RangeInclusive<usize>,
    ) -> Vec<Found> {
        let mut by_strand: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        let first_pieces = run.accesses.iter().enumerate().filter(|(_, access)| !access.goes_on);
        for (number, access) in first_pieces.filter(|(number, _)| counts[*number]) {
            by_strand.entry(access.strand).or_default().push(number);
        }
        let mut all = Vec::new();
        let parts = run.parts();
        for numbers in by_strand.values() {
            let found = self.of_strand(run, program, (numbers, &parts), block.clone());
            all.extend(found.iter().map(|found| Found {
                first: numbers[found.first],
                last: run.last_piece(numbers[found.last]),
                ..*found
            }));
        }
        all.sort_by_key(|found| (found.last, found.first));
        all
    }

    fn of_strand(
        &mut self,
        run: &Recording,
        program: &mut Program,
        (numbers, parts): (&[usize], &[u32]),
        block: RangeInclusive<usize>,
    ) -> Rc<[Found]> {
        let way = way(run, numbers, parts);
        if let Some(found) = self.known.get(&way) {
            return Rc::clone(found);
        }
        let mut strand = Strand { run, program, numbers, parts, regions: self, found: Vec::new() };
        strand.blocks(block);
        strand.functions();
        let found: Rc<[Found]> = strand.found.into();
        self.kept += found.len();
        if self.kept > MOST_KNOWN {
            self.known.clear();
            self.kept = found.len();
        }
        self.known.insert(way, Rc::clone(&found));
        found
    }
}

/// Stands for the way of a strand: its instructions, and the functions they were in.
fn way(run: &Recording, numbers: &[usize], parts: &[u32]) -> u128 {
    let mut hash = (0x9e37_79b9_7f4a_7c15_u64, 0xc2b2_ae3d_27d4_eb4f_u64);
    let mut word = |word: u64| {
        hash.0 = (hash.0 ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
        hash.1 = (hash.1.rotate_left(23) ^ word).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    };
    let mut seen: HashMap<u32, u64> = HashMap::default();
    let mut fresh = Vec::new();
    for &number in numbers {
        let access = &run.accesses[number];
        let mut next = Some(access.activation);
        while let Some(activation) = next.filter(|it| !seen.contains_key(it)) {
            fresh.push(activation);
            next = run.activations[activation as usize].parent;
        }
        while let Some(activation) = fresh.pop() {
            seen.insert(activation, seen.len() as u64);
            let it = run.activations[activation as usize];
            word(
                it.parent.and_then(|parent| seen.get(&parent)).map_or(0, |parent| parent + 1) << 1
                    | u64::from(it.left),
            );
            word(it.call);
        }
        word(access.pc << 1 | u64::from(access.writes()));
        word(seen[&access.activation] << 32 | u64::from(parts[number]));
    }
    u128::from(hash.0) << 64 | u128::from(hash.1)
}

struct Strand<'a> {
    run: &'a Recording,
    program: &'a mut Program,
    numbers: &'a [usize],
    /// Of each access of the run, how many strands its own has created and joined by then.
    parts: &'a [u32],
    regions: &'a mut Regions,
    found: Vec<Found>,
}

impl Strand<'_> {
    fn activation(&self, at: usize) -> u32 {
        self.run.accesses[self.numbers[at]].activation
    }

    /// The innermost function that both are in.
    fn common(&self, mut a: u32, mut b: u32) -> Option<u32> {
        let of = |number: u32| self.run.activations[number as usize];
        while a != b {
            if of(a).depth >= of(b).depth {
                a = of(a).parent?;
            } else {
                b = of(b).parent?;
            }
        }
        Some(a)
    }

    /// How an access looks from a function around it; none if it is not inside.
    fn step(&self, at: usize, within: u32) -> Option<Step> {
        let mut inner = self.activation(at);
        if inner == within {
            let access = &self.run.accesses[self.numbers[at]];
            return Some(Step { pc: access.pc, called: None, writes: access.writes() });
        }
        let depth = self.run.activations[within as usize].depth;
        loop {
            let activation = self.run.activations[inner as usize];
            if activation.parent? == within {
                return Some(Step { pc: activation.call, called: Some(inner), writes: false });
            }
            if activation.depth <= depth {
                return None;
            }
            inner = activation.parent?;
        }
    }

    fn blocks(&mut self, size: RangeInclusive<usize>) {
        let mut told = Told::default();
        for first in 0..self.numbers.len() {
            if told.enough(self.run.accesses[self.numbers[first]].pc) {
                continue;
            }
            if *size.start() == 1 {
                let single = self.own(first).and_then(|within| self.block(first, first, within));
                self.found.extend(single);
            }
            let mut within = Some(self.activation(first));
            for last in first + 1..self.numbers.len().min(first + size.end()) {
                // What others do while the strand creates or joins one is no interruption.
                if self.parts[self.numbers[last]] != self.parts[self.numbers[first]] {
                    break;
                }
                within = within.and_then(|within| self.common(within, self.activation(last)));
                let Some(within) = within else { break };
                if let Some(found) = self.block(first, last, within) {
                    self.found.push(found);
                }
            }
        }
    }

    /// The innermost function around an access that is the program's own.
    fn own(&mut self, at: usize) -> Option<u32> {
        let mut within = self.activation(at);
        loop {
            let step = self.step(at, within)?;
            if self.program.chain(step.pc).iter().any(|level| level.own) {
                return Some(within);
            }
            within = self.run.activations[within as usize].parent?;
        }
    }

    fn block(&mut self, first: usize, last: usize, within: u32) -> Option<Found> {
        let steps: Option<Vec<Step>> = (first..=last).map(|at| self.step(at, within)).collect();
        let steps = steps?;
        if goes_round(&steps) {
            return None;
        }
        let (begin, end) = (steps[0], *steps.last()?);
        let (from, to) = (self.program.chain(begin.pc), self.program.chain(end.pc));
        let level = (0..shared_levels(&from, &to)).rev().find(|&level| from[level].own)?;
        let (top, bottom) = (&from[level], &to[level]);
        let single = first == last;
        let backwards =
            top.line > bottom.line || top.line == bottom.line && begin.at() >= end.at() && !single;
        if backwards || top.file != bottom.file {
            return None;
        }
        let count = self.numbers.len();
        // All that the strand does on these lines.
        let mut beside = |at: usize, chain: &Rc<[Level]>, ahead: bool| {
            let Some(step) = self.step(at, within) else { return false };
            let mut all = steps.clone();
            all.insert(if ahead { 0 } else { steps.len() }, step);
            let other = self.program.chain(step.pc);
            let order = if ahead { step.at() < begin.at() } else { step.at() > end.at() };
            order
                && !goes_round(&all)
                && shared_levels(chain, &other) > level
                && other[level].line == chain[level].line
        };
        if first > 0 && beside(first - 1, &from, true) || last + 1 < count && beside(last + 1, &to, false) {
            return None;
        }
        let region = Region::Block { file: top.file.clone(), first: top.line, last: bottom.line };
        let region = self.regions.number(region, SourceLine::of(top));
        if !single {
            self.regions.wide.insert(region);
        }
        // What one access leaves is what it does, whoever came before it.
        let up = self.calls(first, within);
        Some(Found { region, first, last, whole: !single, up })
    }

    fn functions(&mut self) {
        let mut inside: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for at in 0..self.numbers.len() {
            let mut activation = Some(self.activation(at));
            while let Some(number) = activation {
                inside.entry(number).or_insert((at, at)).1 = at;
                activation = self.run.activations[number as usize].parent;
            }
        }
        let mut told = Told::default();
        for (activation, (first, last)) in inside {
            if told.enough(self.run.activations[activation as usize].call) {
                continue;
            }
            let left = self.run.activations[activation as usize].left;
            let Some(step) = self.step(first, activation) else { continue };
            let chain = self.program.chain(step.pc);
            if let Some(level) = chain.first().filter(|level| level.own) {
                let level = level.clone();
                self.function(&level, activation, first, last, left);
            }
            self.inlined(activation, first, last, left);
        }
    }

    /// How many calls lead from a function to an access in it.
    fn calls(&self, at: usize, within: u32) -> u32 {
        let depth = |activation: u32| self.run.activations[activation as usize].depth;
        depth(self.activation(at)).saturating_sub(depth(within))
    }

    fn function(&mut self, level: &Level, within: u32, first: usize, last: usize, whole: bool) {
        let region = self.regions.number(Region::Function(level.function.clone()), SourceLine::of(level));
        self.regions.wide.insert(region);
        let up = self.calls(first, within);
        self.found.push(Found { region, first, last, whole, up });
    }

    /// Functions that the compiler put into another one, each activation by itself.
    fn inlined(&mut self, within: u32, first: usize, last: usize, left: bool) {
        let all: Vec<(usize, Step)> =
            (first..=last).filter_map(|at| Some((at, self.step(at, within)?))).collect();
        let mut chains: Vec<Rc<[Level]>> = Vec::new();
        for (_, step) in &all {
            chains.push(self.program.chain(step.pc));
        }
        let deepest = chains.iter().map(|chain| chain.len()).max().unwrap_or(0);
        for level in 1..deepest {
            let mut begin = 0;
            while begin < all.len() {
                if chains[begin].len() <= level {
                    begin += 1;
                    continue;
                }
                let mut end = begin + 1;
                let mut last = all[begin].1;
                while end < all.len() && shared_levels(&chains[begin], &chains[end]) > level {
                    let step = all[end].1;
                    // The same place again, or one before it, is another activation: the call is in a loop.
                    let stays = step == last && step.called.is_some();
                    if !stays && step.at() <= last.at() {
                        break;
                    }
                    last = step;
                    end += 1;
                }
                if chains[begin][level].own {
                    let level = chains[begin][level].clone();
                    let whole = left || end < all.len();
                    self.function(&level, within, all[begin].0, all[end - 1].0, whole);
                }
                begin = end;
            }
        }
    }
}

/// Whether some instruction is come to a second time.
fn goes_round(steps: &[Step]) -> bool {
    let mut seen: Vec<Step> = Vec::new();
    for &step in steps {
        if step.called.is_some() && seen.last() == Some(&step) {
            continue;
        }
        if seen.iter().any(|other| other.at() == step.at()) {
            return true;
        }
        seen.push(step);
    }
    false
}
