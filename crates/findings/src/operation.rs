//! One operation of an explanation: where it is, who called it, what it is on.
//!
//! A place is the program's own line, or, where the access lies in a package that the program uses, the package's line with
//! the program's beside it. A helper that does one access and no more (`get`, `read`) is told with its caller: the mistake
//! is rarely in the helper. Memory has the name that a race report would give it.

use crate::done::Done;
use crate::finding::PairPlace;
use crate::places::{Place, Places};
use crate::std_locks::word;
use crate::steps::operand;
use std::collections::{BTreeMap, BTreeSet};
use threadbare_abi::op::OpKind;
use threadbare_trace::report::Block;
use threadbare_trace::strands::Strands;

/// Who tells of the operations of a failing run.
pub(crate) struct Operations<'a> {
    pub(crate) strands: &'a Strands,
    pub(crate) places: &'a dyn Places,
    /// Blocks of the heap that are known.
    pub(crate) blocks: &'a [Block],
    /// Words of memory that are locks.
    pub(crate) locks: &'a BTreeSet<u64>,
    /// The block that the finding is about, and its name for it.
    pub(crate) subject: Option<(Block, &'a str)>,
    /// The lines of each function at which data was touched in the run, and those at which locks were taken.
    lines: BTreeMap<(String, bool), BTreeSet<u32>>,
}

fn is_data(op: OpKind) -> bool {
    op.is_plain_access() || op.is_atomic_access() || op == OpKind::Free
}

/// Code of the program or of a package it uses.
fn is_known(place: &Place) -> bool {
    !place.library && place.file.is_some() && place.line.is_some()
}

fn is_own(place: &Place) -> bool {
    is_known(place) && !place.dependency
}

/// Whether a function is only the closure that a test harness calls a test by.
fn wraps(caller: &Place, called: &Place) -> bool {
    match (&caller.function, &called.function) {
        (Some(caller), Some(called)) => {
            caller.strip_prefix(called.as_str()).is_some_and(|rest| rest.starts_with("::{closure"))
        }
        _ => false,
    }
}

