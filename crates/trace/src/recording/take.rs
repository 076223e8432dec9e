//! From the runtime's event stream to entries.
//!
//! A strand stops before an operation, and others may go on before it is made. So the point of an access is no entry: the access
//! is one where it is made, with the callers that its point told. Of plain accesses only those at points are kept, and those of
//! instructions that are asked for: what no other strand touches concerns nobody.

use super::entry::{Entry, What};
use super::table::ObjectRow;
use crate::events::{Happening, TraceEvent};
use std::collections::{HashMap, HashSet};
use threadbare_abi::event::{Event, EventKind};
use threadbare_abi::object::ObjectClass;
use threadbare_abi::op::{OpKind, Order};

/// The point that a strand came to last.
#[derive(Clone, Copy, Debug)]
struct Stand {
    pc: u64,
    place: u32,
    /// An access that has not been made yet.
    awaited: Option<Entry>,
}

/// Makes entries of events, and keeps the places and objects that they name.
#[derive(Clone, Debug, Default)]
pub struct Taker {
    rows: HashMap<Vec<u64>, u32>,
    places: Vec<Vec<u64>>,
    objects: HashMap<ObjectRow, u32>,
    object_rows: Vec<ObjectRow>,
    callers: Vec<u64>,
    stands: HashMap<u16, Stand>,
    several: bool,
    /// An atomic operation whose outcome comes next.
    held: Option<Entry>,
    strands: Vec<(u16, u16, u32)>,
    kept: HashSet<u64>,
}

impl Taker {
    /// Accesses of these instructions are kept even if they are no points.
    pub fn keeping(pcs: impl IntoIterator<Item = u64>) -> Taker {
        Taker { kept: pcs.into_iter().collect(), ..Taker::default() }
    }

    /// The places so far: an instruction each, with its callers behind it, innermost first.
    pub fn places(&self) -> &[Vec<u64>] {
        &self.places
    }

    /// The objects so far, without names.
    pub fn objects(&self) -> &[ObjectRow] {
        &self.object_rows
    }

    /// The strands but for the first: index, parent, ordinal.
    pub fn strands(&self) -> &[(u16, u16, u32)] {
        &self.strands
    }

    fn place(&mut self, pcs: Vec<u64>) -> u32 {
        let next = self.places.len() as u32 + 1;
        let (places, rows) = (&mut self.places, &mut self.rows);
        *rows.entry(pcs).or_insert_with_key(|pcs| {
            places.push(pcs.clone());
            next
        })
    }

    fn object(&mut self, class: u8, addr: u64, size: u64) -> u32 {
        let object = ObjectRow { class, addr, size, name: 0 };
        let next = self.object_rows.len() as u32 + 1;
        let rows = &mut self.object_rows;
        *self.objects.entry(object).or_insert_with(|| {
            rows.push(object);
            next
        })
    }

    fn object_of(&mut self, op: OpKind, addr: u64, size: u32) -> u32 {
        let class = op.does().class;
        let access = op.is_plain_access() || op.is_atomic_access();
        match class {
            _ if op == OpKind::Create => 0,
            Some(class) if access => self.object(class as u8, addr, size.into()),
            Some(ObjectClass::Sleep) => 0,
            Some(class) => self.object(class as u8, addr, 0),
            None if op.has_memory_address() => self.object(0, addr, 0),
            None => 0,
        }
    }

    /// Where the strand does something: its last point's place, if that is the instruction.
    fn place_of(&mut self, strand: u16, pc: u64) -> u32 {
        match self.stands.get(&strand) {
            _ if pc == 0 => 0,
            Some(stand) if stand.pc == pc => stand.place,
            _ => self.place(vec![pc]),
        }
    }

    /// Takes an event; entries that are whole go to `out`.
    pub fn event(&mut self, event: &Event, out: &mut Vec<Entry>) {
        let Some(kind) = EventKind::from_code(event.kind) else { return };
        match (kind, &mut self.held) {
            (EventKind::Left, Some(Entry { strand, what: What::Atomic { left, .. }, .. }))
                if *strand == event.strand =>
            {
                *left = event.value;
                out.extend(self.held.take());
                return;
            }
            _ => out.extend(self.held.take()),
        }
        if let Some(TraceEvent { strand, happening }) = TraceEvent::decode(event) {
            self.happened(strand.0, &happening, out);
        } else {
            self.done(kind, event, out);
        }
    }

