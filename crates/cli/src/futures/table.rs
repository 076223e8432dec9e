//! The table: each read of shared data with its terms, the writes that may reach it.
//!
//! The code says what may be (`threadbare_code::terms`), runs say what was. A pair that a run has seen is in the table whatever the code
//! says; one that the code struck out and a run saw all the same is told apart ([`Table::contradictions`]), since one of the two is wrong then.
//! Where both a read and a write were made, and never at the same address, they are taken for accesses to different objects.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use threadbare_code::terms::{self, Strike};
use threadbare_code::{Code, Names, Size};
use threadbare_explore::futures::{Found, Origin};
use threadbare_findings::places::shown;
use threadbare_findings::{Places, SymbolPlaces};
use threadbare_report::choices::Came;
use threadbare_trace::report::Module;

/// Whose write a read sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Whose {
    /// The reading strand's.
    Own,
    /// Another strand's.
    Other,
    /// What was there from the beginning.
    Initial,
    /// Of code that is not instrumented.
    Unseen,
}

/// What is known of a term.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub(crate) enum State {
    /// Runs have seen it.
    Seen {
        /// So many.
        runs: u64,
        /// Of which so many failed.
        failed: u64,
    },
    /// It may be, and no run has seen it. Whether the write was made in any.
    Possible {
        /// Whether the write was made in any.
        written: bool,
    },
    /// No run can have it.
    StruckOut {
        /// Why.
        reason: String,
    },
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
pub(crate) struct Site {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) function: String,
    /// The code is the language's or the system's library.
    #[serde(skip)]
    pub(crate) library: bool,
}

impl Site {
    /// The place as users write it.
    pub(crate) fn short(&self) -> String {
        let name = Path::new(&self.file).file_name().unwrap_or_default().to_string_lossy();
        if self.line == 0 { name.into_owned() } else { format!("{name}:{}", self.line) }
    }
}

/// A value that a read may see.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Term {
    pub(crate) whose: Whose,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) write: Option<Site>,
    #[serde(flatten)]
    pub(crate) state: State,
    /// What came of it, if it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tried: Option<Tried>,
    /// Instructions of the write.
    #[serde(skip)]
    pub(crate) pcs: Vec<u64>,
}

/// What came of a term that was tried.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Tried {
    #[serde(flatten)]
    pub(crate) came: Came,
    /// What failed in the first run that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) finding: Option<String>,
}

/// A read.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) read: Site,
    /// Columns of the line, where debug info has them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) columns: BTreeSet<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) variable: Option<String>,
    /// Whether a run made it.
    pub(crate) reached: bool,
    pub(crate) terms: Vec<Term>,
    #[serde(skip)]
    pub(crate) pcs: Vec<u64>,
}

/// All reads of shared data.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Table {
    pub(crate) runs: u64,
    pub(crate) reads: Vec<Row>,
    /// Reads that no run made of memory that strands shared.
    pub(crate) unshared: usize,
    /// Reads in libraries, which are not told.
    pub(crate) library_reads: usize,
    /// Terms of accesses that were made, and never to the same memory, or by the strands that it takes.
    pub(crate) apart: usize,
    /// Reads that code without instrumentation may have written for, and was not seen to.
    pub(crate) unseen: usize,
    /// Pairs that runs saw and the code denies.
    pub(crate) contradictions: Vec<String>,
}

/// Names of things in the program.
struct Namer<'a> {
    places: SymbolPlaces,
    names: Names,
    code: &'a Code,
    /// Where the program's addresses count from, and its end.
    base: u64,
    size: u64,
    sites: std::cell::RefCell<HashMap<u64, (Site, Option<u32>)>>,
}

