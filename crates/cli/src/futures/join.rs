//! The table from what the code says and what runs saw.

use super::road::Scout;
use super::table::{Row, Site, State, Table, Term, Whose, add};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use threadbare_code::reach::Roads;
use threadbare_code::terms::{self, Strike, Terms};
use threadbare_code::{Address, Code, Names, Root, Size, What};
use threadbare_explore::futures::{Found, Origin, Pair};
use threadbare_findings::places::{chain, shown};
use threadbare_findings::{Place, Places, SymbolPlaces};
use threadbare_report::branches::Branch;
use threadbare_trace::report::Module;

/// Terms of reads that no run made, if each is asked about every write: with more, these reads are counted and not listed.
const LARGE: usize = 1 << 20;
/// Writes that no run made, of one read; the rest is counted.
const UNMADE: usize = 256;

/// What is known of a program.
struct Program<'a> {
    found: &'a Found,
    places: SymbolPlaces,
    names: Names,
    code: &'a Code,
    /// Where the program's addresses count from, and how many there are.
    base: u64,
    size: u64,
    /// Sites of each instruction.
    by_pc: BTreeMap<u64, Vec<u64>>,
    /// Places of writes that are made before there is a second strand.
    early: BTreeSet<u64>,
    known: std::cell::RefCell<HashMap<u64, (Site, Option<u32>)>>,
}

