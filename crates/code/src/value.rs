//! Values while a function is followed: what a register or a slot holds, by where it comes from.
//!
//! Every value that is not a plain sum names the one instruction (or the one meeting of ways) that makes it, as in static single
//! assignment: two places that hold the same value hold the same number. A value cannot outlive its own making anew, since every
//! loop has an edge into it by which it was not yet made: there the two are different, and meet in a value of their own.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::{Address, Reason, Root, gcd};

/// A value, by its number in the [`Pool`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) struct V(u32);

/// What a value counts from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Base {
    Number,
    /// The offset is an address as linked.
    Global,
    /// An import, by its number in the pool.
    Import(u32),
    /// The thread pointer.
    Thread,
    Stack,
    /// What a register held at the function's entry.
    Entry(u8),
    Load {
        from: V,
        at: u64,
        size: u8,
    },
    Result {
        at: u64,
    },
    Block {
        at: u64,
    },
    /// An unknown multiple of `stride` on top.
    Index {
        of: V,
        stride: u32,
        at: u64,
    },
    /// An unknown number, a multiple of `stride`.
    Scaled {
        stride: u32,
        at: u64,
    },
    Either {
        a: V,
        b: V,
        at: u64,
    },
    /// What comes together at the beginning of a block.
    Meeting {
        block: u32,
        location: Location,
    },
    Unknown(Reason),
}

/// Where a value is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Location {
    Register(u8),
    /// Region 0 is the own frame, 1 and on what the arguments point to.
    Slot {
        region: u8,
        offset: i64,
    },
}

/// A value as a sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Node {
    pub(crate) base: Base,
    pub(crate) offset: i64,
}

/// All values of one function.
pub(crate) struct Pool {
    nodes: Vec<Node>,
    numbers: FxHashMap<Node, V>,
    pub(crate) imports: Vec<String>,
    /// What comes together in a [`Base::Meeting`].
    pub(crate) meetings: FxHashMap<(u32, Location), Vec<V>>,
}

/// How deep an expression may be, and how many ways it may have.
const DEEPEST: usize = 6;
const WIDEST: usize = 8;

impl Pool {
    pub(crate) fn new() -> Pool {
        Pool {
            nodes: Vec::new(),
            numbers: FxHashMap::default(),
            imports: Vec::new(),
            meetings: FxHashMap::default(),
        }
    }

    pub(crate) fn node(&self, value: V) -> Node {
        self.nodes[value.0 as usize]
    }

