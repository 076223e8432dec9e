//! The class of a run whose atomic loads may see older stores.
//!
//! There the order of a load and a store is no difference of its own: a load that comes before a store and one that comes after it and
//! does not see it are the same to the program. What makes a difference is which store each load saw, the modification order of
//! each atomic object, and the order of all other steps that depend on each other: C11's execution graph.

use super::trace::{Event, Trace};
use std::collections::HashMap;
use threadbare_abi::op::OpKind;
use threadbare_abi::step::FENCES;
use threadbare_strategy::conflict::depends;
use threadbare_strategy::rng::mix;

/// An atomic access of one word: its place.
fn place(event: &Event) -> Option<(u64, u32)> {
    let atomic = event.op.kind.is_atomic_access() && event.op.size <= 8;
    atomic.then_some((event.op.addr, event.op.size))
}

/// Whether it writes; an exchange that changed nothing only looked.
fn writes(event: &Event) -> bool {
    let own = event.touches.iter().find(|touch| touch.op.addr == event.op.addr);
    own.is_some_and(|touch| touch.op.kind != OpKind::AtomicLoad)
}

/// What stands for an event, whatever the order of the run.
fn name(event: &Event, ordinal: u64) -> u64 {
    let mut name = mix(event.path ^ ordinal.rotate_left(32));
    name = mix(name ^ u64::from(event.by_deadline) ^ (event.op.kind as u64) << 8 ^ event.op.pc << 16);
    if place(event).is_none() {
        name = event
            .choices
            .iter()
            .fold(name, |name, &(taken, options)| mix(name ^ u64::from(taken) ^ u64::from(options) << 32));
    }
    name
}

/// The run's class as a number.
pub(super) fn class(trace: &Trace) -> u64 {
    let mut sum = 0u64;
    let mut add = |kind: u64, one: u64, other: u64| {
        sum = sum.wrapping_add(mix(one ^ mix(other ^ kind)));
    };
    let mut ordinals: HashMap<u64, u64> = HashMap::new();
    let names: Vec<u64> = trace
        .events
        .iter()
        .map(|event| {
            let ordinal = ordinals.entry(event.path).or_default();
            *ordinal += 1;
            name(event, *ordinal)
        })
        .collect();
    let mut stores: HashMap<(u64, u32), Vec<u64>> = HashMap::new();
    for (at, event) in trace.events.iter().enumerate() {
        if event.op.kind.is_quiet() || event.touches.is_empty() {
            continue;
        }
        add(0, names[at], 0);
        if let Some(place) = place(event) {
            let list = stores.entry(place).or_insert_with(|| vec![0]);
            let back = list.len().saturating_sub(event.back as usize);
            if event.op.kind != OpKind::AtomicStore {
                add(1, names[at], list[back.max(1) - 1]);
            }
            if writes(event) {
                list.insert(back.max(1), names[at]);
            }
        }
        for (before, other) in trace.events[..at].iter().enumerate() {
            if other.path != event.path && orders(other, event) {
                add(2, names[before], names[at]);
            }
        }
    }
    for list in stores.values() {
        for pair in list.windows(2) {
            add(3, pair[0], pair[1]);
        }
    }
    sum
}

/// Whether the order of two events is part of the class by itself.
fn orders(one: &Event, other: &Event) -> bool {
    let same = place(one).is_some() && place(one) == place(other);
    one.touches.iter().any(|a| {
        a.op.addr != FENCES
            && other.touches.iter().any(|b| {
                let of_both = same && a.op.addr == one.op.addr && b.op.addr == other.op.addr;
                !of_both && depends(&a.op, &b.op)
            })
    })
}
