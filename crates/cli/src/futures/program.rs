//! What is known of a program: places in its source, what is accessed there by name, and what its code says of that.

use super::table::{Site, Whose};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use threadbare_code::reach::Roads;
use threadbare_code::terms::{self, Strike};
use threadbare_code::{Address, Code, Names, Root, Size, What};
use threadbare_explore::futures::Found;
use threadbare_findings::places::{chain, shown};
use threadbare_findings::{Place, Places, SymbolPlaces};
use threadbare_trace::report::Module;

/// How many bytes before an instruction without a line one is looked for.
const NEAR: u64 = 128;

/// What is known of a program.
pub(super) struct Program<'a> {
    pub(super) found: &'a Found,
    pub(super) places: SymbolPlaces,
    pub(super) names: Names,
    pub(super) code: &'a Code,
    /// Where the program's addresses count from, and how many there are.
    pub(super) base: u64,
    pub(super) size: u64,
    /// Sites of each instruction.
    pub(super) by_pc: BTreeMap<u64, Vec<u64>>,
    /// Places of writes that are made before there is a second strand.
    pub(super) early: BTreeSet<u64>,
    pub(super) known: std::cell::RefCell<HashMap<u64, (Site, Option<u32>)>>,
    /// Lines at which runs made accesses.
    pub(super) made: std::cell::OnceCell<BTreeSet<Site>>,
}