impl Program<'_> {
    /// The source of a site, or of an instruction that no run made: the innermost code of the program's own.
    fn site(&self, site: u64) -> (Site, Option<u32>) {
        if let Some(known) = self.known.borrow().get(&site) {
            return known.clone();
        }
        let [pc, callers @ ..] = self.found.sites.get(&site).copied().unwrap_or([site, 0, 0, 0]);
        let callers: Vec<u64> = callers.into_iter().filter(|&caller| caller != 0).collect();
        let frames = chain(&self.places, pc, &callers);
        let place = shown(&frames).cloned().unwrap_or_default();
        let library = place.library || place.file.is_none();
        let column = place.column;
        let text =
            place.file.as_deref().zip(place.line).and_then(|(file, line)| self.places.source(file, line));
        let made = Site {
            file: place.file.unwrap_or_else(|| place.address.clone()),
            line: place.line.unwrap_or(0),
            function: place.function.unwrap_or_default(),
            text: text.map_or_else(String::new, |text| text.trim().to_owned()),
            library,
        };
        self.known.borrow_mut().insert(site, (made.clone(), column));
        (made, column)
    }

    /// The place in the program's file of a site.
    fn linked(&self, site: u64) -> Option<u64> {
        let pc = self.found.sites.get(&site).map_or(site, |[pc, ..]| *pc);
        let offset = pc.wrapping_sub(self.base);
        (offset < self.size).then_some(offset)
    }

    /// The sites of a place in the file; where no run came there, its instruction.
    fn sites_of(&self, place: u64) -> Vec<u64> {
        let pc = self.base.wrapping_add(place);
        self.by_pc.get(&pc).cloned().unwrap_or_else(|| vec![pc])
    }

    fn variable(&self, site: u64, addr: Option<(u64, u64)>) -> Option<String> {
        let by_run = || addr.and_then(|(addr, size)| self.places.variable(addr, size));
        let by_code = || {
            let (function, accesses) = self.code.at(self.linked(site)?)?;
            let read = accesses.iter().find(|access| access.kind.reads())?;
            self.names.address(self.code, function, &read.address, read.size)
        };
        // A parameter of a library's function says nothing.
        let by_code = || if self.is_own(site) { by_code() } else { None };
        by_code().or_else(by_run)
    }

    /// Whether the access is in the program's own code, not in a library's that it calls.
    fn is_own(&self, site: u64) -> bool {
        let pc = self.found.sites.get(&site).map_or(site, |[pc, ..]| *pc);
        self.places.at(pc).first().is_some_and(|place| !place.library)
    }

    /// Whether the write at a place is to a variable, and not behind a pointer.
    fn names_its_write(&self, place: u64) -> bool {
        let accesses = self.code.at(place).map(|(_, accesses)| accesses).unwrap_or_default();
        accesses.iter().any(|access| access.kind.writes() && matches!(access.address.root, Root::Global))
    }

    /// Whether the write at a site is to what the read of this name reads, by its name: the same variable, or the same field behind whatever pointer.
    fn names_the_same(&self, variable: Option<&str>, write: u64) -> bool {
        let names = |place: u64| {
            let (function, accesses) = self.code.at(place)?;
            let write = accesses.iter().find(|access| access.kind.writes())?;
            self.names.address(self.code, function, &write.address, write.size)
        };
        let written = self.linked(write).and_then(names);
        variable.zip(written).is_some_and(|(read, written)| field(read) == field(&written))
    }

    /// Whether accesses are those of an atomic's operation: its memory is nothing else in between.
    fn are_atomic(&self, sites: [u64; 2]) -> bool {
        let is = |site: &u64| {
            let pc = self.found.sites.get(site).map_or(*site, |[pc, ..]| *pc);
            let frames = self.places.at(pc);
            frames.first().and_then(|frame| frame.function.as_deref()).is_some_and(is_of_atomic)
        };
        sites.iter().all(is)
    }

    /// Whether a read is of a library's own affairs: in its code, of nothing that has a name of the program's.
    fn is_of_library(&self, site: u64, variable: Option<&str>) -> bool {
        let theirs = |name: &str| ["std::", "core::", "alloc::"].iter().any(|start| name.starts_with(start));
        variable.map_or_else(|| !self.is_for_program(site), theirs)
    }

    /// Whether the access is in the program's own code, or in functions of a library that work on what the program gave them.
    fn is_for_program(&self, site: u64) -> bool {
        let [pc, callers @ ..] = self.found.sites.get(&site).copied().unwrap_or([site, 0, 0, 0]);
        let callers: Vec<u64> = callers.into_iter().filter(|&caller| caller != 0).collect();
        let frames = chain(&self.places, pc, &callers);
        let own = frames.iter().position(|frame| !frame.library && frame.file.is_some());
        let ours = |frame: &Place| frame.function.as_deref().is_some_and(is_for_caller);
        own.is_some_and(|own| frames[..own].iter().all(ours))
    }

    /// Functions of the program's own that write and have no instrumentation.
    fn uninstrumented(&self) -> Vec<String> {
        let gaps = self.code.gaps.iter().filter(|gap| gap.what == What::Uninstrumented);
        let own = |start: u64| {
            let function = &self.code.functions[self.code.function_at(start)?];
            let frames = self.places.at(self.base.wrapping_add(start + 1));
            let place = frames.last();
            // Without a file it is assembly, or a part of a library that was linked in.
            let known = place.is_some_and(|place| place.file.is_some());
            let plain = !["_", "core::", "std::"].iter().any(|start| function.name.starts_with(start));
            (!place.is_some_and(|place| place.library) && (known || plain)).then(|| function.shown())
        };
        gaps.filter_map(|gap| own(gap.at)).collect()
    }

    /// Accesses of the program's file that runs made of memory that strands share, and how many of their addresses the code tells.
    fn addresses(&self) -> (usize, usize) {
        let touched = self.found.touched.keys().filter_map(|&site| self.linked(site));
        let places: BTreeSet<u64> = touched.filter(|&place| self.code.at(place).is_some()).collect();
        let known = |place: &&u64| {
            let accesses = self.code.at(**place).map(|(_, accesses)| accesses).unwrap_or_default();
            accesses.iter().all(|access| access.address.is_known())
        };
        (places.len(), places.iter().filter(known).count())
    }

    /// A strike in words.
    fn reason(&self, strike: &Strike, reader: usize, writer: Option<u64>) -> String {
        let lock = |lock: &Address, function: Option<usize>| {
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

    /// Whether a read that no run made may see a write that runs made.
    fn matters(&self, row: Option<&terms::Row>) -> bool {
        let other = |term: &terms::Term| matches!(term.source, terms::Source::Other(_));
        row.is_some_and(|row| row.possible().any(other))
    }

    /// The places of accesses that runs made.
    fn made(&self) -> BTreeSet<u64> {
        self.by_pc.keys().map(|pc| pc.wrapping_sub(self.base)).filter(|place| *place < self.size).collect()
    }

    /// Who says whether the strand of a site makes its access on every way through the program.
    fn surely<'a>(&'a self, path: &'a Path) -> impl FnMut(u64) -> bool + 'a {
        let mut roads: Option<Roads<'_>> = None;
        move |site| {
            if roads.is_none() {
                roads = Roads::of(path, self.code, BTreeSet::new()).ok();
            }
            roads.as_mut().is_some_and(|roads| self.is_on_every_way(site, roads))
        }
    }

    /// Whether no branch leads past an access, nor past the calls of the program's own that lead there.
    fn is_on_every_way(&self, site: u64, roads: &mut Roads<'_>) -> bool {
        let frames = self.found.sites.get(&site).copied().unwrap_or([site, 0, 0, 0]);
        let mut own = false;
        // The frame behind the last one that is told may have others behind it.
        let whole = frames.contains(&0);
        for pc in frames.into_iter().filter(|&pc| pc != 0) {
            let offset = pc.wrapping_sub(self.base);
            let library = self.places.at(pc).last().is_none_or(|place| place.library);
            if library || offset >= self.size {
                // A library's function makes the access for its caller, or calls what the strand begins with.
                if own {
                    return true;
                }
                continue;
            }
            own = true;
            if !roads.is_on_every_way(offset) {
                return false;
            }
            let begins =
                |at: usize| self.code.entries.contains(&at) || self.code.function_named("main") == Some(at);
            if self.code.function_at(offset.wrapping_sub(1)).is_some_and(begins) {
                return true;
            }
        }
        own && whole
    }

    /// Whether runs part a read from a write: other memory, or never the strands that it takes.
    fn parts(&self, read: u64, write: u64, whose: Whose) -> bool {
        let touched = |site: u64| self.found.touched.get(&site);
        let (Some(reader), Some(writer)) = (touched(read), touched(write)) else { return false };
        let (one, two) = reader.is_of_one_and_two(writer);
        let fits = if whose == Whose::Own { one } else { two };
        !fits || reader.is_apart_from(writer)
    }
}

/// The last part of a variable's name: the field, or the variable.
fn field(name: &str) -> &str {
    let name = name.split('[').next().unwrap_or(name);
    name.rsplit(['.', '>', '*', ':']).next().unwrap_or(name)
}

fn is_of_atomic(function: &str) -> bool {
    const ATOMIC: [&str; 4] = ["core::sync::atomic::", "std::__atomic_", "std::atomic<", "std::atomic_"];
    ATOMIC.iter().any(|module| function.trim_start_matches('<').starts_with(module))
}

/// Whether a function of a library works on what its caller gave it, and keeps nothing of its own beside: atomics, cells, options, vectors; not locks and counted references.
fn is_for_caller(function: &str) -> bool {
    const MODULES: [&str; 9] = [
        "core::",
        "alloc::boxed::",
        "alloc::collections::",
        "alloc::string::",
        "alloc::vec::",
        "std::__atomic_base<",
        "std::__atomic_impl::",
        "std::atomic<",
        "std::atomic_",
    ];
    let is_in = |name: &str| MODULES.iter().any(|module| name.starts_with(module));
    // `<usize as core::slice::index::SliceIndex<[T]>>::index`
    let (of, by) = match function.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) {
        Some((of, by)) => (of.trim_start_matches('&'), by),
        None => return is_in(function.trim_start_matches('<')),
    };
    is_in(of) || !of.contains("::") && is_in(by)
}

