//! The slots of a point: every variable, its parts and their values at the entry, in the order of [`Operand`]s.
//!
//! That order makes what is inferred independent of the order in which variables are declared. A sample becomes a
//! [`Row`]: one number a slot, the number itself where it is one, else a hash that stands for the value.

use crate::operand::{Operand, Part};
use crate::point::{ProgramPoint, Sample, Side, Variable};
use crate::value::{Element, Type, Value};
use serde::{Deserialize, Serialize};

/// How many slots a point can have. Variables beyond are left out, those that strands share last.
pub const MAX_SLOTS: usize = 256;

/// How many bools of a point can be the condition of an implication.
const MAX_FLAGS: usize = 4;

/// What statements a slot can be part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Int,
    Flag,
    Enum,
    Pointer,
    Float,
    Text,
    Sequence,
    Order,
}

impl Kind {
    /// Whether a slot's number is the value itself.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Flag | Self::Enum | Self::Pointer)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) operand: Operand,
    pub(crate) kind: Kind,
    pub(crate) class: Type,
    pub(crate) shared: bool,
    pub(crate) group: u32,
    /// Which of the sample's values.
    source: u16,
    /// What its number can be, if it is one by itself.
    span: (i128, i128),
}

/// A set of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Mask([u64; MAX_SLOTS / 64]);

impl Mask {
    #[inline]
    pub(crate) fn has(&self, slot: usize) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn add(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub(crate) fn has_all(&self, slots: &[usize]) -> bool {
        slots.iter().all(|&slot| self.has(slot))
    }

    pub(crate) fn both(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    pub(crate) fn first(count: usize) -> Self {
        let mut all = Self::default();
        (0..count).for_each(|slot| all.add(slot));
        all
    }
}

/// A sample as numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<i128>,
    pub(crate) present: Mask,
}

impl Row {
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<i128> {
        self.present.has(slot).then(|| self.cells[slot])
    }

    pub(crate) fn real(&self, slot: usize) -> f64 {
        real(self.cells[slot])
    }

    /// A number for the whole row. Equal numbers of different rows do not come up by chance.
    pub(crate) fn hash(&self) -> u128 {
        let mut hash = Hash::new();
        for &cell in &self.cells {
            hash.cell(cell);
        }
        self.present.0.iter().for_each(|&word| hash.word(word));
        hash.finish()
    }
}

/// The floating point number that a cell stands for.
pub(crate) fn real(cell: i128) -> f64 {
    f64::from_bits(cell as u64)
}

/// The cell for a floating point number. Both zeros are one, and all that are not numbers, too.
pub(crate) fn cell_of_real(value: f64) -> i128 {
    let value = if value.is_nan() { f64::NAN } else { value + 0.0 };
    i128::from(value.to_bits())
}

/// The cell for a string.
pub(crate) fn cell_of_text(text: &str) -> i128 {
    let mut hash = Hash::new();
    hash.word(text.len() as u64);
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash.word(u64::from_le_bytes(word));
    }
    (hash.finish() >> 1) as i128
}

struct Hash(u64, u64);