    pub(crate) fn make(&mut self, base: Base, offset: i64) -> V {
        let node = Node { base, offset };
        if let Some(known) = self.numbers.get(&node) {
            return *known;
        }
        let value = V(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        self.numbers.insert(node, value);
        value
    }

    pub(crate) fn unknown(&mut self, reason: Reason) -> V {
        self.make(Base::Unknown(reason), 0)
    }

    pub(crate) fn number(&mut self, number: i64) -> V {
        self.make(Base::Number, number)
    }

    pub(crate) fn import(&mut self, name: &str) -> u32 {
        let at = self.imports.iter().position(|known| known == name).unwrap_or_else(|| {
            self.imports.push(name.to_owned());
            self.imports.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// The number, if the value is one.
    pub(crate) fn as_number(&self, value: V) -> Option<i64> {
        let node = self.node(value);
        (node.base == Base::Number).then_some(node.offset)
    }

    pub(crate) fn shifted(&mut self, value: V, by: i64) -> V {
        let node = self.node(value);
        match node.base {
            Base::Unknown(_) | Base::Scaled { .. } => value,
            base => self.make(base, node.offset.wrapping_add(by)),
        }
    }

    /// The sum of two values; `at` names the instruction that makes it.
    pub(crate) fn sum(&mut self, a: V, b: V, at: u64) -> V {
        if let Some(number) = self.as_number(a) {
            return self.shifted(b, number);
        }
        if let Some(number) = self.as_number(b) {
            return self.shifted(a, number);
        }
        let (one, other) = (self.node(a).base, self.node(b).base);
        match (one, other) {
            (Base::Scaled { stride: s, .. }, Base::Scaled { stride: t, .. }) => {
                let stride = u32::try_from(gcd(s.into(), t.into())).unwrap_or(1);
                self.make(Base::Scaled { stride, at }, 0)
            }
            (_, Base::Scaled { stride, .. }) => self.indexed(a, stride, at),
            (Base::Scaled { stride, .. }, _) => self.indexed(b, stride, at),
            _ if self.is_place(a) && !self.is_place(b) => self.indexed(a, 1, at),
            _ if self.is_place(b) && !self.is_place(a) => self.indexed(b, 1, at),
            (Base::Unknown(_), _) | (_, Base::Unknown(_)) => self.unknown(Reason::Arithmetic),
            _ => {
                // One of them is the pointer; which one is not said.
                let (a, b) = (self.indexed(a, 1, at), self.indexed(b, 1, at));
                self.either(a, b, at)
            }
        }
    }

    /// A value with an unknown multiple of `stride` on top.
    pub(crate) fn indexed(&mut self, of: V, stride: u32, at: u64) -> V {
        match self.node(of).base {
            Base::Unknown(_) => of,
            Base::Number => self.make(Base::Scaled { stride, at }, 0),
            // Twice an index on one pointer is one index.
            Base::Index { of: inner, stride: known, .. } => {
                let stride = u32::try_from(gcd(known.into(), stride.into())).unwrap_or(1);
                let offset = self.node(of).offset;
                let inner = self.shifted(inner, offset);
                self.make(Base::Index { of: inner, stride, at }, 0)
            }
            _ => self.make(Base::Index { of, stride, at }, 0),
        }
    }

    /// One of two values.
    pub(crate) fn either(&mut self, a: V, b: V, at: u64) -> V {
        if a == b { a } else { self.make(Base::Either { a, b, at }, 0) }
    }

    /// Whether a value is surely an address, not a number.
    fn is_place(&self, value: V) -> bool {
        match self.node(value).base {
            Base::Global | Base::Import(_) | Base::Thread | Base::Stack | Base::Block { .. } => true,
            Base::Index { of, .. } => self.is_place(of),
            _ => false,
        }
    }

    /// The own frame's offset that a value is, or is somewhere above of.
    pub(crate) fn in_frame(&self, value: V) -> Option<i64> {
        let node = self.node(value);
        match node.base {
            Base::Stack => Some(node.offset),
            Base::Index { of, .. } => self.in_frame(of).map(|inner| inner.wrapping_add(node.offset)),
            Base::Either { a, b, .. } => match (self.in_frame(a), self.in_frame(b)) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            _ => None,
        }
    }

    /// What a value may come from: the ends of all ways to it.
    pub(crate) fn leaves(&self, value: V) -> Vec<Node> {
        let (mut open, mut known, mut found) = (vec![value], FxHashSet::default(), Vec::new());
        while let Some(value) = open.pop() {
            let node = self.node(value);
            match node.base {
                Base::Index { of, .. } => open.push(of),
                Base::Either { a, b, .. } => open.extend([a, b]),
                Base::Meeting { block, location } => {
                    if known.insert((block, location)) {
                        open.extend(self.meetings.get(&(block, location)).into_iter().flatten());
                    }
                }
                _ => found.push(node),
            }
        }
        found
    }

    /// The value as an expression that stands on its own.
    pub(crate) fn address(&self, value: V, image: &crate::image::Image) -> Address {
        Written { pool: self, image, open: Vec::new(), budget: 64 }.write(value, DEEPEST)
    }
}

struct Written<'a> {
    pool: &'a Pool,
    image: &'a crate::image::Image,
    /// Meetings that are being written: a loop comes back to them.
    open: Vec<(u32, Location)>,
    /// Nodes that may still be written.
    budget: usize,
}

impl Written<'_> {
    fn write(&mut self, value: V, depth: usize) -> Address {
        let Some(budget) = self.budget.checked_sub(1) else { return Address::unknown(Reason::Complex) };
        self.budget = budget;
        let Node { base, offset } = self.pool.node(value);
        let plain = |root: Root| Address { root, offset, stride: 0 };
        match base {
            Base::Number if self.image.fixed && self.image.is_loaded(offset.cast_unsigned()) => {
                plain(Root::Global)
            }
            Base::Number => plain(Root::Number),
            Base::Global => plain(Root::Global),
            Base::Import(number) => plain(Root::Import(self.pool.imports[number as usize].clone())),
            Base::Thread => plain(Root::ThreadLocal).shifted(self.image.thread_size),
            Base::Stack => plain(Root::Stack),
            Base::Entry(register) => {
                let argument =
                    crate::x86_64::ARGUMENTS.iter().position(|&known| known == usize::from(register));
                match argument.and_then(|argument| u8::try_from(argument).ok()) {
                    Some(argument) => plain(Root::Argument(argument)),
                    None => Address::unknown(Reason::Unset),
                }
            }
            Base::Load { .. } | Base::Index { .. } | Base::Either { .. } | Base::Meeting { .. }
                if depth == 0 =>
            {
                Address::unknown(Reason::Complex)
            }
            Base::Load { from, at, .. } => {
                let from = Box::new(self.write(from, depth - 1));
                plain(Root::Loaded { from, at })
            }
            Base::Result { at } => plain(Root::Returned { at }),
            Base::Block { at } => plain(Root::Allocated { at }),
            Base::Index { of, stride, .. } => {
                let mut inner = self.write(of, depth);
                inner.stride = gcd(inner.stride, stride.into());
                inner.shifted(offset)
            }
            Base::Scaled { .. } => Address::unknown(Reason::Arithmetic),
            Base::Either { a, b, .. } => self.several(&[a, b], None, depth).shifted(offset),
            Base::Meeting { block, location } => {
                let key = (block, location);
                if self.open.contains(&key) {
                    return plain(Root::Again);
                }
                let ways = self.pool.meetings.get(&key).cloned().unwrap_or_default();
                self.open.push(key);
                let found = self.several(&ways, Some(key), depth);
                self.open.pop();
                found.shifted(offset)
            }
            Base::Unknown(reason) => Address::unknown(reason),
        }
    }

    fn several(&mut self, values: &[V], own: Option<(u32, Location)>, depth: usize) -> Address {
        let mut stride = 0;
        let mut ways: Vec<Address> = Vec::new();
        let mut flat: Vec<V> = values.to_vec();
        let mut seen = 0;
        while let Some(value) = flat.pop() {
            seen += 1;
            if seen > 4 * WIDEST {
                return Address::unknown(Reason::Complex);
            }
            let node = self.pool.node(value);
            if let Base::Meeting { block, location } = node.base
                && self.open.contains(&(block, location))
            {
                // Round a loop: a step on itself, or on the one around it.
                if own != Some((block, location)) || node.offset != 0 {
                    stride = gcd(stride, node.offset.unsigned_abs().max(1));
                    if own != Some((block, location)) && node.offset == 0 {
                        // It is what the outer one is; that one is being written.
                        stride = if stride == 1 { 0 } else { stride };
                    }
                }
                continue;
            }
            if let Base::Index { of, stride: step, .. } = node.base
                && let Base::Meeting { block, location } = self.pool.node(of).base
                && self.open.contains(&(block, location))
            {
                stride = gcd(stride, step.into());
                continue;
            }
            for way in self.write(value, depth - 1).ways() {
                // A null pointer among others is never followed.
                let null = way.root == Root::Number && way.offset.unsigned_abs() < 4096;
                if !null && !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        for way in &mut ways {
            way.stride = gcd(way.stride, stride);
        }
        ways.sort_unstable();
        ways.dedup();
        match ways.len() {
            0 => Address::unknown(Reason::Unset),
            1 => ways.swap_remove(0),
            2..=WIDEST => Address { root: Root::OneOf(ways), offset: 0, stride: 0 },
            _ => Address::unknown(Reason::Complex),
        }
    }
}