/// What a run saw, as the table has it.
fn of_origin(origin: Origin) -> (Whose, Option<u64>) {
    match origin {
        Origin::Own(site) => (Whose::Own, Some(site)),
        Origin::Other(site) => (Whose::Other, Some(site)),
        Origin::Initial => (Whose::Initial, None),
        Origin::Unseen => (Whose::Unseen, None),
    }
}

impl Table {
    /// Joins what the code says with what runs saw.
    pub(crate) fn of(found: &Found, modules: &[Module], path: &Path, code: &Code) -> Table {
        let (base, size) = modules.first().map_or((0, 0), |module| (module.base, module.size));
        let mut by_pc: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (&site, [pc, ..]) in &found.sites {
            by_pc.entry(*pc).or_default().push(site);
        }
        let program = Program {
            found,
            places: SymbolPlaces::new(modules, path),
            names: Names::of(path),
            code,
            base,
            size,
            by_pc,
            early: terms::before_strands(code),
            known: Default::default(),
        };
        let all = Terms::of(code);
        let mut seen: BTreeMap<u64, Vec<(Origin, &Pair)>> = BTreeMap::new();
        for ((site, origin), pair) in &found.pairs {
            seen.entry(*site).or_default().push((*origin, pair));
        }
        let made: BTreeSet<u64> = program.made();
        let made = all.only(&made);
        let matter = all.places().filter(|&place| program.matters(all.row_among(place, &made).as_ref()));
        let matter: Vec<u64> = matter.collect();
        // Those of a large program are counted.
        let large = matter.len().saturating_mul(all.writes()) > LARGE;
        let listed = if large { &[][..] } else { &matter[..] };
        // Those that runs made come first.
        let unmade = listed.iter().flat_map(|&place| program.sites_of(place));
        let unmade: BTreeSet<u64> = unmade.filter(|site| !seen.contains_key(site)).collect();
        let sites: Vec<u64> = seen.keys().copied().chain(unmade).collect();
        let mut table = Table { runs: found.runs, cut: found.cut, ..Table::default() };
        let mut rows: BTreeMap<(Site, Option<String>), Row> = BTreeMap::new();
        for site in sites {
            let saw = seen.get(&site).map(Vec::as_slice).unwrap_or_default();
            let (read, column) = program.site(site);
            let variable = program.variable(site, saw.first().map(|(_, pair)| (pair.addr, pair.size)));
            if read.library || program.is_of_library(site, variable.as_deref()) {
                table.library_reads += usize::from(!saw.is_empty());
                continue;
            }
            // Of memory without a name, code that no run made says nothing of what was read on its line.
            let key = (read.clone(), variable.clone());
            if saw.is_empty() && variable.is_none() && rows.get(&key).is_some_and(|row| row.reached) {
                continue;
            }
            let row = program.linked(site).and_then(|place| all.row(place));
            let row = row.as_ref();
            // Of a function that makes accesses for anybody, the code alone does not say what is shared.
            let row_says = variable.is_some() || program.is_own(site) || row.is_some();
            let mut terms = table.seen_terms(&program, site, saw, row, row_says);
            table.add_possible(&program, site, variable.as_deref(), row, &mut terms);
            let entry = rows.entry(key).or_insert_with(|| Row {
                read,
                columns: BTreeSet::new(),
                variable,
                reached: false,
                branches: Vec::new(),
                terms: Vec::new(),
                sites: Vec::new(),
            });
            entry.columns.extend(column);
            entry.reached |= !saw.is_empty();
            entry.sites.push(site);
            for term in terms {
                add(&mut entry.terms, term);
            }
        }
        // What nobody else writes is not shared.
        let shared =
            |row: &Row| row.terms.iter().any(|term| matches!(term.whose, Whose::Other | Whose::Unseen));
        table.reads = rows.into_values().filter(shared).collect();
        table.unshared = table.reads.iter().filter(|row| !row.reached).count();
        table.unshared += matter.len() - listed.len();
        for row in &mut table.reads {
            row.terms.sort_by(|a, b| (a.whose, &a.write).cmp(&(b.whose, &b.write)));
        }
        table.strike_by_order(found, &program.places, &mut program.surely(path));
        table.add_branches(&program, path);
        table.uninstrumented = program.uninstrumented();
        (table.shared, table.known) = program.addresses();
        table
    }