impl Hash {
    fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03)
    }

    #[inline]
    fn cell(&mut self, cell: i128) {
        self.word(cell as u64 ^ ((cell >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }

    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0xa076_1d64_78bd_642f;
        self.0 = product as u64 ^ (product >> 64) as u64 ^ self.0.rotate_left(23);
        self.1 = (self.1 ^ word).wrapping_mul(0xe703_7ed1_a0b4_28db).rotate_left(29);
    }

    fn finish(&self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

/// The slots of a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layout {
    pub(crate) slots: Vec<Slot>,
    /// Slots that can be part of linear relations.
    pub(crate) columns: Vec<u16>,
    /// Slots that can be the condition of an implication.
    pub(crate) flags: Vec<u16>,
    /// Pairs of slots that can be compared, the smaller one first.
    pub(crate) pairs: Vec<(u16, u16)>,
    /// Variables that found no place.
    pub(crate) left_out: u32,
}

impl Layout {
    pub(crate) fn new(point: &ProgramPoint, entry: Option<&ProgramPoint>) -> Self {
        let entry = entry.filter(|_| point.side == Side::Exit);
        let now = point.variables.iter().enumerate().map(|(source, variable)| (false, source, variable));
        let then = entry.iter().flat_map(|entry| entry.variables.iter().enumerate());
        let mut variables: Vec<_> =
            now.chain(then.map(|(source, variable)| (true, source, variable))).collect();
        // A name that comes twice is taken once.
        variables.sort_by(|a, b| (&a.2.name, a.0, a.1).cmp(&(&b.2.name, b.0, b.1)));
        variables.dedup_by(|b, a| a.0 == b.0 && a.2.name == b.2.name);
        variables.sort_by_key(|&(_, _, variable)| !variable.shared);
        let (mut slots, mut left_out) = (Vec::new(), 0);
        for (orig, source, variable) in variables {
            let parts = parts_of(&variable.class);
            if slots.len() + parts.len() > MAX_SLOTS || source > usize::from(u16::MAX) {
                left_out += 1;
                continue;
            }
            slots.extend(parts.into_iter().map(|part| Slot::new(orig, source, variable, part)));
        }
        slots.sort_by(|a: &Slot, b| a.operand.cmp(&b.operand));
        Self::of(slots, left_out)
    }

    fn of(slots: Vec<Slot>, left_out: u32) -> Self {
        let having = |kind| {
            let slots = slots.iter().enumerate().filter(move |(_, slot): &(usize, &Slot)| slot.kind == kind);
            slots.map(|(at, _)| at as u16).collect::<Vec<u16>>()
        };
        let columns = having(Kind::Int);
        let mut flags = having(Kind::Flag);
        flags.sort_by_key(|&at| (!slots[usize::from(at)].shared, at));
        flags.truncate(MAX_FLAGS);
        flags.sort_unstable();
        let mut pairs = Vec::new();
        for (i, x) in slots.iter().enumerate() {
            let partners = slots.iter().enumerate().skip(i + 1).filter(|(_, y)| x.comparable(y));
            pairs.extend(partners.map(|(j, _)| (i as u16, j as u16)));
        }
        Self { slots, columns, flags, pairs, left_out }
    }

    /// Whether a layout read from a file is one.
    pub(crate) fn is_sound(&self) -> bool {
        self.slots.len() <= MAX_SLOTS
            && self.slots.windows(2).all(|pair| pair[0].operand < pair[1].operand)
            && *self == Self::of(self.slots.clone(), self.left_out)
    }

    pub(crate) fn find(&self, operand: &Operand) -> Option<usize> {
        self.slots.binary_search_by(|slot| slot.operand.cmp(operand)).ok()
    }

    /// The value that a slot of a sample comes from.
    pub(crate) fn value<'a>(&self, slot: usize, sample: &'a Sample) -> Option<&'a Value> {
        let slot = &self.slots[slot];
        let values = if slot.operand.orig { &sample.entry } else { &sample.values };
        values.get(usize::from(slot.source))
    }

    /// Fills in the row of a sample.
    pub(crate) fn fill(&self, sample: &Sample, row: &mut Row) {
        row.cells.clear();
        row.present = Mask::default();
        for (at, slot) in self.slots.iter().enumerate() {
            let values = if slot.operand.orig { &sample.entry } else { &sample.values };
            let cell = values.get(usize::from(slot.source)).and_then(|value| slot.cell(value));
            if cell.is_some() {
                row.present.add(at);
            }
            row.cells.push(cell.unwrap_or(0));
        }
    }
}

/// The parts of a variable that have slots of their own.
fn parts_of(class: &Type) -> Vec<Part> {
    match class {
        Type::Sequence(Element::Int) => {
            vec![Part::Whole, Part::Size, Part::Min, Part::Max, Part::Sum, Part::Order]
        }
        Type::Sequence(Element::Float) => vec![Part::Whole, Part::Size, Part::Min, Part::Max, Part::Order],
        Type::Sequence(Element::Other) => vec![Part::Whole, Part::Size],
        _ => vec![Part::Whole],
    }
}

impl Slot {
    fn new(orig: bool, source: usize, variable: &Variable, part: Part) -> Self {
        let kind = match (part, &variable.class) {
            (Part::Order, _) => Kind::Order,
            (Part::Min | Part::Max, Type::Sequence(Element::Float)) => Kind::Float,
            (Part::Size | Part::Min | Part::Max | Part::Sum, _) => Kind::Int,
            (Part::Whole, Type::Int { .. }) => Kind::Int,
            (Part::Whole, Type::Bool) => Kind::Flag,
            (Part::Whole, Type::Enum { .. }) => Kind::Enum,
            (Part::Whole, Type::Pointer) => Kind::Pointer,
            (Part::Whole, Type::Float) => Kind::Float,
            (Part::Whole, Type::Text | Type::Opaque) => Kind::Text,
            (Part::Whole, Type::Sequence(_)) => Kind::Sequence,
        };
        Self {
            operand: Operand { orig, name: variable.name.clone(), part },
            kind,
            class: variable.class.clone(),
            shared: variable.shared,
            group: variable.group,
            source: source as u16,
            span: match (part, &variable.class) {
                (Part::Whole, Type::Int { .. }) => variable.class.limits().unwrap_or((0, -1)),
                (Part::Whole, Type::Bool) => (0, 1),
                (Part::Whole, Type::Enum { .. }) => (i128::MIN, i128::MAX),
                (Part::Whole, Type::Pointer) => (0, i128::MAX),
                _ => (0, -1),
            },
        }
    }

