//! Objects by which strands synchronise: locks, atomics and all others, each with its clock and a lock of ours.
//!
//! The objects of 64 bytes of memory are a list that only grows; what lies in memory that is given out anew begins anew. What has no
//! address (descriptors, signals, the loader), or one without cells, has an object of its sort.
//!
//! The lock of an object is held for the length of an atomic operation, so that whoever reads what was written gets the clock with it.
//! Its holder may have been stopped by a signal whose handler wants the same: the wait is bounded, and then everything counts as
//! ordered.

use super::shadow;
use crate::sys::{nr, syscall3};
use alloc::boxed::Box;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};
use threadbare_abi::object::{ObjectClass, ObjectId};
use threadbare_rules::cells::has_cells;
use threadbare_rules::epochs::Times;
use threadbare_rules::sequence::Sequence;

/// What is known of an object.
#[derive(Debug)]
pub struct State {
    generation: u32,
    pub sequence: Sequence<Times>,
    /// Bytes of an atomic, 0 while none is known.
    pub size: u8,
    /// The last value that was seen.
    pub last: u64,
    /// Code that nobody sees uses it too.
    pub hidden: bool,
    /// It has been compared and exchanged, as locks are.
    pub compared: bool,
}

impl State {
    const fn new() -> State {
        State {
            generation: 0,
            sequence: Sequence::of(Times::new()),
            size: 0,
            last: 0,
            hidden: false,
            compared: false,
        }
    }

    /// What belongs to another generation is forgotten.
    #[inline]
    pub fn look(&mut self, generation: u32) {
        if self.generation != generation {
            self.sequence.clear();
            self.generation = generation;
        }
    }
}

/// An object.
#[derive(Debug)]
pub struct Object {
    id: ObjectId,
    next: *mut Object,
    busy: AtomicBool,
    state: UnsafeCell<State>,
}

// SAFETY: the state is touched by whoever has set `busy`.
unsafe impl Sync for Object {}

const fn of_sort(class: ObjectClass) -> Object {
    Object {
        id: ObjectId::new(class, 0),
        next: null_mut(),
        busy: AtomicBool::new(false),
        state: UnsafeCell::new(State::new()),
    }
}

const SORTS: usize = 32;
static ELSEWHERE: [Object; SORTS] = {
    let mut sorts = [const { of_sort(ObjectClass::Never) }; SORTS];
    let mut at = 0;
    while at < ObjectClass::ALL.len() {
        let class = ObjectClass::ALL[at];
        sorts[class as usize].id = ObjectId::new(class, 0);
        at += 1;
    }
    sorts
};

/// How often a lock is looked at without pause, and how often the processor is given away before it counts as lost.
const SPINS: u32 = 1000;
const YIELDS: u32 = 20_000;

impl Object {
    /// Takes the lock; false if its holder does not come back.
    pub fn lock(&self) -> bool {
        let mut tries = 0;
        while self.busy.load(Ordering::Relaxed) || self.busy.swap(true, Ordering::Acquire) {
            tries += 1;
            if tries > SPINS + YIELDS {
                return false;
            }
            if tries > SPINS {
                // SAFETY: gives the processor away.
                unsafe { syscall3(nr::SCHED_YIELD, 0, 0, 0) };
            } else {
                core::hint::spin_loop();
            }
        }
        true
    }

    /// Gives it back.
    pub fn unlock(&self) {
        self.busy.store(false, Ordering::Release);
    }

    /// What is known; the lock is held.
    #[expect(clippy::mut_from_ref, reason = "the lock is held")]
    pub fn state(&self) -> &mut State {
        // SAFETY: whoever calls holds the lock.
        unsafe { &mut *self.state.get() }
    }

    /// Its address.
    pub fn addr(&self) -> u64 {
        self.id.addr
    }
}

fn listed(head: *mut Object) -> impl Iterator<Item = &'static Object> {
    let mut at = head;
    core::iter::from_fn(move || {
        // SAFETY: objects are never given back.
        let object = unsafe { at.as_ref() }?;
        at = object.next;
        Some(object)
    })
}

/// The object, if there is one already.
pub fn known(id: ObjectId) -> Option<&'static Object> {
    if id.addr == 0 || !has_cells(id.addr) {
        return Some(&ELSEWHERE[id.class as usize % SORTS]);
    }
    listed(shadow::line(id.addr).load(Ordering::Acquire)).find(|object| object.id == id)
}

/// The object.
pub fn find(id: ObjectId) -> &'static Object {
    if let Some(object) = known(id) {
        return object;
    }
    let line = shadow::line(id.addr);
    let made = Box::into_raw(Box::new(Object {
        id,
        next: null_mut(),
        busy: AtomicBool::new(false),
        state: UnsafeCell::new(State::new()),
    }));
    loop {
        let head = line.load(Ordering::Acquire);
        if let Some(object) = listed(head).find(|object| object.id == id) {
            // SAFETY: nobody else has seen it.
            drop(unsafe { Box::from_raw(made) });
            return object;
        }
        // SAFETY: nobody else has seen it.
        unsafe { (*made).next = head };
        if line.compare_exchange(head, made, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            // SAFETY: never given back.
            return unsafe { &*made };
        }
    }
}

/// The object's state, for the length of `work`; `None` if somebody does not give it back.
pub fn with<R>(id: ObjectId, work: impl FnOnce(&mut State) -> R) -> Option<R> {
    let object = find(id);
    if !object.lock() {
        return None;
    }
    let made = work(object.state());
    object.unlock();
    Some(made)
}

/// The atomics that share bytes with another, whatever their size.
pub fn neighbours(id: ObjectId, size: u8) -> impl Iterator<Item = &'static Object> {
    let (from, to) = (id.addr, id.addr + size as u64);
    let head = if has_cells(id.addr) { shadow::line(id.addr).load(Ordering::Acquire) } else { null_mut() };
    listed(head).filter(move |other| {
        let at = other.id.addr;
        other.id.class == ObjectClass::Memory && at != from && at < to && at + 8 > from
    })
}

/// Nothing is known of objects in these bytes any more.
pub fn forget(addr: u64, size: u64) {
    const LINE: u64 = 64;
    let end = addr + size;
    if size == 0 {
        return;
    }
    let mut at = addr & !(LINE - 1);
    while at < end {
        let head = shadow::line(at).load(Ordering::Acquire);
        if !head.is_null() {
            listed(head).filter(|object| (addr..end).contains(&object.id.addr)).for_each(begin_anew);
        }
        at += LINE;
    }
}

#[cold]
fn begin_anew(object: &Object) {
    if object.lock() {
        let state = object.state();
        state.sequence.clear();
        (state.size, state.hidden, state.compared) = (0, false, false);
        object.unlock();
    }
}
