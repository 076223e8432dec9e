//! Strands: where they are made and joined, and the functions at which they begin.
//!
//! C tells the function in an argument. `std::thread` of C++ calls `_M_run` of a type that the constructor makes, Rust's a closure
//! behind a pointer: both are known by their names, and what is called by pointer from there may be anything whose address is taken.

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::code::Code;
use crate::function::Callee;
use crate::gap::{Gap, What};
use crate::known::{self, Known};

/// One place where strands are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Creation {
    /// The function that does it, by index.
    pub function: usize,
    /// The place of the call.
    pub place: u64,
    /// The functions at which the strand may begin, by index; empty if not known.
    pub entries: Vec<usize>,
    /// What it is given.
    pub argument: Address,
    /// Where its identity is kept.
    pub id: Option<Address>,
}

/// One place where a strand is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The function that does it, by index.
    pub function: usize,
    /// The place of the call.
    pub place: u64,
    /// The identity, as a value: mostly what was read from where the creation put it.
    pub id: Address,
}

const CXX_START: &str = "_ZNSt6thread15_M_start_thread";
const CXX_STATE: &str = "_ZNSt6thread11_State_impl";

/// Finds creations and entries.
pub(crate) fn find(code: &mut Code, gaps: &mut Vec<Gap>) {
    let mut creations = Vec::new();
    for (at, function) in code.functions.iter().enumerate() {
        for call in &function.calls {
            let Callee::Import(name) = &call.callee else { continue };
            if let Some(Known::Create { entry, argument, id }) = known::named(name) {
                let ways = call.arguments[entry].ways();
                let entries: Vec<usize> = ways.iter().filter_map(|way| code.function_of(way)).collect();
                if entries.is_empty() || entries.len() < ways.len() {
                    gaps.push(Gap { function: function.start, at: call.place, what: What::UnknownEntry });
                }
                creations.push(Creation {
                    function: at,
                    place: call.place,
                    entries,
                    argument: call.arguments[argument].clone(),
                    id: id.map(|id| call.arguments[id].clone()),
                });
            } else if name.starts_with(CXX_START) {
                let argument = call.arguments[1].clone();
                creations.push(Creation {
                    function: at,
                    place: call.place,
                    entries: Vec::new(),
                    argument,
                    id: None,
                });
            }
        }
    }
    let mut entries: Vec<usize> =
        creations.iter().flat_map(|creation| creation.entries.iter().copied()).collect();
    for (at, function) in code.functions.iter().enumerate() {
        let cxx = function.name.starts_with(CXX_STATE) && function.name.contains("6_M_runEv");
        if cxx {
            entries.push(at);
        }
    }
    entries.extend(rust_entries(code));
    if gaps.iter().any(|gap| gap.what == What::UnknownEntry) {
        entries.extend(any_entries(code));
    }
    entries.sort_unstable();
    entries.dedup();
    (code.creations, code.entries) = (creations, entries);
}

/// Where strands may begin whose function is not known, such as one of a table: at whatever has its address taken.
fn any_entries(code: &Code) -> impl Iterator<Item = usize> {
    let may = |at: &usize| {
        let function = &code.functions[*at];
        function.taken && function.instrumented && function.name != "main"
    };
    (0..code.functions.len()).filter(may)
}

/// The functions in which closures of Rust's strands run: what backtraces end at, except the one that runs `main`.
fn rust_entries(code: &Code) -> Vec<usize> {
    let mut found: Vec<usize> = (0..code.functions.len())
        .filter(|&at| code.functions[at].name.contains("28__rust_begin_short_backtrace"))
        .collect();
    for function in code.functions.iter().filter(|function| function.name.contains("10lang_start")) {
        for call in &function.calls {
            if let Callee::Function(callee) = call.callee {
                found.retain(|&at| at != callee);
            }
        }
    }
    found
}

impl Code {
    /// Where strands are waited for.
    pub fn joins(&self) -> Vec<Join> {
        let mut joins = Vec::new();
        for (at, function) in self.functions.iter().enumerate() {
            for call in &function.calls {
                if let Callee::Import(name) = &call.callee
                    && let Some(Known::Join { id }) = known::named(name)
                {
                    joins.push(Join { function: at, place: call.place, id: call.arguments[id].clone() });
                }
            }
        }
        joins
    }
}
