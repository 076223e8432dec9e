//! How control comes to a place: the branches that must go a certain way, over calls and the making of strands.
//!
//! Within a function these are the branches of which one way leads past the place for good, by dominators ([`inside`]); where control may come there in several ways,
//! they are told as alternatives. Up from a function it is the shortest chain of calls to one that runs came into, or to `main`.
//! Graphs are read again from the file, for the functions of the chain only: nothing of them is kept with the rest of the code.

mod inside;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::code::Code;
use crate::function::Callee;
use crate::gap::What;
use crate::graph::Graph;
use crate::image::Image;
use crate::known::{self, Known};
use crate::{Error, x86_64};

/// A branch that must go a certain way. Addresses are as linked, and like return addresses: one byte behind where the instruction begins, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The jump; for a call that must throw, the call.
    pub at: u64,
    /// What is it that must be so.
    pub kind: Turn,
    /// Where it must lead: the instructions there, for each of the ways that will do.
    pub to: Vec<Vec<u64>>,
    /// Where it must not lead.
    pub not: Vec<Vec<u64>>,
    /// Whether a run took it that way.
    pub taken: bool,
}

/// Kinds of branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// A jump with a condition, or by a table.
    Jump,
    /// A call that must throw or panic.
    Throws,
    /// A jump with a condition into another function.
    Leaves,
}

/// What must be so: one of these ways, each with all of its branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The ways.
    pub ways: Vec<Vec<Branch>>,
}

/// How a function is come into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// By a call.
    Call,
    /// A strand begins there, made here.
    Creation,
    /// Its address is handed to a function that calls it, such as `atexit`.
    Handed,
}

/// A part of the way: through one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The function, by index.
    pub function: usize,
    /// Where to, and how the next leg begins there; the last leg ends at the place itself.
    pub to: (u64, Option<Entry>),
    /// What must be so.
    pub needs: Vec<Need>,
    /// Other places from which the next leg's function is come into.
    pub others: Vec<u64>,
}

/// Why a way is not known from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// Nothing that was followed calls the function.
    NoCaller(usize),
    /// Only calls by pointer may lead to the function.
    ByPointer(usize),
    /// Nothing that was followed leads there within the function: a computed jump, or code that is out of reach.
    NoWay(usize),
    /// There are too many ways within the function.
    TooMany(usize),
}

/// The way to a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Road {
    /// From the first function on.
    pub legs: Vec<Leg>,
    /// What was not followed.
    pub unknown: Vec<Unknown>,
}

impl Road {
    /// The branches that no run took, with alternatives counted once.
    pub fn untaken(&self) -> usize {
        let needs = self.legs.iter().flat_map(|leg| &leg.needs);
        let least = |need: &Need| {
            need.ways.iter().map(|way| way.iter().filter(|branch| !branch.taken).count()).min().unwrap_or(0)
        };
        needs.map(least).sum::<usize>() + self.unknown.len()
    }
}

/// Calls on the way to a function; one that takes more tells nobody anything.
const CALLS: usize = 64;

/// Who calls a function: where, and how.
type Callers = BTreeMap<usize, Vec<(usize, u64, Entry)>>;

/// A program whose places are asked for.
pub struct Roads<'a> {
    code: &'a Code,
    image: Image,
    callers: Callers,
    graphs: BTreeMap<usize, Graph>,
    /// Places that runs came to.
    reached: BTreeSet<u64>,
}

