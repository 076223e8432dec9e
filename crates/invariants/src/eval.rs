//! Whether a statement holds in a sample.

use crate::layout::{Kind, Layout, Row, Slot, cell_of_real, cell_of_text, real, seen};
use crate::pairs::tolerance;
use crate::statement::{Cmp, Constant, Statement};
use crate::value::Type;
use std::cmp::Ordering;

impl Constant {
    /// The cell that a slot has with this value. Nothing if it cannot have it.
    pub(crate) fn cell(&self, slot: &Slot) -> Option<i128> {
        match (self, slot.kind) {
            (Self::Int(value), Kind::Int | Kind::Enum | Kind::Pointer) => Some(*value),
            (Self::Int(value @ (0 | 1)), Kind::Flag) => Some(*value),
            (Self::Bool(value), Kind::Flag) => Some((*value).into()),
            (Self::Null, Kind::Pointer) => Some(0),
            (Self::Real(value), Kind::Float) => Some(cell_of_real(value.0)),
            (Self::Int(value), Kind::Float) => Some(cell_of_real(*value as f64)),
            (Self::Text(text), Kind::Text) => Some(cell_of_text(text)),
            (Self::Name(name), Kind::Enum) => match &slot.class {
                Type::Enum { names } => names.iter().find(|known| known.1 == *name).map(|known| known.0),
                _ => None,
            },
            _ => None,
        }
    }
}

/// How two cells of a kind compare. Nothing if one is not a number.
pub(crate) fn order(kind: Kind, x: i128, y: i128) -> Option<Ordering> {
    if kind == Kind::Float { real(x).partial_cmp(&real(y)) } else { Some(x.cmp(&y)) }
}

/// Whether a comparison holds; what is not a number is different from all.
pub(crate) fn admits(cmp: Cmp, order: Option<Ordering>) -> bool {
    order.map_or(cmp == Cmp::Ne, |order| cmp.admits(order))
}

/// The sum of a linear statement's terms. Nothing if it is too great.
pub(crate) fn sum<V>(terms: &[(i128, V)], mut value: impl FnMut(&V) -> i128) -> Option<i128> {
    terms.iter().try_fold(0_i128, |sum, (factor, x)| sum.checked_add(factor.checked_mul(value(x))?))
}

impl Statement<usize> {
    /// Whether it holds in a row. Nothing if one of its variables is missing, or its numbers are too great to say.
    pub(crate) fn holds(&self, row: &Row, layout: &Layout) -> Option<bool> {
        match self {
            Self::Value { x, cmp, with } => {
                let slot = &layout.slots[*x];
                Some(admits(*cmp, order(slot.kind, row.get(*x)?, with.cell(slot)?)))
            }
            Self::OneOf { x, values } => {
                let (slot, cell) = (&layout.slots[*x], row.get(*x)?);
                Some(values.iter().any(|value| value.cell(slot) == Some(cell)))
            }
            Self::Compare { x, cmp, y } => {
                Some(admits(*cmp, order(layout.slots[*x].kind, row.get(*x)?, row.get(*y)?)))
            }
            Self::Linear { terms, cmp, with } => {
                if terms.iter().any(|(_, x)| row.get(*x).is_none()) {
                    return None;
                }
                sum(terms, |&x| row.cells[x]).map(|sum| cmp.admits(sum.cmp(with)))
            }
            Self::Offset { x, y, by } => {
                row.get(*x).and(row.get(*y))?;
                let (x, y) = (row.real(*x), row.real(*y));
                // Twice the room, since the offset is the middle of a span.
                let room = 2.0 * tolerance(x.abs().max(y.abs())).max(by.0.abs() * f64::EPSILON);
                Some((x - y - by.0).abs() <= room)
            }
            Self::Modulus { x, modulus, rest } => {
                let cell = row.get(*x)?;
                Some(*modulus > 0 && cell.rem_euclid(*modulus) == *rest)
            }
            Self::Bits { x, mask, bits } => Some(row.get(*x)? & mask == *bits),
            Self::Sorted { x, cmp } => Some(sorted(*cmp, row.get(*x)? as u8)),
            Self::When { flag, is, then } => {
                if row.get(*flag)? == i128::from(*is) {
                    then.holds(row, layout)
                } else {
                    Some(true)
                }
            }
        }
    }
}

/// Whether neighbours that compare in all these ways are sorted so.
pub(crate) fn sorted(cmp: Cmp, seen: u8) -> bool {
    let orders =
        [(seen::LESS, Ordering::Less), (seen::SAME, Ordering::Equal), (seen::MORE, Ordering::Greater)];
    seen & seen::STRANGE == 0 && orders.iter().all(|&(bit, order)| seen & bit == 0 || cmp.admits(order))
}
