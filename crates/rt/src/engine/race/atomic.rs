//! Atomic operations: what they order, by C11's rules.
//!
//! Each atomic object keeps the clock that whoever acquires it gets: what its release sequence published (`threadbare_rules::sequence`).
//!
//! Code that the compiler's pass has not seen (the precompiled std, libstdc++) may write atomics too. The last value seen
//! tells: an operation that finds another one met such a writer, and acquires from every strand.

use super::super::live::live;
use super::super::recorded;
use super::super::shadow::{self, Cell};
use super::super::strand::Strand;
use super::tell::{self, Mine};
use super::{SYNC, hidden, plain, stores};
use crate::raw::Raw;
use alloc::boxed::Box;
use alloc::vec::Vec;
use threadbare_abi::op::{OpKind, Order};
use threadbare_rules::clock::Clock;
use threadbare_rules::marks::{Entry, mark};
use threadbare_rules::sequence::Sequence;
use threadbare_rules::stores::{History, Made};

/// What one strand did to an atomic object last.
#[derive(Clone, Copy, Default)]
struct Touch {
    write: u64,
    write_pc: u64,
    read: u64,
    read_pc: u64,
    /// It is in the strand's list of locks, or has been.
    listed: bool,
}

/// An atomic object.
pub struct Atomic {
    addr: u64,
    size: u8,
    /// Code that nobody sees uses it too.
    hidden: bool,
    /// It has been compared and exchanged, as locks are.
    compared: bool,
    last: u64,
    sequence: Sequence,
    touches: Vec<Touch>,
    /// The stores that strands may still see, where that is more than the newest.
    history: History,
    /// The next one in the same 8 bytes.
    next: *mut Atomic,
}

struct Table {
    slots: *mut (u64, *mut Atomic),
    size: usize,
    used: usize,
}

static mut TABLE: Table = Table { slots: core::ptr::null_mut(), size: 0, used: 0 };
const FIRST_SLOTS: usize = 256;

/// The place of a cell's first atomic object; the key is the address divided by 8, plus 1.
fn slot(key: u64) -> Raw<(u64, *mut Atomic)> {
    // SAFETY: single kernel thread; the table always has a free slot.
    unsafe {
        let table = &mut *(&raw mut TABLE);
        if table.used * 2 >= table.size {
            grow(table);
        }
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize & (table.size - 1);
        loop {
            let slot = &mut *table.slots.add(at);
            if slot.0 == key {
                return Raw::new(slot);
            }
            if slot.0 == 0 {
                slot.0 = key;
                table.used += 1;
                return Raw::new(slot);
            }
            at = (at + 1) & (table.size - 1);
        }
    }
}

#[cold]
unsafe fn grow(table: &mut Table) {
    let size = (table.size * 2).max(FIRST_SLOTS);
    let mut slots: Vec<(u64, *mut Atomic)> = Vec::new();
    slots.resize(size, (0, core::ptr::null_mut()));
    // SAFETY: the old slots are valid; the new ones are leaked, as the old ones are.
    unsafe {
        for index in 0..table.size {
            let (key, value) = *table.slots.add(index);
            if key != 0 {
                let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize & (size - 1);
                while slots[at].0 != 0 {
                    at = (at + 1) & (size - 1);
                }
                slots[at] = (key, value);
            }
        }
    }
    table.slots = slots.leak().as_mut_ptr();
    table.size = size;
}

fn objects(mut at: *mut Atomic) -> impl Iterator<Item = Raw<Atomic>> {
    core::iter::from_fn(move || {
        // SAFETY: objects are never freed; single kernel thread.
        let this = unsafe { Raw::at(at) }?;
        at = this.next;
        Some(this)
    })
}

/// The object at an address, and whether nothing was known of it.
fn object(addr: u64, size: u8) -> (Raw<Atomic>, bool) {
    // SAFETY: the cell is in the shadow; single kernel thread.
    let cell = unsafe { &mut *shadow::cell(addr) };
    let mut slot = slot((addr >> 3) + 1);
    if cell.touch & SYNC == 0 {
        // Memory that was given anew since: the objects there are gone.
        cell.touch |= SYNC;
        for mut old in objects(slot.1) {
            old.size = 0;
        }
    }
    let mut unused = None;
    for found in objects(slot.1) {
        if found.addr == addr && found.size == size {
            return (found, false);
        }
        if found.size == 0 {
            unused = Some(found);
        }
    }
    let mut object = match unused {
        Some(object) => object,
        None => {
            let made = Box::leak(Box::new(Atomic {
                addr,
                size,
                hidden: false,
                compared: false,
                last: 0,
                sequence: Sequence::new(),
                touches: Vec::new(),
                history: History::default(),
                next: slot.1,
            }));
            slot.1 = made;
            // SAFETY: never freed; single kernel thread.
            unsafe { Raw::new(made) }
        }
    };
    (object.addr, object.size) = (addr, size);
    (object.hidden, object.compared) = (false, false);
    object.sequence.clear();
    object.touches.clear();
    object.history.clear();
    (object, true)
}