    /// The least and the greatest value that its type allows.
    pub(crate) fn limits(&self) -> (Option<i128>, Option<i128>) {
        match self.operand.part {
            Part::Whole => self.class.limits().map_or((None, None), |(low, high)| (Some(low), Some(high))),
            Part::Size => (Some(0), None),
            _ => (None, None),
        }
    }

    /// Whether statements about both make sense. Parts of one sequence say nothing about each other.
    pub(crate) fn comparable(&self, other: &Self) -> bool {
        let parts = self.operand.name == other.operand.name && self.operand.part != other.operand.part;
        let like = match (&self.class, &other.class) {
            (Type::Enum { names: a }, Type::Enum { names: b }) => a == b,
            (Type::Opaque, other) => *other == Type::Opaque,
            (Type::Text, other) => *other == Type::Text,
            _ => true,
        };
        self.kind == other.kind && self.group == other.group && self.kind != Kind::Order && !parts && like
    }

    #[inline]
    fn cell(&self, value: &Value) -> Option<i128> {
        if let Value::Int(value) = value {
            return (self.span.0 <= *value && *value <= self.span.1).then_some(*value);
        }
        self.cell_of_other(value)
    }

    fn cell_of_other(&self, value: &Value) -> Option<i128> {
        if !value.fits(&self.class) {
            return None;
        }
        let part = self.operand.part;
        match value {
            Value::Missing | Value::Int(_) => None,
            Value::Float(value) => Some(cell_of_real(*value)),
            Value::Text(text) => Some(cell_of_text(text)),
            Value::Ints(list) => match part {
                Part::Whole => Some(cell_of_list(list.iter().copied())),
                Part::Size => i128::try_from(list.len()).ok(),
                Part::Min => list.iter().min().copied(),
                Part::Max => list.iter().max().copied(),
                Part::Sum => list.iter().try_fold(0_i128, |sum, &next| sum.checked_add(next)),
                Part::Order => Some(neighbours(list.windows(2).map(|pair| Some(pair[0].cmp(&pair[1]))))),
            },
            Value::Floats(list) => match part {
                Part::Whole => Some(cell_of_list(list.iter().map(|&next| cell_of_real(next)))),
                Part::Size => i128::try_from(list.len()).ok(),
                // A list with something that is not a number has no least element.
                Part::Min => extreme(list, f64::min),
                Part::Max => extreme(list, f64::max),
                Part::Sum => None,
                Part::Order => Some(neighbours(list.windows(2).map(|pair| pair[0].partial_cmp(&pair[1])))),
            },
        }
    }
}

fn extreme(list: &[f64], of: fn(f64, f64) -> f64) -> Option<i128> {
    if list.iter().any(|next| next.is_nan()) {
        return None;
    }
    list.iter().copied().reduce(of).map(cell_of_real)
}

fn cell_of_list(list: impl ExactSizeIterator<Item = i128>) -> i128 {
    let mut hash = Hash::new();
    hash.word(list.len() as u64);
    for next in list {
        hash.cell(next);
    }
    (hash.finish() >> 1) as i128
}

/// Two slots, or two neighbours, compared.
pub(crate) mod seen {
    use std::cmp::Ordering;

    pub(crate) const LESS: u8 = 1;
    pub(crate) const SAME: u8 = 2;
    pub(crate) const MORE: u8 = 4;
    /// Not comparable: one is not a number.
    pub(crate) const STRANGE: u8 = 8;

    /// How two numbers compare, without a branch.
    #[inline]
    pub(crate) fn between(x: i128, y: i128) -> u8 {
        (u8::from(x < y) * LESS) | (u8::from(x == y) * SAME) | (u8::from(x > y) * MORE)
    }

    #[inline]
    pub(crate) fn of(order: Option<Ordering>) -> u8 {
        match order {
            Some(Ordering::Less) => LESS,
            Some(Ordering::Equal) => SAME,
            Some(Ordering::Greater) => MORE,
            None => STRANGE,
        }
    }
}

/// All ways in which neighbours compare.
fn neighbours(orders: impl Iterator<Item = Option<std::cmp::Ordering>>) -> i128 {
    i128::from(orders.fold(0, |all, order| all | seen::of(order)))
}