impl<'a> Roads<'a> {
    /// Of a program with its code, and the places that runs came to.
    pub fn of(path: &Path, code: &'a Code, reached: BTreeSet<u64>) -> Result<Roads<'a>, Error> {
        let image = Image::parse(std::fs::read(path)?)?;
        Ok(Roads { code, image, callers: callers(code), graphs: BTreeMap::new(), reached })
    }

    /// The way to a place.
    pub fn to(&mut self, place: u64) -> Road {
        let mut road = Road::default();
        let Some(last) = self.code.function_at(place.wrapping_sub(1)) else { return road };
        let chain = match self.chain(last) {
            Ok(chain) => chain,
            Err(unknown) => {
                road.unknown.push(unknown);
                Vec::new()
            }
        };
        for (function, at, entry, next) in chain {
            let all = self.callers.get(&next).into_iter().flatten();
            let others = all.map(|(_, place, _)| *place).filter(|&place| place != at).collect();
            let needs = self.needs(function, at, &mut road.unknown);
            road.legs.push(Leg { function, to: (at, Some(entry)), needs, others });
        }
        let needs = self.needs(last, place, &mut road.unknown);
        road.legs.push(Leg { function: last, to: (place, None), needs, others: Vec::new() });
        road.unknown.dedup();
        road
    }

    /// Whether whoever enters the function of a place comes to it, unless the process ends or the strand waits for ever: no branch leads past it.
    pub fn is_on_every_way(&mut self, place: u64) -> bool {
        let Some(function) = self.code.function_at(place.wrapping_sub(1)) else { return false };
        let mut unknown = Vec::new();
        self.needs(function, place, &mut unknown).is_empty() && unknown.is_empty()
    }

    /// The calls that lead to a function, from one that runs came into: caller, place, how, and who is called.
    fn chain(&self, to: usize) -> Result<Vec<(usize, u64, Entry, usize)>, Unknown> {
        let main = self.code.function_named("main");
        let begins = |at: usize| Some(at) == main || self.is_entered(at);
        if begins(to) {
            return Ok(Vec::new());
        }
        let mut from: BTreeMap<usize, (u64, Entry, usize)> = BTreeMap::new();
        let mut open = VecDeque::from([to]);
        while let Some(at) = open.pop_front() {
            for &(caller, place, entry) in self.callers.get(&at).into_iter().flatten() {
                if caller == to || from.contains_key(&caller) {
                    continue;
                }
                from.insert(caller, (place, entry, at));
                if begins(caller) {
                    let mut chain = Vec::new();
                    let mut now = caller;
                    while now != to {
                        let (place, entry, next) = from[&now];
                        chain.push((now, place, entry, next));
                        now = next;
                    }
                    return if chain.len() > CALLS { Err(Unknown::TooMany(to)) } else { Ok(chain) };
                }
                open.push_back(caller);
            }
        }
        Err(match self.code.functions[to].taken {
            true => Unknown::ByPointer(to),
            false => Unknown::NoCaller(to),
        })
    }

    /// Whether a run came into a function.
    fn is_entered(&self, function: usize) -> bool {
        let function = &self.code.functions[function];
        self.reached.range(function.start + 1..=function.end).next().is_some()
    }

    fn needs(&mut self, function: usize, place: u64, unknown: &mut Vec<Unknown>) -> Vec<Need> {
        let image = &self.image;
        let graph = self.graphs.entry(function).or_insert_with(|| {
            let extent = &image.functions[function];
            x86_64::flow(image, extent, &mut Vec::new())
        });
        let code = &self.code.functions[function];
        let reached: Vec<u64> = self.reached.range(code.start + 1..=code.end).copied().collect();
        match inside::needs(graph, place, &reached) {
            Ok(needs) => {
                // A jump that was not followed may lead anywhere in the function.
                let computed = |gap: &&crate::gap::Gap| {
                    gap.function == code.start && matches!(gap.what, What::ComputedJump)
                };
                if self.code.gaps.iter().any(|gap| computed(&gap)) {
                    unknown.push(Unknown::NoWay(function));
                }
                needs
            }
            Err(inside::Trouble::NoWay) => {
                unknown.push(Unknown::NoWay(function));
                Vec::new()
            }
            Err(inside::Trouble::TooMany(needs)) => {
                unknown.push(Unknown::TooMany(function));
                needs
            }
        }
    }
}

/// Who calls, makes or hands over each function.
fn callers(code: &Code) -> Callers {
    let mut callers = Callers::new();
    for (at, function) in code.functions.iter().enumerate() {
        for call in &function.calls {
            let direct = match &call.callee {
                Callee::Function(callee) => Some(*callee),
                Callee::Pointer(address) => code.function_of(address),
                Callee::Import(_) => None,
            };
            if let Some(callee) = direct.filter(|&callee| callee != at) {
                callers.entry(callee).or_default().push((at, call.place, Entry::Call));
            }
            let creates = matches!(&call.callee, Callee::Import(name) if matches!(known::named(name), Some(Known::Create { .. })));
            let handed = call.arguments.iter().flat_map(|argument| argument.ways());
            let handed: BTreeSet<usize> = handed.filter_map(|way| code.function_of(&way)).collect();
            for callee in handed.into_iter().filter(|_| !matches!(call.callee, Callee::Function(_))) {
                let entry = if creates { Entry::Creation } else { Entry::Handed };
                callers.entry(callee).or_default().push((at, call.place, entry));
            }
        }
    }
    callers
}