impl<'a> Program<'a> {
    pub(super) fn of(found: &'a Found, modules: &[Module], path: &Path, code: &'a Code) -> Program<'a> {
        let (base, size) = modules.first().map_or((0, 0), |module| (module.base, module.size));
        let mut by_pc: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (&site, [pc, ..]) in &found.sites {
            by_pc.entry(*pc).or_default().push(site);
        }
        Program {
            found,
            places: SymbolPlaces::new(modules, path),
            names: Names::of(path),
            code,
            base,
            size,
            by_pc,
            early: terms::before_strands(code),
            known: Default::default(),
            made: Default::default(),
        }
    }

    /// The source of a site, or of an instruction that no run made: the innermost code of the program's own.
    pub(super) fn site(&self, site: u64) -> (Site, Option<u32>) {
        if let Some(known) = self.known.borrow().get(&site) {
            return known.clone();
        }
        let [pc, callers @ ..] = self.found.sites.get(&site).copied().unwrap_or([site, 0, 0, 0]);
        let callers: Vec<u64> = callers.into_iter().filter(|&caller| caller != 0).collect();
        let frames = chain(&self.places, pc, &callers);
        let mut place = shown(&frames).cloned().unwrap_or_default();
        if place.line.is_none() {
            place.line = self.line_before(pc, &place);
        }
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

    /// The line of the nearest code before an instruction to which the compiler gave none.
    pub(super) fn line_before(&self, pc: u64, place: &Place) -> Option<u32> {
        let same = |other: &Place| other.file == place.file && other.function == place.function;
        let lines = |back: u64| self.places.at(pc.wrapping_sub(back)).into_iter().find(same)?.line;
        place.file.as_ref().and_then(|_| (1..=NEAR).find_map(lines))
    }

    /// The place in the program's file of a site.
    pub(super) fn linked(&self, site: u64) -> Option<u64> {
        self.linked_pc(self.found.sites.get(&site).map_or(site, |[pc, ..]| *pc))
    }

    pub(super) fn linked_pc(&self, pc: u64) -> Option<u64> {
        let offset = pc.wrapping_sub(self.base);
        (offset < self.size).then_some(offset)
    }

    /// The sites of a place in the file; where no run came there, its instruction.
    pub(super) fn sites_of(&self, place: u64) -> Vec<u64> {
        let pc = self.base.wrapping_add(place);
        self.by_pc.get(&pc).cloned().unwrap_or_else(|| vec![pc])
    }

    /// What is accessed, and where that is from.
    pub(super) fn variable(&self, site: u64, addr: Option<(u64, u64)>) -> Option<Variable> {
        let by_run = || addr.and_then(|(addr, size)| self.places.variable(addr, size));
        if self.is_own(site) {
            return self.by_code(site).or_else(by_run).map(|name| Variable { name, certain: true });
        }
        let by_run = by_run().map(|name| Variable { name, certain: true });
        by_run.or_else(|| self.by_code(site).map(|name| Variable { name, certain: false }))
    }

    /// What the code says of a read: in the words of the innermost function of the program's own, since a parameter of a library's function says
    /// nothing.
    pub(super) fn by_code(&self, site: u64) -> Option<String> {
        let [mut pc, callers @ ..] = self.found.sites.get(&site).copied().unwrap_or([site, 0, 0, 0]);
        let mut place = self.linked_pc(pc)?;
        let (mut function, accesses) = self.code.at(place)?;
        let access = accesses.iter().find(|access| access.kind.reads())?;
        let mut address = access.address.clone();
        let mut callers = callers.into_iter().filter(|&caller| caller != 0);
        // What begins at a variable is called so everywhere.
        let is_theirs = |pc: u64| self.places.at(pc).last().is_none_or(|outermost| outermost.library);
        while !address.is_of_variable() && is_theirs(pc) {
            pc = callers.next()?;
            place = self.linked_pc(pc)?;
            let (caller, call) = self.code.call_at(place)?;
            address = address.passed(&call.arguments)?;
            function = caller;
        }
        self.names.address_at(self.code, function, Some(place), &address, access.size)
    }

    /// Whether the access is in the program's own code, not in a library's that it calls.
    pub(super) fn is_own(&self, site: u64) -> bool {
        let pc = self.found.sites.get(&site).map_or(site, |[pc, ..]| *pc);
        self.places.at(pc).first().is_some_and(|place| !place.library)
    }

    /// Whether the write at a place is to a variable, and not behind a pointer.
    pub(super) fn names_its_write(&self, place: u64) -> bool {
        let accesses = self.code.at(place).map(|(_, accesses)| accesses).unwrap_or_default();
        accesses.iter().any(|access| access.kind.writes() && matches!(access.address.root, Root::Global))
    }

    /// Whether the write at a site is to what the read of this name reads, by its name: the same variable, or the same field behind whatever pointer.
    pub(super) fn names_the_same(&self, variable: Option<&str>, write: u64) -> bool {
        let names = |place: u64| {
            let (function, accesses) = self.code.at(place)?;
            let write = accesses.iter().find(|access| access.kind.writes())?;
            self.names.address(self.code, function, &write.address, write.size)
        };
        let written = self.linked(write).and_then(names);
        let fields = variable.and_then(field).zip(written.as_deref().and_then(field));
        fields.is_some_and(|(read, written)| read == written)
    }

    /// Whether runs made accesses of a line, by any of its copies.
    pub(super) fn is_made(&self, source: &Site) -> bool {
        let all = || self.found.touched.keys().map(|&site| self.site(site).0).collect();
        self.made.get_or_init(all).contains(source)
    }

    /// Whether accesses are those of an atomic's operation: its memory is nothing else in between.
    pub(super) fn are_atomic(&self, sites: [u64; 2]) -> bool {
        let is = |site: &u64| {
            let pc = self.found.sites.get(site).map_or(*site, |[pc, ..]| *pc);
            let frames = self.places.at(pc);
            frames.first().and_then(|frame| frame.function.as_deref()).is_some_and(is_of_atomic)
        };
        sites.iter().all(is)
    }

    /// Whether a read is of a library's own affairs: in its code, of nothing that has a name of the program's.
    pub(super) fn is_of_library(&self, site: u64, variable: Option<&Variable>) -> bool {
        let theirs =
            |it: &Variable| ["std::", "core::", "alloc::"].iter().any(|start| it.name.starts_with(start));
        variable.filter(|variable| variable.certain).map_or_else(|| !self.is_for_program(site), theirs)
    }

    /// Whether the access is in the program's own code, or in functions of a library that work on what the program gave them.
    pub(super) fn is_for_program(&self, site: u64) -> bool {
        let [pc, callers @ ..] = self.found.sites.get(&site).copied().unwrap_or([site, 0, 0, 0]);
        let callers: Vec<u64> = callers.into_iter().filter(|&caller| caller != 0).collect();
        let frames = chain(&self.places, pc, &callers);
        let own = frames.iter().position(|frame| !frame.library && frame.file.is_some());
        let ours = |frame: &Place| frame.function.as_deref().is_some_and(is_for_caller);
        own.is_some_and(|own| frames[..own].iter().all(ours))
    }

    /// Functions of the program's own that write and have no instrumentation.
    pub(super) fn uninstrumented(&self) -> Vec<String> {
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
    pub(super) fn addresses(&self) -> (usize, usize) {
        let touched = self.found.touched.keys().filter_map(|&site| self.linked(site));
        let places: BTreeSet<u64> = touched.filter(|&place| self.code.at(place).is_some()).collect();
        let known = |place: &&u64| {
            let accesses = self.code.at(**place).map(|(_, accesses)| accesses).unwrap_or_default();
            accesses.iter().all(|access| access.address.is_known())
        };
        (places.len(), places.iter().filter(known).count())
    }

    /// A strike in words.
    pub(super) fn reason(&self, strike: &Strike, reader: usize, writer: Option<u64>) -> String {
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
    pub(super) fn matters(&self, row: Option<&terms::Row>) -> bool {
        let other = |term: &terms::Term| matches!(term.source, terms::Source::Other(_));
        row.is_some_and(|row| row.possible().any(other))
    }

    /// The places of accesses that runs made.
    pub(super) fn made_places(&self) -> BTreeSet<u64> {
        self.by_pc.keys().map(|pc| pc.wrapping_sub(self.base)).filter(|place| *place < self.size).collect()
    }

    /// Who says whether the strand of a site makes its access on every way through the program.
    pub(super) fn surely<'s>(&'s self, path: &'s Path) -> impl FnMut(u64) -> bool + 's {
        let mut roads: Option<Roads<'_>> = None;
        move |site| {
            if roads.is_none() {
                roads = Roads::of(path, self.code, BTreeSet::new()).ok();
            }
            roads.as_mut().is_some_and(|roads| self.is_on_every_way(site, roads))
        }
    }

    /// Whether no branch leads past an access, nor past the calls of the program's own that lead there.
    pub(super) fn is_on_every_way(&self, site: u64, roads: &mut Roads<'_>) -> bool {
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
    pub(super) fn parts(&self, read: u64, write: u64, whose: Whose) -> bool {
        let touched = |site: u64| self.found.touched.get(&site);
        let (Some(reader), Some(writer)) = (touched(read), touched(write)) else { return false };
        let (one, two) = reader.is_of_one_and_two(writer);
        let fits = if whose == Whose::Own { one } else { two };
        !fits || reader.is_apart_from(writer)
    }
}

/// What is accessed.
pub(super) struct Variable {
    pub(super) name: String,
    /// Whether the access is in the program's own code, or a run went to a variable of this name.
    pub(super) certain: bool,
}

/// The last part of a variable's name: the field, or the variable. All of what a pointer leads to has none: the pointer's name says nothing of it.
fn field(name: &str) -> Option<&str> {
    let name = name.split('[').next().unwrap_or(name);
    (!name.starts_with('*')).then(|| name.rsplit(['.', '>', '*', ':']).next().unwrap_or(name))
}

/// A read that has its place in the source in common with others: what the code calls it, the function that it was put into, and whether it is in the
/// program's own code.
pub(super) struct Copy<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) function: Option<usize>,
    pub(super) own: bool,
}

/// What reads of one place are of, where they are one read: what a function of the library is given, or the field that all copies of it have in common, of which the
/// code names some, or each in the words of the function that it was put into. Reads of one function are different ones.
pub(super) fn common_name(copies: &[Copy<'_>]) -> Option<String> {
    let names: BTreeSet<&str> = copies.iter().filter_map(|copy| copy.name).collect();
    let first = names.first()?;
    if names.len() == 1 && copies.iter().all(|copy| copy.name.is_some() || !copy.own) {
        return Some((*first).to_owned());
    }
    let mut functions: BTreeMap<Option<usize>, Option<&str>> = BTreeMap::new();
    for copy in copies {
        if *functions.entry(copy.function).or_insert(copy.name) != copy.name {
            return None;
        }
    }
    let mut fields = names.iter().map(|name| field(name).filter(|field| field.len() < name.len()));
    let first = fields.next()??;
    fields.all(|field| field == Some(first)).then(|| first.to_owned())
}

fn is_of_atomic(function: &str) -> bool {
    const ATOMIC: [&str; 4] = ["core::sync::atomic::", "std::__atomic_", "std::atomic::", "std::atomic_"];
    ATOMIC.iter().any(|module| function.trim_start_matches('<').starts_with(module))
}

/// Whether a function of a library works on what its caller gave it, and keeps nothing of its own beside: atomics, cells, options, vectors; not locks and counted references.
fn is_for_caller(function: &str) -> bool {
    const MODULES: [&str; 17] = [
        "__gnu_cxx::",
        "core::",
        "alloc::boxed::",
        "alloc::collections::",
        "alloc::string::",
        "alloc::vec::",
        "std::_Optional_",
        "std::_Vector_base::",
        "std::__atomic_",
        "std::__uniq_ptr_impl::",
        "std::array::",
        "std::atomic::",
        "std::atomic_",
        "std::deque::",
        "std::optional::",
        "std::unique_ptr::",
        "std::vector::",
    ];
    let is_in = |name: &str| MODULES.iter().any(|module| name.starts_with(module));
    // `<usize as core::slice::index::SliceIndex<[T]>>::index`
    let (of, by) = match function.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) {
        Some((of, by)) => (of.trim_start_matches('&'), by),
        None => return is_in(function.trim_start_matches('<')),
    };
    is_in(of) || !of.contains("::") && is_in(by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_read_have_its_field() {
        let common = |copies: &[(Option<&'static str>, usize, bool)]| {
            let copy = |&(name, function, own)| Copy { name, function: Some(function), own };
            common_name(&copies.iter().map(copy).collect::<Vec<_>>())
        };
        assert_eq!(common(&[(None, 1, true), (Some("p->x"), 2, true)]).as_deref(), Some("x"));
        assert_eq!(common(&[(Some("a->x"), 1, true), (Some("b.x"), 2, true)]).as_deref(), Some("x"));
        assert_eq!(common(&[(None, 1, false), (Some("s.x"), 1, false)]).as_deref(), Some("s.x"));
        assert_eq!(
            common(&[(None, 1, true), (Some("total"), 2, true)]),
            None,
            "the other may be of anything"
        );
        assert_eq!(common(&[(Some("a->x"), 1, true), (Some("a->y"), 2, true)]), None);
        assert_eq!(common(&[(Some("a[0]"), 1, true), (Some("a[1]"), 1, true)]), None, "two reads on a line");
    }

    #[test]
    fn who_works_for_the_caller() {
        for name in [
            "core::sync::atomic::AtomicUsize::load",
            "core::option::Option<T>::as_ref",
            "<usize as core::slice::index::SliceIndex<[T]>>::index",
            "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index",
            "std::__atomic_base::load",
            "std::atomic::operator=",
            "std::vector::empty",
        ] {
            assert!(is_for_caller(name), "{name}");
        }
        for name in [
            "alloc::sync::Arc<T>::drop_slow",
            "<alloc::sync::Arc<T> as core::ops::drop::Drop>::drop",
            "std::sync::poison::mutex::Mutex<T>::lock",
            "std::mutex::lock",
            "std::__shared_ptr::get",
        ] {
            assert!(!is_for_caller(name), "{name}");
        }
    }
}
