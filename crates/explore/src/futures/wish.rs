//! From a wish, *this read sees that write*, to steps that wait for others: by a run in which both were made.
//!
//! Of all writes to the bytes that the read touches, each has to come before the write that is to be seen, or after the read. A
//! strand makes its writes in its own order, so one place in each strand says which: the last one that comes before, the first one that comes
//! after. So a wish is a few holds for each strand, however long the run is: the read waits for the write, the write for what has to come
//! before it, and whatever would come in between waits for the read.

use super::gates::Gates;
use super::reads::{Access, Mark, Reads};
use super::sections::Sections;
use super::simulate::{Anything, Hold, Hurry, Stuck, simulate};
use crate::planner::trace::Trace;
use std::collections::BTreeMap;

/// Which steps are meant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WishedStep {
    /// The sites: a line may have become several.
    pub sites: Vec<u64>,
    /// The strand, by its path; any if there is none.
    pub strand: Option<u64>,
    /// The how-manieth time the strand comes to it, from 1; any if there is none.
    pub number: Option<u64>,
}

/// What a read is to see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// What was there from the beginning.
    Initial,
    /// A write; whether of the reading strand itself, if that matters.
    Write(WishedStep, Option<bool>),
}

/// A read that is to see a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wish {
    /// The read.
    pub read: WishedStep,
    /// What it is to see.
    pub source: Source,
}

impl WishedStep {
    fn matches(&self, trace: &Trace, access: &Access) -> bool {
        self.strand.is_none_or(|path| path == trace.events[access.event].path)
            && self.number.is_none_or(|number| number == access.number)
    }
}

/// A run in which something was seen, to plan others by.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) trace: Trace,
    pub(crate) reads: Reads,
    pub(crate) sections: Sections,
    pub(crate) gates: Gates,
}

/// Why a strand's own order is against a wish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Against {
    /// It makes the write only after the read.
    Later,
    /// It writes again before the read.
    Again,
    /// It writes before the read.
    Writes,
}

/// Reads and writes of one wish that are looked at in one run.
const MOST: usize = 12;

/// How strands are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Manner {
    /// Before the outermost lock, or right before the access.
    pub(crate) outside: bool,
    /// What came between the two comes before the write, not after the read.
    earlier: bool,
}

pub(crate) const MANNERS: [Manner; 4] = [
    Manner { outside: true, earlier: false },
    Manner { outside: true, earlier: true },
    Manner { outside: false, earlier: false },
    Manner { outside: false, earlier: true },
];

/// A load, and the store that it is to see: strand and instruction, or what was there first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Sees {
    pub(crate) load: Mark,
    pub(crate) store: Option<(u64, u64)>,
}

/// Newer stores that are put before a load that is not to see them, one after another.
const NEWER: usize = 3;

impl Reference {
    pub(crate) fn of(trace: Trace) -> Reference {
        let (reads, sections, gates) = (Reads::of(&trace), Sections::of(&trace), Gates::of(&trace));
        Reference { trace, reads, sections, gates }
    }

    fn path(&self, access: usize) -> u64 {
        self.trace.events[self.reads.accesses[access].event].path
    }

    /// The accesses that a step means.
    fn all_of<'a>(&'a self, step: &'a WishedStep) -> impl Iterator<Item = usize> + 'a {
        let at = step.sites.iter().flat_map(|&site| self.reads.at(site).iter().copied());
        at.filter(|&at| step.matches(&self.trace, &self.reads.accesses[at]))
    }

    /// The reads that a wish means.
    pub(crate) fn reads_of<'a>(&'a self, wish: &'a Wish) -> impl Iterator<Item = usize> + 'a {
        self.all_of(&wish.read).filter(|&at| self.reads.accesses[at].reads)
    }

    /// The writes that a wish means.
    pub(crate) fn writes_of(&self, wish: &Wish) -> Vec<usize> {
        match &wish.source {
            Source::Initial => Vec::new(),
            Source::Write(step, _) => {
                self.all_of(step).filter(|&at| self.reads.accesses[at].writes).collect()
            }
        }
    }