/// Whether the word is a lock whose fast path the compiler's pass has seen.
pub fn is_lock(addr: u64) -> bool {
    // SAFETY: the cell is in the shadow; single kernel thread.
    let known = unsafe { (*shadow::cell(addr)).touch } & SYNC != 0;
    known
        && objects(slot((addr >> 3) + 1).1)
            .any(|object| object.addr == addr && object.size != 0 && object.compared)
}

impl Atomic {
    fn overlaps(&self, addr: u64, size: u8) -> bool {
        self.size != 0 && self.addr < addr + size as u64 && addr < self.addr + self.size as u64
    }

    /// Somebody out of sight has written it: whatever any strand did so far may be published by that.
    fn met_unseen_writer(&mut self) {
        self.hidden = true;
        self.history.clear();
        hidden::tell_all(&mut self.sequence.clock);
        recorded::met_unseen_writer();
    }

    fn touched(&mut self, strand: usize) -> &mut Touch {
        if strand >= self.touches.len() {
            self.touches.resize(strand + 1, Touch::default());
        }
        &mut self.touches[strand]
    }
}

/// The strand has read what the object's release sequence published.
fn take_over(this: &mut Strand, object: &mut Atomic, found: u64, first: bool, order: Order) {
    if first || found != object.last {
        object.met_unseen_writer();
    }
    takes(this, &object.sequence.clock, order);
    if object.hidden && order.acquires() {
        hidden::acquire(this);
    } else if object.hidden {
        hidden::acquire_later(this);
    }
    for other in neighbours(object) {
        takes(this, &other.sequence.clock, order);
    }
}

fn takes(this: &mut Strand, published: &Clock, order: Order) {
    if order.acquires() {
        this.clock.join_as(this.id.index(), published);
    } else {
        this.fence_acquire.join(published);
    }
}

/// Other objects that share bytes with this one.
fn neighbours(object: &Atomic) -> impl Iterator<Item = Raw<Atomic>> + use<> {
    let (addr, size) = (object.addr, object.size);
    let alone = object.next.is_null();
    let first = if alone && core::ptr::eq(slot((addr >> 3) + 1).1, object) {
        core::ptr::null_mut()
    } else {
        slot((addr >> 3) + 1).1
    };
    objects(first)
        .filter(move |other| other.overlaps(addr, size) && (other.addr != addr || other.size != size))
}

/// What the strand publishes by a store or read-modify-write with this order: its clock, or what its last release fence
/// published.
fn publish(this: &mut Strand, object: &mut Atomic, order: Order, carries_on: bool) {
    if order.releases() {
        this.publishes();
    }
    object.sequence.publish(this.id.0, &this.clock, &this.fence_release, order, carries_on);
    for mut other in neighbours(object) {
        other.sequence.clock.join(&object.sequence.clock);
        other.last = value(other.addr, other.size);
    }
}

/// Whether code that the compiler's pass has seen has written the word, and code out of sight is not known to use it: the first atomic look at it
/// orders nothing.
fn is_ours(addr: u64, size: u8) -> bool {
    plain::is_written(addr, size as u64) && !hidden::is_used(addr)
}

fn value(addr: u64, size: u8) -> u64 {
    // SAFETY: the program has an atomic object of this size there.
    unsafe {
        match size {
            1 => (addr as *const u8).read_volatile() as u64,
            2 => (addr as *const u16).read_unaligned() as u64,
            4 => (addr as *const u32).read_unaligned() as u64,
            _ => (addr as *const u64).read_unaligned(),
        }
    }
}

fn check(this: &mut Strand, kind: OpKind, addr: u64, size: u8, pc: u64) {
    plain::atomic_access(this, &Mine { kind, addr, size: size as u32, pc });
}

/// An atomic load has found `found`.
pub fn load(this: &mut Strand, addr: u64, size: u8, found: u64, order: Order, pc: u64) {
    let (mut object, first) = object(addr, size);
    let back = choice::taken();
    if back > 0 {
        stale(this, &object, back, order);
    } else {
        let known = first && (is_ours(addr, size) || super::pristine::unchanged(addr, size, found));
        if known {
            object.last = found;
        }
        take_over(this, &mut object, found, first && !known, order);
        object.last = found;
    }
    if choice::is_on() {
        stores::looked(&mut object.history, this, back, order);
        choice::in_total(OpKind::AtomicLoad, order);
    }
    let touch = object.touched(this.id.index());
    (touch.read, touch.read_pc) = (live().events, pc);
    check(this, OpKind::AtomicLoad, addr, size, pc);
}

/// The strand has read what an older store published.
fn stale(this: &mut Strand, object: &Atomic, back: usize, order: Order) {
    recorded::passed_over(back);
    let Some(stored) = object.history.back(back) else { return };
    takes(this, &stored.release, order);
}

