//! The table from what the code says and what runs saw.

use super::program::{Copy, Program, Variable, common_name};
use super::road::Scout;
use super::table::{Row, Site, State, Table, Term, Whose, add};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use threadbare_code::terms::{self, Terms};
use threadbare_code::{Code, Root};
use threadbare_explore::futures::{Found, Origin, Pair};
use threadbare_report::branches::Branch;
use threadbare_trace::report::Module;

/// Terms of reads that no run made, if each is asked about every write: with more, these reads are counted and not listed.
const LARGE: usize = 1 << 20;
/// Writes that no run made, of one read; the rest is counted.
const UNMADE: usize = 256;

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
        let program = Program::of(found, modules, path, code);
        let all = Terms::of(code);
        let mut seen: BTreeMap<u64, Vec<(Origin, &Pair)>> = BTreeMap::new();
        for ((site, origin), pair) in &found.pairs {
            seen.entry(*site).or_default().push((*origin, pair));
        }
        let made: BTreeSet<u64> = program.made_places();
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
        let variable = |site: &u64| {
            let pair = seen.get(site).and_then(|saw| saw.first());
            program.variable(*site, pair.map(|(_, pair)| (pair.addr, pair.size)))
        };
        let variables: Vec<Option<Variable>> = sites.iter().map(variable).collect();
        let mut copies: BTreeMap<(Site, Option<u32>), Vec<Copy<'_>>> = BTreeMap::new();
        for (&site, variable) in sites.iter().zip(&variables).filter(|(site, _)| seen.contains_key(site)) {
            let name = variable.as_ref().map(|variable| variable.name.as_str());
            let function = program.linked(site).and_then(|place| code.function_at(place));
            let copy = Copy { name, function, own: program.is_own(site) };
            copies.entry(program.site(site)).or_default().push(copy);
        }
        let common: BTreeMap<(Site, Option<u32>), String> =
            copies.into_iter().filter_map(|(place, copies)| Some((place, common_name(&copies)?))).collect();
        for (site, variable) in sites.into_iter().zip(variables) {
            let saw = seen.get(&site).map(Vec::as_slice).unwrap_or_default();
            let (read, column) = program.site(site);
            if read.library || program.is_of_library(site, variable.as_ref()) {
                table.library_reads += usize::from(!saw.is_empty());
                continue;
            }
            let certain = variable.as_ref().is_some_and(|variable| variable.certain);
            let variable = match common.get(&(read.clone(), column)) {
                Some(name) if column.is_some() => Some(name.clone()),
                _ => variable.map(|variable| variable.name),
            };
            // Of memory without a name, code that no run made says nothing of what was read on its line.
            let key = (read.clone(), variable.clone());
            if saw.is_empty() && variable.is_none() && rows.get(&key).is_some_and(|row| row.reached) {
                continue;
            }
            let row = program.linked(site).and_then(|place| all.row(place));
            let row = row.as_ref();
            // Of a function that makes accesses for anybody, the code alone does not say what is shared.
            let row_says = certain || program.is_own(site) || row.is_some();
            let mut terms = table.seen_terms(&program, site, saw, row, row_says);
            table.add_possible(&program, site, (variable.as_deref(), certain), row, &mut terms);
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
        (variable, named): (Option<&str>, bool),
        row: Option<&terms::Row>,
        list: &mut Vec<Term>,
    ) {
        let Some(row) = row else { return };
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
                // Of a line that runs made, what another copy of its code would do is no more than a guess.
                let named = program.names_the_same(variable, site) && (made || !program.is_made(&source));
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
