//! The dependence order: what could not be swapped without anybody being able to tell.
//!
//! An operation counts where it is made. A strand comes to it, and makes it when it goes on: right before its next entry, which is the
//! switch to it if others went on in between. What is acquired and released counts where that is told.

use super::clock::{self, Clock, join};
use super::{RunOrder, SIGNALS, Stand, depends, grains, is_large};
use crate::recording::{Entry, Table, What};
use std::collections::HashMap;
use threadbare_abi::event::atomic as flags;
use threadbare_abi::object::ObjectClass;
use threadbare_abi::op::{Op, OpKind, Order};

/// The operation that an entry is, if its order can matter; `came` is the one its strand came to last.
pub fn op_of(entry: &Entry, table: &Table, came: Option<OpKind>) -> Option<Op> {
    let object = table.object(entry.object).copied().unwrap_or_default();
    let with = |kind| {
        let size = u32::try_from(object.size).unwrap_or(u32::MAX);
        Some(Op { kind, order: Order::SeqCst, size, addr: object.addr, pc: 0 })
    };
    let class = object.class();
    let of_class = |kind: &OpKind| kind.does().class == class;
    match entry.what {
        What::Operation { op, .. } => with(op),
        What::Access { op } => with(op),
        What::Atomic { op, flags: bits, found, left, .. } => {
            let unchanged = op != OpKind::AtomicStore && found == left;
            with(if unchanged || bits & flags::REFUSED != 0 { OpKind::AtomicLoad } else { op })
        }
        What::Acquire if class.is_some_and(ObjectClass::is_acquired) => {
            with(came.filter(of_class).or_else(|| kind_of(class?, true))?)
        }
        What::Release if class == Some(ObjectClass::Readers) => with(OpKind::ReadUnlock),
        What::Release if class.is_some_and(ObjectClass::is_acquired) => {
            with(came.filter(of_class).or_else(|| class?.released_by(false))?)
        }
        What::Join => with(OpKind::Join),
        _ => None,
    }
}

fn kind_of(class: ObjectClass, acquires: bool) -> Option<OpKind> {
    OpKind::ALL.iter().copied().find(|kind| kind.does().class == Some(class) && kind.acquires() == acquires)
}

/// Whether acquiring and releasing of such an object is told where it is made, so that coming to it is nothing.
fn is_told(op: OpKind) -> bool {
    op.does().class.is_some_and(|class| class.is_acquired() && class != ObjectClass::Strand)
        && (op.acquires() || op.releases())
}

/// The order of a run's entries, by what depends on what.
pub fn dependence(entries: &[Entry], table: &Table) -> RunOrder {
    let strands = table.strands.len().max(1);
    let mut making = Making {
        order: RunOrder { stands: vec![Stand::default(); entries.len()], clocks: Vec::new() },
        clocks: vec![Clock::new(); strands],
        history: HashMap::new(),
        large: Vec::new(),
        everything: None,
    };
    let mut coming: Vec<Option<usize>> = vec![None; strands];
    let mut came: Vec<Option<OpKind>> = vec![None; strands];
    for (at, entry) in entries.iter().enumerate() {
        let me = usize::from(entry.strand);
        if let Some(before) = coming[me].take() {
            making.make(before, &entries[before], op_of(&entries[before], table, None));
        }
        match entry.what {
            What::Operation { op, .. } => {
                came[me] = Some(op);
                coming[me] = Some(at);
                if is_told(op) {
                    coming[me] = None;
                    making.make(at, entry, None);
                }
            }
            What::Created { parent, .. } => {
                let parent = making.clocks[usize::from(parent).min(strands - 1)].clone();
                join(&mut making.clocks[me], &parent);
                making.make(at, entry, None);
            }
            What::Join => {
                let other = table.object(entry.object).map_or(0, |object| object.addr as usize);
                let other = making.clocks.get(other).cloned().unwrap_or_default();
                join(&mut making.clocks[me], &other);
                making.make(at, entry, None);
            }
            _ => making.make(at, entry, op_of(entry, table, came[me])),
        }
    }
    for at in coming.into_iter().flatten() {
        making.make(at, &entries[at], op_of(&entries[at], table, None));
    }
    making.order
}

struct Making {
    order: RunOrder,
    /// What each strand knows; its own events are in it.
    clocks: Vec<Clock>,
    history: HashMap<u64, Vec<(usize, Op)>>,
    large: Vec<(usize, Op)>,
    /// The last operation that depends on everything.
    everything: Option<usize>,
}

impl Making {
    fn make(&mut self, at: usize, entry: &Entry, op: Option<Op>) {
        let me = usize::from(entry.strand);
        let mut clock = std::mem::take(&mut self.clocks[me]);
        if let Some(op) = &op {
            self.depend(op, me, &mut clock);
        }
        let ordinal = clock::get(&clock, entry.strand) + 1;
        clock::raise(&mut clock, entry.strand, ordinal);
        let row = self.order.clocks.len() as u32;
        self.order.stands[at] = Stand { strand: entry.strand, ordinal, clock: row };
        self.order.clocks.push(clock.clone());
        self.clocks[me] = clock;
        let Some(op) = op else { return };
        if grains(&op) == (SIGNALS..SIGNALS + 1) {
            self.everything = Some(at);
        } else if is_large(&op) {
            self.large.push((at, op));
        } else {
            grains(&op).for_each(|grain| self.history.entry(grain).or_default().push((at, op)));
        }
    }

    /// Joins what comes before an operation into its strand's clock.
    fn depend(&self, op: &Op, me: usize, clock: &mut Clock) {
        let known = |clock: &Clock, at: usize| {
            let Stand { strand, ordinal, .. } = self.order.stands[at];
            clock::get(clock, strand) >= ordinal
        };
        let take = |clock: &mut Clock, at: usize| {
            if !known(clock, at) {
                join(clock, &self.order.clocks[self.order.stands[at].clock as usize]);
            }
        };
        if grains(op) == (SIGNALS..SIGNALS + 1) {
            let others = self.clocks.iter().enumerate().filter(|(other, _)| *other != me);
            others.for_each(|(_, other)| join(clock, other));
            return;
        }
        self.everything.into_iter().for_each(|at| take(clock, at));
        self.large.iter().filter(|(_, other)| depends(other, op)).for_each(|&(at, _)| take(clock, at));
        let range = grains(op);
        let lists: Vec<&Vec<(usize, Op)>> = match is_large(op) {
            true => {
                self.history.iter().filter(|(grain, _)| range.contains(grain)).map(|(_, list)| list).collect()
            }
            false => range.filter_map(|grain| self.history.get(&grain)).collect(),
        };
        for list in lists {
            for (at, other) in list.iter().rev() {
                if !depends(other, op) {
                    continue;
                }
                take(clock, *at);
                // All that came before a change of the whole place comes before this, too.
                let whole = other.addr <= op.addr
                    && other.addr.saturating_add(other.size.into()) >= op.addr.saturating_add(op.size.into());
                if whole && other.kind.changes() && other.kind != OpKind::Free {
                    break;
                }
            }
        }
    }
}