    /// The read that saw what it was to see.
    pub(crate) fn granted(&self, wish: &Wish) -> Option<Mark> {
        let granted = |read: usize| {
            let access = &self.reads.accesses[read];
            access.from.iter().any(|source| match (source, &wish.source) {
                (None, Source::Initial) => true,
                (Some(write), Source::Write(step, own)) => {
                    let wrote = &self.reads.accesses[*write];
                    let is_own = self.path(*write) == self.path(read);
                    let is_meant = step.sites.contains(&wrote.site) && step.matches(&self.trace, wrote);
                    !access.unseen && is_meant && own.is_none_or(|own| own == is_own)
                }
                _ => false,
            })
        };
        let read = self.reads_of(wish).find(|&read| granted(read))?;
        let access = &self.reads.accesses[read];
        Some(Mark { path: self.path(read), pc: access.pc, number: access.number })
    }

    /// Pairs of a read and the write that it could see, those that are next to each other first.
    pub(crate) fn candidates(&self, wish: &Wish) -> Vec<(usize, Option<usize>)> {
        let mut pairs = Vec::new();
        let reads = few(self.reads_of(wish).collect());
        match &wish.source {
            Source::Initial => pairs.extend(reads.into_iter().map(|read| (read, None))),
            Source::Write(_, own) => {
                let writes = self.writes_of(wish);
                for read in reads {
                    let access = &self.reads.accesses[read];
                    let fits = |&write: &usize| {
                        write != read
                            && access.meets(&self.reads.accesses[write])
                            && own.is_none_or(|own| own == (self.path(write) == self.path(read)))
                    };
                    let mut near: Vec<usize> = writes.iter().copied().filter(fits).collect();
                    near.sort_by_key(|&write| write.abs_diff(read));
                    near.truncate(MOST);
                    pairs.extend(near.into_iter().map(|write| (read, Some(write))));
                }
                pairs.sort_by_key(|(read, write)| write.map_or(0, |write| write.abs_diff(*read)));
            }
        }
        pairs
    }

