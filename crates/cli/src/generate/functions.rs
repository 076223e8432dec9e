//! The functions of a program by number, for the pairs' crate.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use threadbare_code::{Code, terms};
use threadbare_findings::{Places, SymbolPlaces};
use threadbare_pairs::code::Static;
use threadbare_pairs::{Does, Functions};

/// A function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// The source file, as it is shown; empty if that is not known.
    pub(super) file: String,
    /// It is the program's own, or a package's that it uses, not the language's or the system's.
    pub(super) own: bool,
}

/// Who gives functions their numbers.
pub(super) struct Namer<'a> {
    places: &'a SymbolPlaces,
    all: RefCell<Vec<Function>>,
    numbers: HashMap<Function, u32>,
    chains: HashMap<u64, Rc<[u32]>>,
    own: HashMap<u64, Rc<[Option<u32>]>>,
    /// The first instruction of each place in the source.
    sites: HashMap<(String, String, u32, u32, Option<Does>), u64>,
    known: HashMap<(u64, Option<Does>), u64>,
}

impl<'a> Namer<'a> {
    pub(super) fn new(places: &'a SymbolPlaces) -> Namer<'a> {
        Namer {
            places,
            all: RefCell::default(),
            numbers: HashMap::new(),
            chains: HashMap::new(),
            own: HashMap::new(),
            sites: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// A function by its number.
    pub(super) fn function(&self, number: u32) -> Function {
        self.all.borrow()[number as usize].clone()
    }

    /// How many of the program's own there are.
    pub(super) fn count(&self) -> usize {
        self.all.borrow().iter().filter(|function| function.own).count()
    }

    pub(super) fn is_own(&self, number: u32) -> bool {
        self.all.borrow()[number as usize].own
    }

    /// All functions at a return address, the compiled one first.
    fn all_at(&mut self, pc: u64) -> Rc<[u32]> {
        if let Some(known) = self.chains.get(&pc) {
            return Rc::clone(known);
        }
        let mut places = self.places.at(pc);
        places.reverse();
        let mut chain = Vec::new();
        for place in places {
            let own = !place.library && place.file.is_some() && place.function.is_some();
            let (name, file) = (place.function.unwrap_or(place.address), place.file.unwrap_or_default());
            let function = Function { name, file, own };
            let next = self.numbers.len() as u32;
            let number = *self.numbers.entry(function.clone()).or_insert(next);
            if number == next {
                self.all.borrow_mut().push(function);
            }
            chain.push(number);
        }
        let chain: Rc<[u32]> = chain.into();
        self.chains.insert(pc, Rc::clone(&chain));
        chain
    }

    /// What the code of a program that is loaded at `base` says.
    pub(super) fn read(&mut self, code: &Code, base: u64) -> Static {
        let mut known = Static::default();
        let mut groups: HashMap<Rc<[u32]>, u32> = HashMap::new();
        known.direct = terms::dependence(code, &mut |place| {
            let chain = self.all_at(base.wrapping_add(place));
            let next = groups.len() as u32;
            let group = *groups.entry(Rc::clone(&chain)).or_insert(next);
            if group == next {
                known.groups.push(chain.to_vec());
            }
            group
        });
        // A compiled function is known by its first instruction.
        let starts: Vec<Option<u32>> = code
            .functions
            .iter()
            .map(|function| self.all_at(base.wrapping_add(function.start + 1)).first().copied())
            .collect();
        for function in code.functions.iter().filter(|function| function.instrumented) {
            for call in &function.calls {
                let callers = self.all_at(base.wrapping_add(call.place));
                for callee in code.callees(&call.callee).into_iter().filter_map(|callee| starts[callee]) {
                    known.calls.insert((callers.to_vec(), callee));
                }
            }
        }
        known
    }
}

impl Functions for Namer<'_> {
    fn chain(&mut self, pc: u64) -> Rc<[Option<u32>]> {
        if let Some(known) = self.own.get(&pc) {
            return Rc::clone(known);
        }
        let all = self.all_at(pc);
        let own: Rc<[Option<u32>]> =
            all.iter().map(|&number| Some(number).filter(|_| self.is_own(number))).collect();
        self.own.insert(pc, Rc::clone(&own));
        own
    }

    fn place(&mut self, pc: u64, does: Option<Does>) -> u64 {
        if let Some(known) = self.known.get(&(pc, does)) {
            return *known;
        }
        let innermost = self.places.at(pc).into_iter().next().unwrap_or_default();
        let site = match (innermost.function, innermost.file, innermost.line) {
            (Some(function), Some(file), Some(line)) => {
                let key = (function, file, line, innermost.column.unwrap_or(0), does);
                *self.sites.entry(key).or_insert(pc)
            }
            _ => pc,
        };
        self.known.insert((pc, does), site);
        site
    }
}