    fn happened(&mut self, strand: u16, happening: &Happening, out: &mut Vec<Entry>) {
        let entry = |what| Entry { strand, what, place: 0, object: 0 };
        match *happening {
            Happening::Caller(pc) => self.callers.push(pc),
            Happening::Point { op, order, size, addr, pc, .. } => {
                self.came(strand, out);
                let mut pcs = vec![pc];
                pcs.append(&mut self.callers);
                let place = if pc == 0 { 0 } else { self.place(pcs) };
                let object = self.object_of(op, addr, size);
                let made = Entry { strand, what: What::Operation { op, order }, place, object };
                let access = op.is_plain_access() || op.is_atomic_access() || op == OpKind::Free;
                let awaited = (access && self.several).then_some(made);
                self.stands.insert(strand, Stand { pc, place, awaited });
                if awaited.is_none() {
                    out.push(made);
                }
            }
            Happening::Switch { by_timeout, .. } => {
                out.push(entry(What::Switch { by_deadline: by_timeout }));
            }
            Happening::Created { parent, ordinal } => {
                self.several = true;
                self.strands.push((strand, parent.0, ordinal));
                out.push(entry(What::Created { parent: parent.0, ordinal }));
            }
            Happening::Ended => {
                self.came(strand, out);
                out.push(entry(What::Ended));
            }
            Happening::Blocked { op, addr, pc } => {
                let place = self.place_of(strand, pc);
                let object = self.object_of(op, addr, 0);
                out.push(Entry { place, object, ..entry(What::Waits { op }) });
            }
            Happening::Choice { kind, taken, options } => {
                out.push(entry(What::Choice { kind, taken, options }));
            }
            Happening::Value(_) => {}
            Happening::Time(ns) => out.push(entry(What::Time(ns))),
        }
    }

    fn done(&mut self, kind: EventKind, event: &Event, out: &mut Vec<Entry>) {
        let Event { pc, addr, value, strand, op, size_order, .. } = *event;
        let order = || Order::from_code((size_order >> 24) as u8);
        let stands_here = self.stands.get(&strand).is_some_and(|stand| stand.pc == pc);
        let at_point = stands_here && self.stands.get(&strand).is_some_and(|stand| stand.awaited.is_some());
        let what = match kind {
            EventKind::Accessed => {
                let Some(op) = OpKind::from_code(op) else { return };
                if !stands_here && op != OpKind::Free && !self.kept.contains(&pc) {
                    return;
                }
                What::Access { op }
            }
            EventKind::Atomic => {
                let (Some(op), Some(order)) = (OpKind::from_code(op), order()) else { return };
                let (flags, back) = ((size_order >> 8) as u8, (size_order >> 16) as u8);
                What::Atomic { op, order, flags, back, found: value, left: value }
            }
            EventKind::Fenced => match order() {
                Some(order) => What::Fence(order),
                None => return,
            },
            EventKind::Acquired => What::Acquire,
            EventKind::Released => What::Release,
            EventKind::AcquiredWord => What::AcquireWord { unseen: value != 0 },
            EventKind::AcquiredAll => What::AcquireAll,
            EventKind::Joined => What::Join,
            EventKind::Forgotten => What::Forget,
            _ => return,
        };
        if at_point && let Some(stand) = self.stands.get_mut(&strand) {
            stand.awaited = None;
        }
        let place = self.place_of(strand, pc);
        let memory = ObjectClass::Memory as u8;
        let object = match what {
            What::Access { .. } | What::Forget => self.object(memory, addr, value),
            What::Atomic { .. } => self.object(memory, addr, (size_order & 0xff).into()),
            What::AcquireWord { .. } => self.object(memory, addr, 4),
            What::Acquire | What::Release => self.object(op, addr, 0),
            What::Join => self.object(ObjectClass::Strand as u8, addr, 0),
            _ => 0,
        };
        let entry = Entry { strand, what, place, object };
        match what {
            What::Atomic { .. } => self.held = Some(entry),
            _ => out.push(entry),
        }
    }

    /// The strand has come further: what it stood before was made, and nobody told.
    fn came(&mut self, strand: u16, out: &mut Vec<Entry>) {
        out.extend(self.stands.get_mut(&strand).and_then(|stand| stand.awaited.take()));
    }

    /// The run is over: what strands stood before is told as what they came to.
    pub fn finish(&mut self, out: &mut Vec<Entry>) {
        out.extend(self.held.take());
        let mut strands: Vec<u16> = self.stands.keys().copied().collect();
        strands.sort_unstable();
        strands.into_iter().for_each(|strand| self.came(strand, out));
    }
}
