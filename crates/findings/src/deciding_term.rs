//! The term that decides: a read that sees one write in the run that fails, and another in the run that passes.
//!
//! It is told in the words of `threadbare futures`, and only where both runs are known from their second strand on: there, what no strand has written since is the initial value.

use crate::done::Done;
use crate::finding::{DecidingTerm, PairPlace};
use crate::operation::Operations;
use crate::pattern::overlap;
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;

/// Two runs of which one read is looked for that tells them apart.
pub(crate) struct Compared<'a> {
    pub(crate) failing: &'a [Done],
    /// Strands have the numbers of the failing run.
    pub(crate) passed: &'a [Done],
    /// Words of memory that are locks.
    pub(crate) locks: &'a BTreeSet<u64>,
    pub(crate) operations: &'a Operations<'a>,
}

/// The strand that is made first.
const SECOND_STRAND: u64 = 1;

/// Where the steps begin that count: behind the creation of the second strand, which may be older than the run.
fn beginning(done: &[Done]) -> Option<usize> {
    let creates = |it: &Done| it.op == OpKind::Create && it.addr == SECOND_STRAND && !it.waits;
    match done.iter().position(creates) {
        Some(at) => Some(at + 1),
        None => done.iter().any(|it| u64::from(it.strand.0) == SECOND_STRAND).then_some(0),
    }
}

/// Whether a step is the same one in two runs, as far as that can be told by itself.
fn alike(one: &Done, other: &Done) -> bool {
    (one.strand, one.pc, one.op) == (other.strand, other.pc, other.op)
}

/// What a read saw.
#[derive(PartialEq, Eq)]
enum Source {
    Initial,
    /// The place in the list, and the how-manieth step like it.
    Write(usize, usize),
}

impl Compared<'_> {
    /// The first of these operations of the failing run that reads, and sees another write in the run that passes.
    pub(crate) fn term<'a>(&self, named: impl Iterator<Item = &'a Done>) -> Option<DecidingTerm> {
        named.filter(|it| self.is_read(it)).find_map(|it| self.of(it))
    }

    fn is_data(&self, done: &Done) -> bool {
        let accesses = done.op.is_plain_access() || done.op.is_atomic_access();
        accesses && !done.waits && !self.locks.contains(&done.addr)
    }

    fn is_read(&self, done: &Done) -> bool {
        self.is_data(done) && done.op.reads_memory() && !done.stale && self.operations.is_told(done)
    }

    fn of(&self, read: &Done) -> Option<DecidingTerm> {
        let (begins, begins_passed) = (beginning(self.failing)?, beginning(self.passed)?);
        let at = self.failing.iter().position(|it| it == read).filter(|&at| at >= begins)?;
        let number = self.failing[begins..at].iter().filter(|it| alike(it, read)).count();
        let again = |it: &(usize, &Done)| it.0 >= begins_passed && alike(it.1, read) && !it.1.waits;
        let at_passed = self.passed.iter().enumerate().filter(again).nth(number)?.0;
        let fails = self.source(self.failing, begins, at)?;
        let passes = self.source(self.passed, begins_passed, at_passed)?;
        let same = match (&fails, &passes) {
            (Source::Initial, Source::Initial) => true,
            (Source::Write(one, first), Source::Write(other, second)) => {
                alike(&self.failing[*one], &self.passed[*other]) && first == second
            }
            _ => false,
        };
        let write = |source: &Source, done: &[Done]| match source {
            Source::Initial => Some(None),
            Source::Write(at, _) if self.operations.is_told(&done[*at]) => {
                Some(Some(self.operations.place(&done[*at])))
            }
            Source::Write(..) => None,
        };
        let told = DecidingTerm {
            read: self.operations.place(read),
            write: write(&fails, self.failing)?,
            passing_write: write(&passes, self.passed)?,
            text: String::new(),
        };
        // Two times of one place look the same.
        let (one, other) = (source_text(told.write.as_ref())?, source_text(told.passing_write.as_ref())?);
        let text = format!("{} <- {one}; with {other} it passes", step_text(&told.read)?);
        (!same && one != other).then_some(DecidingTerm { text, ..told })
    }

    /// What a read saw; `None` where that cannot be told for sure.
    fn source(&self, done: &[Done], begins: usize, at: usize) -> Option<Source> {
        let read = &done[at];
        if read.stale {
            return None;
        }
        let writes = |it: &Done| it.op == OpKind::Free || self.is_data(it) && it.op.writes_memory();
        let last = done[..at].iter().rposition(|it| writes(it) && overlap(it, read));
        let Some(last) = last.filter(|&last| last >= begins) else { return Some(Source::Initial) };
        let write = &done[last];
        let end = |it: &Done| it.addr + u64::from(it.size);
        let whole = write.addr <= read.addr && end(write) >= end(read);
        // An exchange may have failed, and memory that was given back has no value.
        if !whole || write.stale || matches!(write.op, OpKind::AtomicCas | OpKind::Free) {
            return None;
        }
        let number = done[begins..last].iter().filter(|it| alike(it, write)).count();
        Some(Source::Write(last, number))
    }
}

/// `bank.c:9 @0.2`.
fn step_text(place: &PairPlace) -> Option<String> {
    let (file, line) = (place.file.as_deref()?, place.line?);
    let name = if place.dependency { file } else { file.rsplit('/').next().unwrap_or(file) };
    Some(format!("{name}:{line} @{}", place.strand))
}

fn source_text(write: Option<&PairPlace>) -> Option<String> {
    write.map_or(Some("initial".to_owned()), step_text)
}
