//! For each read of shared data, the writes that may reach it: the π terms of CSSAME, from machine code.
//!
//! After *Controlling the Execution of Concurrent Programs* (the concurrent static single assignment form with mutual exclusion), with
//! these differences:
//! 1. Memory has no names in machine code: which writes concern a read is asked of addresses ([`regions`]), and in doubt they do.
//! 2. A term is struck out only if no run can have it: both sides surely hold the same lock (a global one, or one at the same distance
//!    from what is accessed), and the write is hidden by a later one in its section, or the read follows a write of its own in its.
//!    Readers' locks do not keep readers apart.
//! 3. What is read before the first strand is made has no terms of other strands.
//!
//! Not used here, so never a reason to strike out: joins, barriers, condition variables, semaphores, and what runs have seen.

mod alias;
mod regions;
mod who;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::address::{Address, Root};
use crate::code::Code;
use crate::function::{Access, Held};
use crate::hook::Size;
use regions::Regions;
use who::Who;

/// The value that a read may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Source {
    /// A write of the reading strand itself, by place.
    Own(u64),
    /// A write of another strand, by place.
    Other(u64),
    /// What was there from the beginning.
    Initial,
    /// A write of code that is not instrumented.
    Unseen,
}

/// Why no run can have a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Strike {
    /// A later write in the same critical section hides it.
    Hidden {
        /// The lock, as the writer has it.
        lock: Address,
    },
    /// The read follows a write of its own in its critical section.
    AfterOwn {
        /// The lock, as the reader has it.
        lock: Address,
    },
    /// There is no other strand yet.
    Alone,
}

/// One value that a read may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// Where it comes from.
    pub source: Source,
    /// Why it cannot be, if so.
    pub struck: Option<Strike>,
}

/// One read with its terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The function, by index.
    pub function: usize,
    /// The place of the read.
    pub place: u64,
    /// Where it reads.
    pub address: Address,
    /// How many bytes.
    pub size: Size,
    /// By source.
    pub terms: Vec<Term>,
}

impl Row {
    /// Takes the terms of another read at the same place: what one of the two may see may be seen there.
    pub fn join(&mut self, other: Row) {
        for term in other.terms {
            match self.terms.iter_mut().find(|known| known.source == term.source) {
                Some(known) if term.struck.is_none() => known.struck = None,
                Some(_) => {}
                None => self.terms.push(term),
            }
        }
        self.terms.sort_by_key(|term| term.source);
    }

    /// The terms that are left.
    pub fn possible(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|term| term.struck.is_none())
    }
}

/// The reads of data that strands share, each with its terms.
///
/// Data is taken for shared if a write of another strand concerns the read, struck out or not.
pub fn table(code: &Code) -> Vec<Row> {
    let terms = Terms::of(code);
    let reads = (0..terms.sites.len()).filter(|&at| terms.sites[at].access.kind.reads());
    reads.filter_map(|at| terms.of_site(at, &terms.index)).collect()
}

/// The terms of a program, asked for read by read: a program with many accesses behind pointers has as many terms as reads times writes.
pub struct Terms<'a> {
    who: Who,
    regions: Rc<Regions>,
    code: &'a Code,
    sites: Vec<Site<'a>>,
    by_place: BTreeMap<u64, Vec<usize>>,
    index: alias::Index<'a>,
}

/// Some of a program's writes, to ask of.
pub struct Writes<'a>(alias::Index<'a>);

impl<'a> Terms<'a> {
    /// Of a program.
    pub fn of(code: &'a Code) -> Terms<'a> {
        let who = Who::of(code);
        let regions = Rc::new(Regions::of(code));
        let sites: Vec<Site<'_>> = code
            .accesses()
            .filter(|(function, _)| who.runs(*function))
            .map(|(function, access)| Site {
                function,
                access,
                regions: regions.of_access(code, function, access),
            })
            .collect();
        let mut by_place: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, site) in sites.iter().enumerate().filter(|(_, site)| site.access.kind.reads()) {
            by_place.entry(site.access.place).or_default().push(at);
        }
        let index = index_of(code, &regions, &sites, &|_| true);
        Terms { who, regions, code, sites, by_place, index }
    }