    /// Adds what must be so for writes and reads to be made that no run made.
    fn add_branches(&mut self, program: &Program<'_>, path: &Path) {
        let unmade = |row: &Row| {
            !row.reached || row.terms.iter().any(|term| term.state == State::Possible { written: false })
        };
        if !self.reads.iter().any(unmade) {
            return;
        }
        let reached = &program.found.reached;
        let scout = Scout::of(path, program.code, &program.places, program.base, reached);
        let Some(mut scout) = scout else { return };
        let mut known: HashMap<Vec<u64>, Vec<Branch>> = HashMap::new();
        let mut to = |sites: &Vec<u64>| {
            let linked = || sites.iter().filter_map(|&site| program.linked(site));
            known.entry(sites.clone()).or_insert_with(|| scout.to(linked())).clone()
        };
        for row in &mut self.reads {
            if !row.reached {
                row.branches = to(&row.sites);
            }
            for term in &mut row.terms {
                if term.state == (State::Possible { written: false }) {
                    term.branches = to(&term.sites);
                }
            }
        }
    }

    fn seen_terms(
        &mut self,
        program: &Program<'_>,
        site: u64,
        saw: &[(Origin, &Pair)],
        row: Option<&terms::Row>,
        row_says: bool,
    ) -> Vec<Term> {
        let mut list = Vec::new();
        for (origin, pair) in saw {
            let (whose, write) = of_origin(*origin);
            let Pair { runs, failed, stale, .. } = (*pair).clone();
            let state = State::Seen { runs, failed, stale };
            let (write, sites) = (write.map(|site| program.site(site).0), write.into_iter().collect());
            add(&mut list, Term::new(whose, write, state, sites));
            if row_says {
                self.compare(program, site, *origin, row);
            }
        }
        list
    }