impl Namer<'_> {
    fn site(&self, pc: u64) -> (Site, Option<u32>) {
        if let Some(known) = self.sites.borrow().get(&pc) {
            return known.clone();
        }
        let frames = self.places.at(pc);
        let place = shown(&frames).cloned().unwrap_or_default();
        let library = place.library || place.file.is_none();
        let site = Site {
            file: place.file.unwrap_or_else(|| place.address.clone()),
            line: place.line.unwrap_or(0),
            function: place.function.unwrap_or_default(),
            library,
        };
        let made = (site, place.column);
        self.sites.borrow_mut().insert(pc, made.clone());
        made
    }

    /// The place in the file of an instruction of a run.
    fn linked(&self, pc: u64) -> Option<u64> {
        let offset = pc.wrapping_sub(self.base);
        (offset < self.size).then_some(offset)
    }

    fn variable(&self, pc: u64, addr: Option<(u64, u64)>) -> Option<String> {
        let by_run = || addr.and_then(|(addr, size)| self.places.variable(addr, size));
        let by_code = || {
            let (function, accesses) = self.code.at(self.linked(pc)?)?;
            let read = accesses.iter().find(|access| access.kind.reads())?;
            self.names.address(self.code, function, &read.address, read.size)
        };
        by_code().or_else(by_run)
    }

    /// A strike in words.
    fn reason(&self, strike: &Strike, reader: usize, writer: Option<u64>) -> String {
        let lock = |lock: &threadbare_code::Address, function: Option<usize>| {
            let name = function.and_then(|at| self.names.address(self.code, at, lock, Size::Bytes(1)));
            name.map_or("the lock".to_owned(), |name| format!("`{name}`"))
        };
        match strike {
            Strike::Hidden { lock: held } => {
                let function = writer.and_then(|place| self.code.at(place)).map(|(at, _)| at);
                format!("a later write in the same section of {} hides it", lock(held, function))
            }
            Strike::AfterOwn { lock: held } => {
                format!("the read follows a write of its own in its section of {}", lock(held, Some(reader)))
            }
            Strike::Alone => "there is no other strand yet".to_owned(),
        }
    }
}

impl Table {
    /// Joins what the code says with what runs saw.
    pub(crate) fn of(found: &Found, modules: &[Module], program: &Path, code: &Code) -> Table {
        let (base, size) = modules.first().map_or((0, 0), |module| (module.base, module.size));
        let namer = Namer {
            places: SymbolPlaces::new(modules, program),
            names: Names::of(program),
            code,
            base,
            size,
            sites: Default::default(),
        };
        let by_code: BTreeMap<u64, terms::Row> =
            terms::table(code).into_iter().map(|row| (row.place, row)).collect();
        let early = terms::before_strands(code);
        let mut seen: BTreeMap<u64, Vec<(Origin, u64, u64, (u64, u64))>> = BTreeMap::new();
        for (&(pc, origin), pair) in &found.pairs {
            let entry = (origin, pair.runs, pair.failed, (pair.addr, pair.size));
            seen.entry(pc).or_default().push(entry);
        }
        let mut table = Table { runs: found.runs, ..Table::default() };
        let linked: BTreeMap<u64, u64> =
            by_code.keys().map(|place| (base.wrapping_add(*place), *place)).collect();
        let pcs: BTreeSet<u64> = seen.keys().chain(linked.keys()).copied().collect();
        let mut rows: BTreeMap<(Site, Option<String>), Row> = BTreeMap::new();
        for pc in pcs {
            let saw = seen.get(&pc).map(Vec::as_slice).unwrap_or_default();
            let row = linked.get(&pc).and_then(|place| by_code.get(place));
            let reached = !saw.is_empty();
            let (read, column) = namer.site(pc);
            if read.library {
                table.library_reads += usize::from(reached);
                continue;
            }
            if !reached && !row.is_some_and(|row| matters(row, found, base)) {
                continue;
            }
            let variable = namer.variable(pc, saw.first().map(|(.., addr)| *addr));
            let mut terms = table.terms_of(&namer, found, &early, pc, saw, row);
            let key = (read.clone(), variable.clone());
            let entry = rows.entry(key).or_insert_with(|| Row {
                read,
                columns: BTreeSet::new(),
                variable,
                reached: false,
                terms: Vec::new(),
                pcs: Vec::new(),
            });
            entry.columns.extend(column);
            entry.reached |= reached;
            entry.pcs.push(pc);
            for term in terms.drain(..) {
                add(&mut entry.terms, term);
            }
        }
        table.reads = rows.into_values().collect();
        table.unshared = table.reads.iter().filter(|row| !row.reached).count();
        for row in &mut table.reads {
            row.terms.sort_by(|a, b| (a.whose, &a.write).cmp(&(b.whose, &b.write)));
        }
        table
    }