/// An atomic store of `stored` has been made.
pub fn store(this: &mut Strand, addr: u64, size: u8, stored: u64, order: Order, pc: u64) {
    check(this, OpKind::AtomicStore, addr, size, pc);
    let (mut object, _) = object(addr, size);
    let back = choice::taken();
    choice::in_total(OpKind::AtomicLoad, order);
    if back > 0 {
        recorded::passed_over(back);
        choice::publish_late(this, &mut object, back, stored, order, pc);
    } else {
        publish(this, &mut object, order, false);
        object.last = value(addr, size);
        if choice::is_on() {
            let made = Made { pc, value: stored, order, exchange: false, back: 0 };
            let object = &mut *object;
            stores::push(&mut object.history, this, made, &object.sequence.clock);
        }
    }
    let touch = object.touched(this.id.index());
    (touch.write, touch.write_pc) = (live().events, pc);
}

/// An atomic compare-and-exchange has found what it expected.
pub fn exchanged(this: &mut Strand, addr: u64, size: u8, found: u64, order: Order, pc: u64) {
    update(this, addr, size, found, order, pc);
    object(addr, size).0.compared = true;
}

/// An atomic read-modify-write has found `found` and written.
pub fn update(this: &mut Strand, addr: u64, size: u8, found: u64, order: Order, pc: u64) {
    let (mut object, first) = object(addr, size);
    if first {
        // What was there first was made by the program itself, in nearly all programs. (An object that only unseen
        // code has used before is looked at by a load first.)
        object.last = found;
    }
    if choice::is_on() && (object.history.is_empty() || found != object.last) {
        object.history.begins(found);
    }
    take_over(this, &mut object, found, false, order);
    publish(this, &mut object, order, true);
    object.last = value(addr, size);
    if choice::is_on() {
        if object.history.is_empty() {
            object.history.begins(found);
        }
        choice::in_total(OpKind::AtomicLoad, order);
        stores::looked(&mut object.history, this, 0, order);
        let made = Made { pc, value: object.last, order, exchange: true, back: 0 };
        let object = &mut *object;
        stores::push(&mut object.history, this, made, &object.sequence.clock);
    }
    let touch = object.touched(this.id.index());
    (touch.write, touch.write_pc) = (live().events, pc);
    if !core::mem::replace(&mut touch.listed, true) {
        this.locks.push(addr);
    }
    check(this, OpKind::AtomicRmw, addr, size, pc);
}

/// An atomic compare-and-exchange has found another value than it expected.
pub fn refused(this: &mut Strand, addr: u64, size: u8, found: u64, order: Order, pc: u64) {
    load(this, addr, size, found, order, pc);
    // Unseen code may go on and wait until it can take it.
    let mut object = object(addr, size).0;
    object.compared = true;
    let touch = object.touched(this.id.index());
    if !core::mem::replace(&mut touch.listed, true) {
        this.locks.push(addr);
    }
}

/// A fence.
pub fn fence(this: &mut Strand, order: Order) {
    if choice::in_total(OpKind::AtomicRmw, order) {
        stores::fence(this);
    }
    if order.acquires() {
        let Strand { clock, fence_acquire, .. } = this;
        clock.join(fence_acquire);
    }
    if order.releases() {
        this.publishes();
        let Strand { clock, fence_release, .. } = this;
        fence_release.assign(clock);
    }
}

/// A plain access to bytes that atomic operations use: tells what it races with.
#[cold]
#[inline(never)]
pub fn against(this: &mut Strand, mine: &Mine, _cell: &Cell, bits: u8) {
    let granule = mine.addr & !7;
    for mut object in objects(slot((granule >> 3) + 1).1) {
        let from = object.addr - granule;
        let theirs = (((1u32 << object.size.min(8)) - 1) << from) as u8;
        if object.size == 0 || theirs & bits == 0 {
            continue;
        }
        if mine.writes() {
            // Whoever may look at it comes after this, or races with it.
            object.history.clear();
        }
        for (other, touch) in object.touches.iter().enumerate() {
            if other == this.id.index() {
                continue;
            }
            let known = this.clock.get(other);
            let (event, pc, write) = if touch.write > known {
                (touch.write, touch.write_pc, 1)
            } else if mine.writes() && touch.read > known {
                (touch.read, touch.read_pc, 0)
            } else {
                continue;
            };
            let entry = Entry { mark: mark(event, other as u16, theirs), pc: pc as u32, write };
            tell::race_with_atomic(this, mine, bits, entry);
        }
    }
}

#[path = "choice.rs"]
pub mod choice;

/// Unseen code uses the word too.
pub fn mark_hidden(addr: u64) {
    for mut object in objects(slot((addr >> 3) + 1).1).filter(|object| object.overlaps(addr, 4)) {
        object.hidden = true;
    }
}

/// Whether unseen code is known to use an object.
pub fn is_hidden(addr: u64, size: u8) -> bool {
    objects(slot((addr >> 3) + 1).1).any(|object| object.addr == addr && object.size == size && object.hidden)
}

/// The strand acquires a word outside of an atomic operation.
pub fn acquire(this: &mut Strand, addr: u64) {
    for mut object in objects(slot((addr >> 3) + 1).1).filter(|object| object.overlaps(addr, 4)) {
        let found = value(object.addr, object.size);
        if found != object.last {
            object.met_unseen_writer();
            object.last = found;
        }
        this.clock.join_as(this.id.index(), &object.sequence.clock);
    }
    if recorded::is_on() {
        recorded::acquires_word(addr);
    }
}
