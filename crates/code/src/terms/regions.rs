//! Which memory an address may mean, whoever calls: arguments are followed to all callers.
//!
//! A pointer that was read from memory may lead to whatever others can know of ([`Region::Anywhere`]): the heap, and variables whose
//! address was stored or handed to code that is not seen. What is not known at all may be everything.

use std::collections::BTreeSet;

use crate::address::{Address, Root};
use crate::code::Code;
use crate::function::{Access, Callee};
use crate::hook::Size;

/// Memory that an access may touch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Region {
    /// Of the module, by linked address.
    Global {
        offset: i64,
        stride: u64,
    },
    Import {
        name: String,
        offset: i64,
        stride: u64,
    },
    /// Of a block, by the call that allocated it.
    Block {
        at: u64,
        offset: i64,
        stride: u64,
    },
    /// Of a function's frame.
    Frame {
        function: usize,
        offset: i64,
        stride: u64,
    },
    Thread {
        offset: i64,
        stride: u64,
    },
    /// Behind a pointer that was read from memory.
    Anywhere,
    Everything,
}

/// How many regions an argument may have before it is anywhere.
const MOST: usize = 24;

/// What arguments may point to.
pub(crate) struct Regions {
    arguments: Vec<[BTreeSet<Region>; 6]>,
    /// Variables that others can know of, by index.
    pub(crate) exposed: BTreeSet<usize>,
    pub(crate) exposed_frames: BTreeSet<usize>,
}

impl Regions {
    pub(crate) fn of(code: &Code) -> Regions {
        let count = code.functions.len();
        let mut regions = Regions {
            arguments: (0..count).map(|_| Default::default()).collect(),
            exposed: BTreeSet::new(),
            exposed_frames: (0..count).filter(|&at| code.functions[at].exposes_frame).collect(),
        };
        let addresses = code.functions.iter().flat_map(|function| &function.exposes).chain(&code.exposed);
        regions.exposed = addresses.flat_map(|&address| near(code, address.cast_signed(), 1)).collect();
        let mut called = vec![false; count];
        for function in &code.functions {
            for call in &function.calls {
                if let Callee::Function(callee) = call.callee {
                    called[callee] = true;
                }
            }
        }
        for (at, function) in code.functions.iter().enumerate() {
            let made =
                code.entries.contains(&at) && code.creations.iter().any(|made| made.entries.contains(&at));
            let unknown = !made && (function.taken || !called[at]);
            // A strand's entry is taken, too, but called by creations only; by name it is not known who else does.
            if unknown {
                for argument in &mut regions.arguments[at] {
                    argument.insert(Region::Anywhere);
                }
            }
        }
        regions.settle(code);
        regions.expose_what_strands_keep(code);
        regions
    }

    /// What a strand is given, and stores somewhere, others can know of, too.
    fn expose_what_strands_keep(&mut self, code: &Code) {
        for made in &code.creations {
            let keeps = |entry: &usize| code.functions[*entry].leaks[0];
            if !made.entries.is_empty() && !made.entries.iter().any(keeps) {
                continue;
            }
            for region in self.resolve(code, made.function, &made.argument) {
                match region {
                    Region::Global { offset, stride } => {
                        self.exposed.extend(near(code, offset, stride.max(1)))
                    }
                    Region::Frame { function, .. } => drop(self.exposed_frames.insert(function)),
                    _ => {}
                }
            }
        }
    }

    fn settle(&mut self, code: &Code) {
        for round in 0.. {
            let mut changed = false;
            for (at, function) in code.functions.iter().enumerate() {
                for call in &function.calls {
                    let Callee::Function(callee) = call.callee else { continue };
                    for (number, argument) in call.arguments.iter().enumerate() {
                        let found = self.resolve(code, at, argument);
                        changed |= self.add(callee, number, found, round);
                    }
                }
            }
            for made in &code.creations {
                for &entry in &made.entries {
                    let found = self.resolve(code, made.function, &made.argument);
                    changed |= self.add(entry, 0, found, round);
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn add(&mut self, function: usize, number: usize, found: Vec<Region>, round: usize) -> bool {
        let known = &mut self.arguments[function][number];
        if known.contains(&Region::Everything) {
            return false;
        }
        let before = known.len();
        known.extend(found);
        // An address that grows with every round has no end.
        if (known.len() > MOST || round > 8) && known.len() != before {
            *known = BTreeSet::from([Region::Everything]);
            return true;
        }
        known.len() != before
    }

    /// The regions of an access.
    pub(crate) fn of_access(&self, code: &Code, function: usize, access: &Access) -> Vec<Region> {
        let mut found = self.resolve(code, function, &access.address);
        if access.size == Size::Unknown {
            // It may reach far beyond.
            for region in &mut found {
                match region {
                    Region::Global { stride, .. }
                    | Region::Import { stride, .. }
                    | Region::Block { stride, .. }
                    | Region::Frame { stride, .. }
                    | Region::Thread { stride, .. } => *stride = 1,
                    _ => {}
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn resolve(&self, code: &Code, function: usize, address: &Address) -> Vec<Region> {
        let (offset, stride) = (address.offset, address.stride);
        match &address.root {
            Root::Global => vec![Region::Global { offset, stride }],
            Root::Import(name) => vec![Region::Import { name: name.clone(), offset, stride }],
            Root::ThreadLocal => vec![Region::Thread { offset, stride }],
            Root::Stack => vec![Region::Frame { function, offset, stride }],
            Root::Allocated { at } => vec![Region::Block { at: *at, offset, stride }],
            Root::Argument(number) => {
                let known = &self.arguments[function][usize::from(*number)];
                known.iter().map(|region| region.shifted(offset, stride)).collect()
            }
            Root::Loaded { .. } | Root::Again => vec![Region::Anywhere],
            Root::Returned { at } => {
                let call = code.functions[function].calls.iter().find(|call| call.place == *at & !(1 << 63));
                match call.map(|call| &call.callee) {
                    Some(Callee::Import(_)) => vec![Region::Anywhere],
                    _ => vec![Region::Everything],
                }
            }
            Root::OneOf(_) => {
                address.ways().iter().flat_map(|way| self.resolve(code, function, way)).collect()
            }
            Root::Number => Vec::new(),
            Root::Unknown(_) => vec![Region::Everything],
        }
    }
}

impl Region {
    fn shifted(&self, by: i64, more: u64) -> Region {
        let mut region = self.clone();
        match &mut region {
            Region::Global { offset, stride }
            | Region::Import { offset, stride, .. }
            | Region::Block { offset, stride, .. }
            | Region::Frame { offset, stride, .. }
            | Region::Thread { offset, stride } => {
                *offset = offset.wrapping_add(by);
                *stride = crate::address::gcd(*stride, more);
            }
            Region::Anywhere | Region::Everything => {}
        }
        region
    }
}

/// The variables that an address may be in; with a stride it may have been counted from beyond the variable's edge.
pub(crate) fn near(code: &Code, offset: i64, stride: u64) -> Vec<usize> {
    let at = offset.cast_unsigned();
    let mut found: Vec<usize> = code.object_at(at).into_iter().collect();
    for steps in 1..=if stride == 0 { 0 } else { 4 } {
        let reach = stride.saturating_mul(steps).min(1 << 16);
        found.extend(code.object_at(at.saturating_sub(reach)));
        found.extend(code.object_at(at.saturating_add(reach)));
    }
    found.sort_unstable();
    found.dedup();
    found
}