    fn terms_of(
        &mut self,
        namer: &Namer<'_>,
        found: &Found,
        early: &BTreeSet<u64>,
        pc: u64,
        saw: &[(Origin, u64, u64, (u64, u64))],
        row: Option<&terms::Row>,
    ) -> Vec<Term> {
        let mut list: Vec<Term> = Vec::new();
        for &(origin, runs, failed, _) in saw {
            let (whose, write) = match origin {
                Origin::Own(pc) => (Whose::Own, Some(pc)),
                Origin::Other(pc) => (Whose::Other, Some(pc)),
                Origin::Initial => (Whose::Initial, None),
                Origin::Unseen => (Whose::Unseen, None),
            };
            let site = write.map(|pc| namer.site(pc).0);
            let state = State::Seen { runs, failed };
            add(&mut list, Term { whose, write: site, state, tried: None, pcs: write.into_iter().collect() });
            self.compare(namer, pc, origin, row);
        }
        let Some(row) = row else { return list };
        for term in &row.terms {
            let (whose, place) = match term.source {
                terms::Source::Own(place) => (Whose::Own, Some(place)),
                terms::Source::Other(place) => (Whose::Other, Some(place)),
                terms::Source::Initial => (Whose::Initial, None),
                terms::Source::Unseen => (Whose::Unseen, None),
            };
            // What is written before there is a second strand is the initial value.
            if place.is_some_and(|place| early.contains(&place)) {
                continue;
            }
            let write = place.map(|place| namer.base.wrapping_add(place));
            let site = write.map(|pc| namer.site(pc).0);
            let made = write.and_then(|pc| found.touched.get(&pc));
            let known =
                write.is_some_and(|pc| list.iter().any(|term| term.whose == whose && term.pcs.contains(&pc)));
            if known || write.is_none() && list.iter().any(|term| term.whose == whose) {
                continue;
            }
            let apart = match (found.touched.get(&pc), made) {
                (Some(reader), Some(writer)) => {
                    let (one, two) = reader.is_of_one_and_two(writer);
                    let fits = if whose == Whose::Own { one } else { two };
                    !fits || reader.is_apart_from(writer)
                }
                _ => false,
            };
            let state = match &term.struck {
                Some(strike) => State::StruckOut { reason: namer.reason(strike, row.function, place) },
                None => State::Possible { written: made.is_some() || write.is_none() },
            };
            // Code without instrumentation may write nearly everything: it is told where a run saw it.
            if whose == Whose::Unseen {
                self.unseen += 1;
                continue;
            }
            if apart || site.as_ref().is_some_and(|site| site.library) {
                self.apart += usize::from(apart);
                continue;
            }
            add(&mut list, Term { whose, write: site, state, tried: None, pcs: write.into_iter().collect() });
        }
        list
    }

    /// Whether the code has what a run saw.
    fn compare(&mut self, namer: &Namer<'_>, pc: u64, origin: Origin, row: Option<&terms::Row>) {
        let place = |pc: u64| namer.linked(pc);
        let source = match origin {
            Origin::Own(pc) => place(pc).map(terms::Source::Own),
            Origin::Other(pc) => place(pc).map(terms::Source::Other),
            Origin::Initial => Some(terms::Source::Initial),
            Origin::Unseen => Some(terms::Source::Unseen),
        };
        let (Some(_), Some(source)) = (place(pc), source) else { return };
        let others = matches!(origin, Origin::Other(_));
        let complaint = match row {
            None => others.then_some("the read is not taken for one of shared data"),
            Some(row) => match row.terms.iter().find(|term| term.source == source) {
                Some(term) if term.struck.is_some() => Some("struck out"),
                Some(_) => None,
                // Whether unseen code wrote is not for the code to say.
                None => matches!(origin, Origin::Own(_) | Origin::Other(_)).then_some("not in the table"),
            },
        };
        if let Some(complaint) = complaint {
            let read = namer.site(pc).0.short();
            let write = match origin {
                Origin::Own(pc) => format!("its own {}", namer.site(pc).0.short()),
                Origin::Other(pc) => namer.site(pc).0.short(),
                Origin::Initial => "initial".to_owned(),
                Origin::Unseen => "unseen".to_owned(),
            };
            self.contradictions.push(format!("{read} <- {write}: {complaint}"));
        }
    }
}

/// Whether a read that no run made is worth telling: it may see a write that runs made.
fn matters(row: &terms::Row, found: &Found, base: u64) -> bool {
    row.possible().any(|term| match term.source {
        terms::Source::Other(place) => found.touched.contains_key(&base.wrapping_add(place)),
        _ => false,
    })
}

/// Adds a term; one of the same place is the same.
fn add(list: &mut Vec<Term>, term: Term) {
    let same = |other: &&mut Term| other.whose == term.whose && other.write == term.write;
    let Some(other) = list.iter_mut().find(same) else { return list.push(term) };
    for pc in term.pcs {
        if !other.pcs.contains(&pc) {
            other.pcs.push(pc);
        }
    }
    other.state = match (other.state.clone(), term.state) {
        (State::Seen { runs, failed }, State::Seen { runs: more, failed: worse }) => {
            State::Seen { runs: runs.max(more), failed: failed.max(worse) }
        }
        (seen @ State::Seen { .. }, _) | (_, seen @ State::Seen { .. }) => seen,
        (State::Possible { written: a }, State::Possible { written: b }) => {
            State::Possible { written: a || b }
        }
        (possible @ State::Possible { .. }, _) | (_, possible @ State::Possible { .. }) => possible,
        (struck, _) => struck,
    };
}