    /// Adds what the code says may be.
    fn add_possible(
        &mut self,
        program: &Program<'_>,
        read: u64,
        variable: Option<&str>,
        row: Option<&terms::Row>,
        list: &mut Vec<Term>,
    ) {
        let Some(row) = row else { return };
        let named = variable.is_some();
        let mut unmade = 0;
        for term in &row.terms {
            let (whose, place) = match term.source {
                terms::Source::Own(place) => (Whose::Own, Some(place)),
                terms::Source::Other(place) => (Whose::Other, Some(place)),
                terms::Source::Initial => (Whose::Initial, None),
                terms::Source::Unseen => (Whose::Unseen, None),
            };
            let state = |written: bool| match &term.struck {
                Some(strike) => {
                    State::StruckOut { reason: program.reason(strike, row.function, place), certain: true }
                }
                None => State::Possible { written },
            };
            let Some(place) = place else {
                let known = list.iter().any(|term| term.whose == whose);
                // Code without instrumentation may write nearly everything: it is told where a run saw it.
                match whose {
                    Whose::Unseen => self.unseen += usize::from(!known),
                    _ if known => {}
                    _ => list.push(Term::new(whose, None, state(true), Vec::new())),
                }
                continue;
            };
            // What is written before there is a second strand is the initial value.
            if program.early.contains(&place) {
                continue;
            }
            for site in program.sites_of(place) {
                let made = program.found.touched.contains_key(&site);
                unmade += usize::from(!made);
                if !made && unmade > UNMADE {
                    self.unlisted += 1;
                    continue;
                }
                let known = |term: &Term| term.whose == whose && term.sites.contains(&site);
                let (source, _) = program.site(site);
                if list.iter().any(known) || source.library {
                    continue;
                }
                // What a library's function reads, for whom soever, may be written anywhere; of a variable that both name it may not.
                let exact =
                    named && matches!(row.address.root, Root::Global) && program.names_its_write(place);
                let sure = program.is_own(read)
                    || made && (named || program.are_atomic([read, site]))
                    || !made && exact;
                if program.parts(read, site, whose) || !sure {
                    self.apart += 1;
                    continue;
                }
                let after = program.found.touched.contains_key(&read) && made && whose == Whose::Own;
                let state = match state(made) {
                    State::Possible { .. } if after && !program.found.after_own.contains(&(read, site)) => {
                        State::StruckOut {
                            reason: "in all runs a strand writes only after the read".to_owned(),
                            certain: true,
                        }
                    }
                    state => state,
                };
                let named = program.names_the_same(variable, site);
                add(list, Term { named, ..Term::new(whose, Some(source), state, vec![site]) });
            }
        }
    }

    /// Whether the code has what a run saw.
    fn compare(&mut self, program: &Program<'_>, site: u64, origin: Origin, row: Option<&terms::Row>) {
        let source = match origin {
            Origin::Own(site) => program.linked(site).map(terms::Source::Own),
            Origin::Other(site) => program.linked(site).map(terms::Source::Other),
            Origin::Initial => Some(terms::Source::Initial),
            Origin::Unseen => Some(terms::Source::Unseen),
        };
        let (Some(read), Some(source)) = (program.linked(site), source) else { return };
        // A call that reads or writes for the program, such as `write` or `read`, is no access in its code.
        if program.code.at(read).is_none() {
            return;
        }
        if let terms::Source::Own(place) | terms::Source::Other(place) = source
            && program.code.at(place).is_none()
        {
            return;
        }
        let complaint = match row {
            None => {
                matches!(origin, Origin::Other(_)).then_some("the read is not taken for one of shared data")
            }
            Some(row) => match row.terms.iter().find(|term| term.source == source) {
                Some(term) => term.struck.is_some().then_some("struck out"),
                // Whether unseen code wrote is not for the code to say.
                None => matches!(origin, Origin::Own(_) | Origin::Other(_)).then_some("not in the table"),
            },
        };
        if let Some(complaint) = complaint {
            let read = program.site(site).0.short();
            let (whose, write) = of_origin(origin);
            let write = write.map_or(format!("{whose:?}"), |write| program.site(write).0.short());
            self.contradictions.push(format!("{read} <- {write}: {complaint}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_for_the_caller() {
        for name in [
            "core::sync::atomic::AtomicUsize::load",
            "core::option::Option<T>::as_ref",
            "<usize as core::slice::index::SliceIndex<[T]>>::index",
            "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index",
            "std::__atomic_base<int>::load",
        ] {
            assert!(is_for_caller(name), "{name}");
        }
        for name in [
            "alloc::sync::Arc<T>::drop_slow",
            "<alloc::sync::Arc<T> as core::ops::drop::Drop>::drop",
            "std::sync::poison::mutex::Mutex<T>::lock",
            "std::mutex::lock",
        ] {
            assert!(!is_for_caller(name), "{name}");
        }
    }
}
