//! Happens-before, from what a recorded run says it joined.
//!
//! The rules are those of the runtime's race check (`rt/engine/race`): every object has a clock, a release adds the strand's to it, an acquire
//! takes it over; atomics follow C11 ([`super::word`]). What precompiled code ordered out of sight is in the trace as the
//! run took it: more is ordered than need be, never less.

use super::clock::{self, Clock, join};
use super::word::{Strand, Words};
use super::{RunOrder, Stand};
use crate::recording::{Entry, ObjectRow, Table, What};
use std::collections::HashMap;
use threadbare_abi::event::atomic as flags;
use threadbare_abi::object::ObjectId;

/// The order of a run's entries, by what the language says.
pub fn happens_before(entries: &[Entry], table: &Table) -> RunOrder {
    let mut making = Making::new(table);
    entries.iter().for_each(|entry| making.take(entry));
    making.order
}

struct Making<'a> {
    table: &'a Table,
    order: RunOrder,
    strands: Vec<Strand>,
    /// The row of each strand's clock.
    rows: Vec<u32>,
    objects: HashMap<(u8, u64), Clock>,
    words: Words,
}

impl<'a> Making<'a> {
    fn new(table: &'a Table) -> Making<'a> {
        let order = RunOrder { clocks: vec![Clock::new()], ..RunOrder::default() };
        let (strands, rows) = (Vec::new(), Vec::new());
        Making { table, order, strands, rows, objects: HashMap::new(), words: Words::default() }
    }

    fn strand(&mut self, index: u16) -> &mut Strand {
        let needed = usize::from(index) + 1;
        if self.strands.len() < needed {
            self.strands.resize_with(needed, Strand::default);
            self.rows.resize(needed, 0);
        }
        &mut self.strands[usize::from(index)]
    }

    fn take(&mut self, entry: &Entry) {
        let me = entry.strand;
        let strand = self.strand(me);
        strand.ordinal += 1;
        let ordinal = strand.ordinal;
        clock::raise(&mut strand.clock, me, ordinal);
        let object = self.table.object(entry.object).copied().unwrap_or_default();
        if self.apply(entry, &object) {
            self.rows[usize::from(me)] = self.order.clocks.len() as u32;
            self.order.clocks.push(self.strands[usize::from(me)].clock.clone());
        }
        self.order.stands.push(Stand { strand: me, ordinal, clock: self.rows[usize::from(me)] });
    }

    /// Does what the entry says; whether its strand may know more now.
    fn apply(&mut self, entry: &Entry, object: &ObjectRow) -> bool {
        let me = usize::from(entry.strand);
        let key = (object.class, object.addr);
        let unseen = (ObjectId::UNSEEN.class as u8, ObjectId::UNSEEN.addr);
        match entry.what {
            What::Acquire => match self.objects.get(&key) {
                Some(clock) => join(&mut self.strands[me].clock, clock),
                None => return false,
            },
            What::Release => {
                join(self.objects.entry(key).or_default(), &self.strands[me].clock);
                return false;
            }
            What::AcquireAll => {
                let all = self.everything();
                join(&mut self.strands[me].clock, &all);
            }
            What::Created { parent, .. } => {
                let parent = self.strand(parent).clock.clone();
                join(&mut self.strand(entry.strand).clock, &parent);
            }
            What::Join => match self.strands.get(object.addr as usize).map(|other| other.clock.clone()) {
                Some(other) => join(&mut self.strands[me].clock, &other),
                None => return false,
            },
            What::AcquireWord { unseen } => {
                let all = unseen.then(|| self.everything());
                self.words.acquire(&mut self.strands[me], object.addr, all.as_ref());
            }
            What::Atomic { op, order, flags: bits, back, .. } => {
                let all = (bits & flags::UNSEEN_WRITER != 0).then(|| self.everything());
                let published = self.objects.get(&unseen).filter(|_| bits & flags::HIDDEN != 0);
                let made = super::word::Made {
                    op,
                    order,
                    refused: bits & flags::REFUSED != 0,
                    back: back.into(),
                    all,
                    published,
                };
                self.words.made(&mut self.strands[me], entry.strand, (object.addr, object.size), &made);
                return order.acquires();
            }
            What::Fence(order) => {
                let strand = &mut self.strands[me];
                if order.acquires() {
                    let waiting = strand.fence_acquire.clone();
                    join(&mut strand.clock, &waiting);
                }
                if order.releases() {
                    strand.fence_release = strand.clock.clone();
                }
                return order.acquires();
            }
            What::Forget => {
                self.words.forget(object.addr, object.size);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// All that any strand did so far.
    fn everything(&self) -> Clock {
        self.strands.iter().map(|strand| strand.ordinal).collect()
    }
}
