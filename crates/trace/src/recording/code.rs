//! Entries as bytes: a byte for what it is, then numbers with 7 bits a byte.

use super::entry::{Entry, What};
use threadbare_abi::event::ChoiceKind;
use threadbare_abi::op::{OpKind, Order};

const SAME_STRAND: u8 = 0x80;

fn number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// What is left of a frame.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl Bytes<'_> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return None;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    fn op(&mut self) -> Option<OpKind> {
        OpKind::from_code(self.byte()?)
    }

    fn order(&mut self) -> Option<Order> {
        Order::from_code(self.byte()?)
    }
}

/// No order.
const UNORDERED: u8 = 0xff;

/// Adds an entry; `last` is the strand of the one before it in its frame.
pub(super) fn push(bytes: &mut Vec<u8>, entry: &Entry, last: &mut Option<u16>) {
    let same = last.replace(entry.strand) == Some(entry.strand);
    bytes.push(code(&entry.what) | if same { SAME_STRAND } else { 0 });
    if !same {
        number(bytes, entry.strand.into());
    }
    number(bytes, entry.place.into());
    number(bytes, entry.object.into());
    match entry.what {
        What::Operation { op, order } => {
            bytes.extend([op as u8, order.map_or(UNORDERED, |order| order as u8)])
        }
        What::Access { op } | What::Waits { op } => bytes.push(op as u8),
        What::Atomic { op, order, flags, back, found, left } => {
            bytes.extend([op as u8, order as u8, flags, back]);
            number(bytes, found);
            // Most are small numbers, and near what was found.
            let change = left.wrapping_sub(found) as i64;
            number(bytes, (change << 1 ^ change >> 63) as u64);
        }
        What::Fence(order) => bytes.push(order as u8),
        What::AcquireWord { unseen } => bytes.push(unseen.into()),
        What::Created { parent, ordinal } => {
            number(bytes, parent.into());
            number(bytes, ordinal.into());
        }
        What::Switch { by_deadline } => bytes.push(by_deadline.into()),
        What::Choice { kind, taken, options } => {
            bytes.push(kind as u8);
            number(bytes, taken);
            number(bytes, options);
        }
        What::Time(ns) => number(bytes, ns),
        What::Acquire | What::Release | What::AcquireAll | What::Join | What::Ended | What::Forget => {}
    }
}

fn code(what: &What) -> u8 {
    match what {
        What::Operation { .. } => 1,
        What::Access { .. } => 2,
        What::Atomic { .. } => 3,
        What::Fence(_) => 4,
        What::Acquire => 5,
        What::Release => 6,
        What::AcquireWord { .. } => 7,
        What::AcquireAll => 8,
        What::Join => 9,
        What::Created { .. } => 10,
        What::Ended => 11,
        What::Waits { .. } => 12,
        What::Switch { .. } => 13,
        What::Choice { .. } => 14,
        What::Time(_) => 15,
        What::Forget => 16,
    }
}

/// Takes an entry off; none where the bytes are no entry.
pub(super) fn take(bytes: &mut Bytes<'_>, last: &mut Option<u16>) -> Option<Entry> {
    let first = bytes.byte()?;
    let strand = if first & SAME_STRAND != 0 { (*last)? } else { bytes.small()? };
    *last = Some(strand);
    let (place, object) = (bytes.small()?, bytes.small()?);
    let what = match first & !SAME_STRAND {
        1 => {
            let op = bytes.op()?;
            let order = match bytes.byte()? {
                UNORDERED => None,
                code => Some(Order::from_code(code)?),
            };
            What::Operation { op, order }
        }
        2 => What::Access { op: bytes.op()? },
        3 => {
            let (op, order) = (bytes.op()?, bytes.order()?);
            let (flags, back, found) = (bytes.byte()?, bytes.byte()?, bytes.number()?);
            let change = bytes.number()?;
            let change = (change >> 1) as i64 ^ -((change & 1) as i64);
            What::Atomic { op, order, flags, back, found, left: found.wrapping_add(change as u64) }
        }
        4 => What::Fence(bytes.order()?),
        5 => What::Acquire,
        6 => What::Release,
        7 => What::AcquireWord { unseen: bytes.byte()? != 0 },
        8 => What::AcquireAll,
        9 => What::Join,
        10 => What::Created { parent: bytes.small()?, ordinal: bytes.small()? },
        11 => What::Ended,
        12 => What::Waits { op: bytes.op()? },
        13 => What::Switch { by_deadline: bytes.byte()? != 0 },
        14 => What::Choice {
            kind: ChoiceKind::from_code(bytes.byte()?)?,
            taken: bytes.number()?,
            options: bytes.number()?,
        },
        15 => What::Time(bytes.number()?),
        16 => What::Forget,
        _ => return None,
    };
    Some(Entry { strand, what, place, object })
}
