//! Clocks of what strands synchronise by other than atomics: locks, semaphores, descriptors, futex words.

use crate::raw::Raw;
use alloc::boxed::Box;
use alloc::vec::Vec;
use threadbare_abi::object::ObjectId;
use threadbare_rules::clock::Clock;

type Slot = (u64, *mut Clock);

static mut SLOTS: (*mut Slot, usize, usize) = (core::ptr::null_mut(), 0, 0);
static mut LAST: Slot = (0, core::ptr::null_mut());
const FIRST_SLOTS: usize = 256;

fn index(key: u64, size: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 36) as usize & (size - 1)
}

/// The clock of an object; empty when it has not been released yet.
pub fn clock(object: ObjectId) -> Raw<Clock> {
    let key = object.code();
    // SAFETY: single kernel thread; clocks are never freed.
    unsafe {
        if LAST.0 == key {
            return Raw::new(LAST.1);
        }
        let slots = &mut *(&raw mut SLOTS);
        if slots.2 * 2 >= slots.1 {
            grow(slots);
        }
        let mut at = index(key, slots.1);
        while (*slots.0.add(at)).0 != key && (*slots.0.add(at)).0 != 0 {
            at = (at + 1) & (slots.1 - 1);
        }
        let slot = &mut *slots.0.add(at);
        if slot.0 == 0 {
            *slot = (key, Box::leak(Box::new(Clock::new())));
            slots.2 += 1;
        }
        LAST = *slot;
        Raw::new(slot.1)
    }
}

#[cold]
unsafe fn grow(slots: &mut (*mut Slot, usize, usize)) {
    let size = (slots.1 * 2).max(FIRST_SLOTS);
    let mut new: Vec<Slot> = Vec::new();
    new.resize(size, (0, core::ptr::null_mut()));
    for old in 0..slots.1 {
        // SAFETY: the old slots are valid.
        let slot = unsafe { *slots.0.add(old) };
        if slot.0 != 0 {
            let mut at = index(slot.0, size);
            while new[at].0 != 0 {
                at = (at + 1) & (size - 1);
            }
            new[at] = slot;
        }
    }
    slots.0 = new.leak().as_mut_ptr();
    slots.1 = size;
}
