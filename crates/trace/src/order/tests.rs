use super::*;
use crate::recording::{Entry, ObjectRow, StrandRow, Table, What};
use threadbare_abi::object::ObjectClass;
use threadbare_abi::op::{OpKind, Order};

const X: u32 = 1;
const FLAG: u32 = 2;
const MUTEX: u32 = 3;
const FIRST: u32 = 4;

fn table() -> Table {
    let object = |class: ObjectClass, addr, size| ObjectRow { class: class as u8, addr, size, name: 0 };
    Table {
        strands: vec![StrandRow::default(); 3],
        objects: vec![
            object(ObjectClass::Memory, 0x100, 4),
            object(ObjectClass::Memory, 0x200, 4),
            object(ObjectClass::Mutex, 0x300, 0),
            object(ObjectClass::Strand, 1, 0),
        ],
        ..Table::default()
    }
}

fn entry(strand: u16, what: What, object: u32) -> Entry {
    Entry { strand, what, place: u32::from(strand) + 1, object }
}

fn created(strand: u16) -> Entry {
    entry(strand, What::Created { parent: 0, ordinal: strand.into() }, 0)
}

fn access(strand: u16, op: OpKind) -> Entry {
    entry(strand, What::Access { op }, X)
}

fn atomic(strand: u16, op: OpKind, order: Order) -> Entry {
    entry(strand, What::Atomic { op, order, flags: 0, back: 0, found: 0, left: 1 }, FLAG)
}

fn races(entries: &[Entry]) -> Vec<(usize, usize)> {
    unordered(entries, &table(), &happens_before(entries, &table()))
}

#[test]
fn creation_and_join_order() {
    let entries = [
        access(0, OpKind::Write),
        created(1),
        access(1, OpKind::Write),
        entry(1, What::Ended, 0),
        entry(0, What::Join, FIRST),
        access(0, OpKind::Write),
    ];
    assert_eq!(races(&entries), []);
    let order = happens_before(&entries, &table());
    assert!(order.precedes(0, 2) && order.precedes(2, 5) && !order.precedes(2, 1));
    let without: Vec<Entry> = entries.iter().filter(|entry| entry.what != What::Join).copied().collect();
    assert_eq!(races(&without), [(2, 4)]);
}

#[test]
fn a_lock_orders_what_it_guards() {
    let section = |strand| {
        [
            entry(strand, What::Acquire, MUTEX),
            access(strand, OpKind::ReadWrite),
            entry(strand, What::Release, MUTEX),
        ]
    };
    let mut entries = vec![created(1), created(2)];
    entries.extend(section(1));
    entries.extend(section(2));
    assert_eq!(races(&entries), []);
    entries.push(access(1, OpKind::Read));
    assert_eq!(races(&entries), [(6, 8)]);
    let order = happens_before(&entries, &table());
    assert!(order.concurrent(6, 8) && order.precedes(3, 6));
}

#[test]
fn atomics_order_by_their_orders() {
    use Order::{Acquire, Relaxed, Release};
    let message = |store, load| {
        [
            created(1),
            created(2),
            access(1, OpKind::Write),
            atomic(1, OpKind::AtomicStore, store),
            atomic(2, OpKind::AtomicLoad, load),
            access(2, OpKind::Read),
        ]
    };
    assert_eq!(races(&message(Release, Acquire)), []);
    assert_eq!(races(&message(Relaxed, Acquire)), [(2, 5)]);
    assert_eq!(races(&message(Release, Relaxed)), [(2, 5)]);
    // By fences.
    let mut fenced = message(Relaxed, Relaxed).to_vec();
    fenced.insert(5, entry(2, What::Fence(Acquire), 0));
    fenced.insert(3, entry(1, What::Fence(Release), 0));
    assert_eq!(races(&fenced), []);
    fenced.remove(3);
    assert_eq!(races(&fenced).len(), 1);
    // A read-modify-write in between carries the release sequence on, a store ends it.
    let mut carried = message(Release, Acquire).to_vec();
    carried.insert(4, atomic(0, OpKind::AtomicRmw, Relaxed));
    assert_eq!(races(&carried), []);
    carried[4] = atomic(0, OpKind::AtomicStore, Relaxed);
    assert_eq!(races(&carried), [(2, 6)]);
}

#[test]
fn memory_that_is_given_out_anew_has_no_past() {
    let mut entries = vec![created(1), created(2), access(1, OpKind::Write), access(2, OpKind::Write)];
    assert_eq!(races(&entries), [(2, 3)]);
    entries.insert(3, entry(0, What::Forget, X));
    assert_eq!(races(&entries), []);
}

#[test]
fn atomics_do_not_race_with_each_other() {
    let relaxed = |strand| Entry { object: X, ..atomic(strand, OpKind::AtomicRmw, Order::Relaxed) };
    assert_eq!(races(&[created(1), created(2), relaxed(1), relaxed(2)]), []);
    assert_eq!(races(&[created(1), created(2), relaxed(1), access(2, OpKind::Read)]), [(2, 3)]);
}

#[test]
fn dependence_is_more_than_happens_before() {
    let entries = [
        created(1),
        created(2),
        access(1, OpKind::Write),
        access(2, OpKind::Read),
        entry(1, What::Acquire, MUTEX),
        access(1, OpKind::Read),
    ];
    let (before, depends) = (happens_before(&entries, &table()), dependence(&entries, &table()));
    assert!(before.concurrent(2, 3) && depends.precedes(2, 3));
    assert!(depends.concurrent(3, 5) && depends.concurrent(3, 4) && depends.precedes(0, 5));
    for first in 0..entries.len() {
        for second in 0..entries.len() {
            assert!(!before.precedes(first, second) || depends.precedes(first, second), "{first} {second}");
        }
    }
}

#[test]
fn an_operation_counts_where_its_strand_goes_on() {
    let io = |strand| entry(strand, What::Operation { op: OpKind::StateWrite, order: None }, X);
    let switch = |strand| entry(strand, What::Switch { by_deadline: false }, 0);
    // Strand 1 comes to it first, and makes it last.
    let entries = [created(1), created(2), io(1), switch(2), io(2), switch(1), entry(1, What::Ended, 0)];
    let order = dependence(&entries, &table());
    // Strand 2's is not known to be made before strand 2 goes on, or the run ends.
    assert!(order.precedes(2, 4) && !order.precedes(4, 2));
    let mut more = entries.to_vec();
    more.insert(5, entry(2, What::Release, 0));
    let order = dependence(&more, &table());
    assert!(order.precedes(4, 2) && order.precedes(4, 7));
}