    /// The holds that make a read see a write, unless the strand's own order is against it.
    pub(crate) fn holds(
        &self,
        read: usize,
        write: Option<usize>,
        manner: Manner,
    ) -> Result<Vec<Hold>, Against> {
        let accesses = &self.reads.accesses;
        let event = |access: usize| accesses[access].event;
        let (reader, target) = (self.path(read), &accesses[read]);
        // The bytes in question: those that both have.
        let concerns =
            |other: &Access| other.meets(target) && write.is_none_or(|write| other.meets(&accesses[write]));
        let mut writes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, _) in accesses.iter().enumerate().filter(|(_, access)| access.writes && concerns(access)) {
            if Some(at) != write && event(at) != event(read) {
                writes.entry(self.path(at)).or_default().push(at);
            }
        }
        // Before the outermost lock, unless that comes before a step of the strand that the other waits for.
        let before = |access: usize, after: Option<usize>| {
            let entry = self.sections.entry(event(access));
            let late = after.is_none_or(|after| entry > after);
            if manner.outside && late { entry } else { event(access) }
        };
        let mut holds = Vec::new();
        let writer = write.map(|write| self.path(write));
        if write.is_some_and(|write| writer == Some(reader) && event(write) > event(read)) {
            return Err(Against::Later);
        }
        let mut before_write: Vec<usize> = Vec::new();
        for (&path, list) in &writes {
            let (first, last) = match write {
                _ if path == reader => {
                    let own = list.iter().rposition(|&at| event(at) < event(read));
                    match (own, write) {
                        (None, _) => (None, None),
                        (Some(_), None) => return Err(Against::Writes),
                        (Some(own), Some(write)) if writer == Some(path) => {
                            if event(list[own]) > event(write) {
                                return Err(Against::Again);
                            }
                            (None, None)
                        }
                        (Some(own), Some(_)) => (Some(list[own]), None),
                    }
                }
                Some(write) if writer == Some(path) => {
                    let later = list.iter().copied().find(|&at| event(at) > event(write));
                    (None, later)
                }
                None => (None, list.first().copied()),
                Some(write) => {
                    let border = match manner.earlier {
                        true => event(write).max(event(read)),
                        false => event(write),
                    };
                    let split = list.partition_point(|&at| event(at) < border);
                    (split.checked_sub(1).map(|at| list[at]), list.get(split).copied())
                }
            };
            before_write.extend(first);
            if let Some(later) = last {
                // The write itself comes before: the strand may be stopped behind it at the earliest.
                let behind = write.filter(|_| writer == Some(path)).map(event);
                holds.push(Hold { held: before(later, behind), until: event(read) });
            }
        }
        if let Some(write) = write {
            for first in before_write {
                if writer != Some(self.path(first)) {
                    holds.push(Hold { held: before(write, None), until: event(first) });
                }
            }
            if writer != Some(reader) {
                let own = writes
                    .get(&reader)
                    .and_then(|list| list.iter().copied().map(event).filter(|&at| at < event(read)).max());
                holds.insert(0, Hold { held: before(read, own), until: event(write) });
            }
        }
        // The process does not end before the read.
        if let Some(end) = self.trace.end().filter(|&end| self.trace.events[end].path != reader) {
            holds.push(Hold { held: end, until: event(read) });
        }
        Ok(holds)
    }

    /// The ways in which a load sees a store although there is a newer one: the holds by which the newer one comes before the load, and the load with the store.
    ///
    /// Whether the memory model lets it is for the run to say.
    pub(crate) fn older(&self, read: usize, write: Option<usize>) -> Vec<(Vec<Hold>, Sees)> {
        let accesses = &self.reads.accesses;
        let load = &accesses[read];
        let is_load = load.atomic && load.reads && !load.writes;
        let same = |at: usize| {
            let it = &accesses[at];
            it.atomic && it.writes && (it.addr, it.size) == (load.addr, load.size)
        };
        if !is_load || !write.is_none_or(same) {
            return Vec::new();
        }
        let reader = self.path(read);
        let newer = (0..accesses.len()).filter(|&at| same(at) && Some(at) != write);
        let mut newer: Vec<usize> = newer.filter(|&at| self.path(at) != reader).collect();
        newer.sort_by_key(|&at| (write.is_some_and(|write| at < write), at.abs_diff(write.unwrap_or(0))));
        newer.truncate(NEWER);
        let event = |access: usize| accesses[access].event;
        let mut ways = Vec::new();
        for at in newer {
            let Ok(mut holds) = self.holds(read, Some(at), MANNERS[0]) else { continue };
            match write {
                Some(write) if self.path(write) != self.path(at) => {
                    holds.push(Hold { held: self.sections.entry(event(at)), until: event(write) });
                }
                Some(write) if event(write) > event(at) => continue,
                _ => {}
            }
            let store = write.map(|write| (self.path(write), accesses[write].pc));
            ways.push((holds, Sees { load: self.reads.mark(event(read)), store }));
        }
        ways
    }

    /// The same wherever sleeps end when they are to.
    pub(crate) fn try_in_any_time(&self, holds: &[Hold], goal: usize) -> Result<(), Stuck> {
        simulate(self, holds, &[self.reads.accesses[goal].event], &mut Hurry)
    }

    /// Whether strands that hold back like this come to the reads; why not.
    pub(crate) fn try_holds(&self, holds: &[Hold], goals: &[usize]) -> Result<(), Stuck> {
        let events: Vec<usize> = goals.iter().map(|&access| self.reads.accesses[access].event).collect();
        simulate(self, holds, &events, &mut Anything)
    }
}

/// Of many the first and the last.
fn few(mut list: Vec<usize>) -> Vec<usize> {
    if list.len() > MOST {
        let last = list.split_off(list.len() - MOST / 2);
        list.truncate(MOST / 2);
        list.extend(last);
    }
    list
}