    /// The places of reads.
    pub fn places(&self) -> impl Iterator<Item = u64> + '_ {
        self.by_place.keys().copied()
    }

    /// How many places write.
    pub fn writes(&self) -> usize {
        self.sites.iter().filter(|site| site.access.kind.writes()).count()
    }

    /// The writes at these places.
    pub fn only(&self, places: &BTreeSet<u64>) -> Writes<'a> {
        Writes(index_of(self.code, &self.regions, &self.sites, &|place| places.contains(&place)))
    }

    /// A read with its terms, if it is one of shared data. A call such as `strcmp` has two reads at one place.
    pub fn row(&self, place: u64) -> Option<Row> {
        self.row_of(place, &self.index)
    }

    /// The same with the terms of some writes only.
    pub fn row_among(&self, place: u64, writes: &Writes<'a>) -> Option<Row> {
        self.row_of(place, &writes.0)
    }

    fn row_of(&self, place: u64, index: &alias::Index<'_>) -> Option<Row> {
        let rows = self.by_place.get(&place)?.iter().filter_map(|&at| self.of_site(at, index));
        rows.reduce(|mut row, other| {
            row.join(other);
            row
        })
    }

    fn of_site(&self, at: usize, index: &alias::Index<'_>) -> Option<Row> {
        let (who, reader) = (&self.who, &self.sites[at]);
        let mut terms = Vec::new();
        let mut shared = false;
        for at in index.writes_for(reader.access, &reader.regions) {
            let writer = &self.sites[at];
            let (own, other) = who.pair(reader.function, writer.function);
            let place = writer.access.place;
            if own {
                terms.push(Term { source: Source::Own(place), struck: None });
            }
            if other {
                shared = true;
                let alone = !reader.access.created && !who.created_before(reader.function);
                let struck =
                    if alone { Some(Strike::Alone) } else { exclusion(reader.access, writer.access) };
                terms.push(Term { source: Source::Other(place), struck });
            }
        }
        if !shared {
            return None;
        }
        let own = reader.access.locks.iter().find(|held| held.own);
        let struck = own.map(|held| Strike::AfterOwn { lock: held.lock.clone() });
        terms.push(Term { source: Source::Initial, struck });
        if index.unseen(&reader.regions) {
            terms.push(Term { source: Source::Unseen, struck: None });
        }
        terms.sort_by_key(|term| term.source);
        terms.dedup_by_key(|term| term.source);
        let Access { place, address, size, .. } = reader.access;
        Some(Row { function: reader.function, place: *place, address: address.clone(), size: *size, terms })
    }
}

fn index_of<'a>(
    code: &'a Code,
    regions: &Rc<Regions>,
    sites: &[Site<'_>],
    wanted: &dyn Fn(u64) -> bool,
) -> alias::Index<'a> {
    let accesses = sites.iter().map(|site| (site.access, site.regions.as_slice()));
    alias::Index::of(code, regions, accesses, wanted)
}

/// Places of writes that are made before there is a second strand, whenever they are made: what they leave is the value that strands begin with.
pub fn before_strands(code: &Code) -> BTreeSet<u64> {
    let who = Who::of(code);
    let early = |function: usize, access: &Access| {
        access.kind.writes() && !access.created && !who.created_before(function)
    };
    code.accesses().filter(|(at, access)| early(*at, access)).map(|(_, access)| access.place).collect()
}

/// Which accesses depend on each other, of strands that may be two: one writes what the other reads or writes. By groups: `group` says which group a place is in.
///
/// Locks make no difference here: accesses that a lock keeps apart depend on each other all the same.
pub fn dependence(code: &Code, group: &mut dyn FnMut(u64) -> u32) -> BTreeSet<(u32, u32)> {
    let who = Who::of(code);
    let regions = Rc::new(Regions::of(code));
    let sites: Vec<Site<'_>> = code
        .accesses()
        .filter(|(function, access)| who.runs(*function) && (access.created || who.created_before(*function)))
        .map(|(function, access)| Site {
            function,
            access,
            regions: regions.of_access(code, function, access),
        })
        .collect();
    let groups: Vec<u32> = sites.iter().map(|site| group(site.access.place)).collect();
    let index = index_of(code, &regions, &sites, &|_| true);
    let mut found = BTreeSet::new();
    let mut asked = BTreeSet::new();
    for (at, site) in sites.iter().enumerate() {
        // Accesses behind pointers are many, and all alike.
        if !asked.insert((groups[at], site.function, &site.regions, site.access.size)) {
            continue;
        }
        for writer in index.writes_for(site.access, &site.regions) {
            let pair = (groups[at].min(groups[writer]), groups[at].max(groups[writer]));
            if !found.contains(&pair) && who.pair(site.function, sites[writer].function).1 {
                found.insert(pair);
            }
        }
    }
    found
}

struct Site<'a> {
    function: usize,
    access: &'a Access,
    regions: Vec<regions::Region>,
}

/// Why mutual exclusion keeps a read from a write of another strand.
fn exclusion(read: &Access, write: &Access) -> Option<Strike> {
    for theirs in &write.locks {
        for ours in &read.locks {
            if (theirs.shared && ours.shared) || !same_lock(read, ours, write, theirs) {
                continue;
            }
            if ours.own {
                return Some(Strike::AfterOwn { lock: ours.lock.clone() });
            }
            if theirs.hidden && covers(write.size, read.size) {
                return Some(Strike::Hidden { lock: theirs.lock.clone() });
            }
        }
    }
    None
}

/// Whether what hides a write hides all of it that a read could see: the later write has at least the bytes of the earlier one.
fn covers(write: Size, read: Size) -> bool {
    matches!((write, read), (Size::Bytes(_), Size::Bytes(_)))
}

/// Whether two strands surely mean one lock, if the one reads what the other writes.
fn same_lock(read: &Access, ours: &Held, write: &Access, theirs: &Held) -> bool {
    let fixed =
        |held: &Held| held.lock.stride == 0 && matches!(held.lock.root, Root::Global | Root::Import(_));
    if fixed(ours) && fixed(theirs) {
        return ours.lock == theirs.lock;
    }
    // Both lie at the same distance from the bytes in question, and those are the same bytes.
    let whole = |size: Size| matches!(size, Size::Bytes(1 | 2 | 4 | 8 | 16));
    read.size == write.size && whole(read.size) && ours.distance.is_some() && ours.distance == theirs.distance
}