impl<'a> Operations<'a> {
    /// Of runs that did this.
    pub(crate) fn new<'d>(
        done: impl Iterator<Item = &'d Done>,
        strands: &'a Strands,
        places: &'a dyn Places,
        blocks: &'a [Block],
        locks: &'a BTreeSet<u64>,
    ) -> Operations<'a> {
        let mut all = Operations { strands, places, blocks, locks, subject: None, lines: BTreeMap::new() };
        let mut seen = BTreeSet::new();
        for it in done.filter(|it| it.op.has_memory_address() && !it.op.name().contains("unlock")) {
            if !seen.insert((it.pc, &it.callers)) {
                continue;
            }
            let frames = all.stack(it);
            if let Some(Place { function: Some(function), line: Some(line), .. }) =
                frames.iter().find(|frame| is_known(frame))
            {
                let is_lock = all.is_lock(it);
                all.lines.entry((function.clone(), is_lock)).or_default().insert(*line);
            }
        }
        all
    }

    /// The functions that an operation was done in, innermost first, as far as they are known.
    pub(crate) fn stack(&self, done: &Done) -> Vec<Place> {
        if done.pc == 0 {
            return Vec::new();
        }
        std::iter::once(&done.pc).chain(&done.callers).flat_map(|&pc| self.places.at(pc)).collect()
    }

    fn is_lock(&self, done: &Done) -> bool {
        !is_data(done.op) || self.locks.contains(&done.addr)
    }

    /// Whether an operation has a place in the program's code, or in that of a package it uses on its behalf: a test
    /// harness that waits has none.
    pub(crate) fn is_told(&self, done: &Done) -> bool {
        self.stack(done).iter().any(is_own)
    }

    /// Whether a function of the program's own did both: as its own lines, or by what it called.
    pub(crate) fn together(&self, one: &Done, other: &Done) -> bool {
        let functions = |done: &Done| -> Vec<String> {
            self.stack(done).into_iter().filter(is_own).filter_map(|place| place.function).collect()
        };
        let (one, other) = (functions(one), functions(other));
        // The function that all of a strand's work is called from says nothing.
        let all_but_last = one.len().max(2) - 1;
        one.iter().take(all_but_last).any(|function| other.contains(function))
    }

    /// The program's own line that an operation was done for, 0 if it has none.
    pub(crate) fn line(&self, done: &Done) -> u32 {
        self.stack(done).iter().find(|place| is_own(place)).and_then(|place| place.line).unwrap_or(0)
    }

    /// Whether a strand did the same once more: at the same instruction, or at a copy of it that the compiler has made, as it does of the condition of a loop.
    pub(crate) fn is_again(&self, one: &Done, other: &Done) -> bool {
        type Column = (Option<String>, Option<u32>, u32);
        let columns = |done: &Done| -> Option<Vec<Column>> {
            let own = self.stack(done).into_iter().filter(is_own);
            own.map(|place| Some((place.file, place.line, place.column?))).collect()
        };
        let copied = || columns(one).is_some_and(|of| !of.is_empty() && columns(other) == Some(of));
        one.strand == other.strand
            && one.op == other.op
            && ((one.pc, &one.callers) == (other.pc, &other.callers) || copied())
    }

    /// Whether the line is one of a helper: a function that takes a lock and does nothing else, or does one access, under a
    /// lock or not.
    fn is_helper(&self, place: &Place, is_lock: bool) -> bool {
        let Some(function) = &place.function else { return false };
        let lines = |locks: bool| self.lines.get(&(function.clone(), locks)).map_or(0, BTreeSet::len);
        match is_lock {
            true => (lines(false), lines(true)) == (0, 1),
            false => lines(false) == 1 && lines(true) <= 1,
        }
    }

    /// The place of an operation.
    pub(crate) fn place(&self, done: &Done) -> PairPlace {
        let stack = self.stack(done);
        let own = stack.iter().position(is_own);
        let known = stack.iter().position(is_known);
        // A lock that a package makes is the program's lock where the program takes it.
        let at = if self.is_lock(done) { own.or(known) } else { known };
        let (shown, caller) = match at {
            Some(at) if Some(at) != own => (stack.get(at), own.and_then(|own| stack.get(own))),
            Some(at) => {
                let caller = stack[at + 1..].first().filter(|next| is_own(next) && !wraps(next, &stack[at]));
                (stack.get(at), caller.filter(|_| self.is_helper(&stack[at], self.is_lock(done))))
            }
            None => (stack.first(), None),
        };
        let operation = word(done.op.name(), &stack).unwrap_or(done.op.name());
        PairPlace {
            file: shown.and_then(|place| place.file.clone()),
            line: shown.and_then(|place| place.line),
            function: shown.and_then(|place| place.function.clone()),
            strand: self.strands.name(done.strand),
            operation: operation.to_owned(),
            object: self.name(done),
            caller: caller.cloned(),
            dependency: shown.is_some_and(|place| place.dependency),
        }
    }

    /// What an operation is on.
    pub(crate) fn name(&self, done: &Done) -> Option<String> {
        if let Some((_, name)) =
            self.subject.filter(|(block, _)| done.addr.wrapping_sub(block.addr) < block.size)
        {
            return Some(name.to_owned());
        }
        let told = operand(done.op, done.addr, done.size, self.strands, self.places);
        match told {
            Some(name) if !name.starts_with("0x") => Some(name),
            told => self.field(done).or(told),
        }
    }

    /// The part of a heap block, as a race report names it.
    fn field(&self, done: &Done) -> Option<String> {
        let inside = |block: &&Block| done.addr.wrapping_sub(block.addr) < block.size;
        // What is given back is the whole block, not the part it begins with.
        let block =
            self.blocks.iter().find(inside).filter(|_| is_data(done.op) && done.op != OpKind::Free)?;
        let stack: Vec<u64> = std::iter::once(done.pc).chain(done.callers.iter().copied()).collect();
        self.places.field(&stack, block.size, done.addr - block.addr, u64::from(done.size.max(1)))
    }
}
