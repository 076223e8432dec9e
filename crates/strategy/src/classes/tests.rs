//! All interleavings of small programs: the class is the same exactly where the order of what concerns each other is.

use super::table::{Entry, memory_key, overlap, sync_key};
use super::*;
use crate::rng::Rng;
use std::boxed::Box;
use std::collections::{BTreeMap, BTreeSet};
use std::vec;
use std::vec::Vec;
use threadbare_abi::object::{ObjectClass, ObjectId};

fn mutex(addr: u64) -> ObjectId {
    ObjectId::new(ObjectClass::Mutex, addr)
}

fn at(events: u64, pc: u64) -> Moment {
    Moment { events, pc }
}

fn memory(entries: usize) -> table::Memory {
    let heads = vec![0u32; entries].into_boxed_slice();
    (Box::leak(heads), Box::leak(vec![Entry::default(); entries].into_boxed_slice()))
}

fn more(entries: usize) -> Option<table::Memory> {
    Some(memory(entries))
}

fn tracker() -> Tracker {
    let mut tracker = Tracker::new();
    tracker.table.furnish(memory(4), more);
    tracker.told.furnish(Box::leak(vec![0; 1 << 10].into_boxed_slice()));
    tracker
}

/// What a step touches: a key, and whether it writes.
#[derive(Clone, Copy, Debug)]
struct Touch(u64, bool);

fn concern(one: Touch, other: Touch) -> bool {
    overlap(one.0, other.0) && (one.1 || other.1)
}

type Order = Vec<(usize, usize)>;

/// Calls `visit` with every interleaving: pairs of strand and step.
fn interleavings(program: &[Vec<Touch>], visit: &mut impl FnMut(&Order)) {
    fn go(program: &[Vec<Touch>], at: &mut [usize], order: &mut Order, visit: &mut impl FnMut(&Order)) {
        let mut any = false;
        for strand in 0..program.len() {
            if at[strand] < program[strand].len() {
                any = true;
                order.push((strand, at[strand]));
                at[strand] += 1;
                go(program, at, order, visit);
                at[strand] -= 1;
                order.pop();
            }
        }
        if !any {
            visit(order);
        }
    }
    go(program, &mut vec![0; program.len()], &mut Vec::new(), visit);
}

/// The pairs of steps of two strands that concern each other, in their order.
fn canonical(program: &[Vec<Touch>], order: &Order) -> BTreeSet<((usize, usize), (usize, usize))> {
    let mut pairs = BTreeSet::new();
    for (index, &(strand, step)) in order.iter().enumerate() {
        for &(later, at) in &order[index + 1..] {
            if later != strand && concern(program[strand][step], program[later][at]) {
                pairs.insert(((strand, step), (later, at)));
            }
        }
    }
    pairs
}

fn class(program: &[Vec<Touch>], order: &Order) -> u64 {
    let mut tracker = tracker();
    let mut tracks: Vec<Track> =
        (0..program.len()).map(|strand| Track::new(strand as u16, 1000 + strand as u64 * 77, 0)).collect();
    let mut class = 0u64;
    let (mut events, mut current) = (0u64, usize::MAX);
    for &(strand, step) in order {
        if current != strand {
            if let Some(old) = tracks.get_mut(current) {
                old.stops(events);
            }
            tracks[strand].goes_on(events);
            current = strand;
        }
        // Steps take as many events as their number says.
        events += step as u64 % 3 + 1;
        let Touch(key, write) = program[strand][step];
        let pc = 0x1000 + step as u64;
        class = class.wrapping_add(tracker.step(
            &mut tracks[strand],
            at(events, pc),
            key,
            write,
            || false,
            |_| {},
        ));
    }
    class
}

/// How many classes a program has; panics if hash and order do not agree.
fn classes(program: &[Vec<Touch>]) -> usize {
    let mut by_order = BTreeMap::new();
    let mut by_hash = BTreeMap::new();
    interleavings(program, &mut |order| {
        let canonical = canonical(program, order);
        let hash = class(program, order);
        assert_eq!(*by_order.entry(canonical.clone()).or_insert(hash), hash, "{program:?} {order:?}");
        assert_eq!(*by_hash.entry(hash).or_insert(canonical.clone()), canonical, "{program:?} {order:?}");
    });
    by_hash.len()
}

const X: u64 = memory_key(0x1000, 8);
const Y: u64 = memory_key(0x2000, 8);

#[test]
fn known_programs_have_as_many_classes_as_they_should() {
    let (read, write) = (|key| Touch(key, false), |key| Touch(key, true));
    assert_eq!(classes(&[vec![write(X)], vec![write(Y)]]), 1);
    assert_eq!(classes(&[vec![write(X)], vec![write(X)], vec![write(X)]]), 6);
    assert_eq!(classes(&[vec![read(X)], vec![read(X)], vec![read(X)]]), 1);
    // Two lost updates: all orders of two reads and two writes but those of the reads.
    assert_eq!(classes(&[vec![read(X), write(X)], vec![read(X), write(X)]]), 4);
    // Store buffering.
    assert_eq!(classes(&[vec![write(X), read(Y)], vec![write(Y), read(X)]]), 3);
    // A writer between two reads by another pair.
    assert_eq!(classes(&[vec![write(X)], vec![read(X), read(X)]]), 3);
}

#[test]
fn random_programs_have_a_hash_for_every_class() {
    let keys = [
        X,
        Y,
        memory_key(0x3000, 4),
        memory_key(0x3004, 4),
        memory_key(0x3000, 8),
        memory_key(0x3002, 2),
        sync_key(mutex(0x1000)),
        sync_key(ObjectId::new(ObjectClass::Futex, 0x1000)),
        sync_key(mutex(0x1004)),
    ];
    let mut rng = Rng::new(5);
    for round in 0..100 {
        let strands = 2 + round % 2;
        let steps = if strands == 2 { 4 } else { 3 };
        let few = 1 + rng.below(keys.len() as u32);
        let program: Vec<Vec<Touch>> = (0..strands)
            .map(|_| (0..steps).map(|_| Touch(keys[rng.below(few) as usize], rng.below(2) == 0)).collect())
            .collect();
        classes(&program);
    }
}

/// A strand that reads `fails` times before another writes, and once after it; whether its loop waits.
fn spin(fails: u64, waits: bool) -> u64 {
    let mut tracker = tracker();
    let (mut one, mut two) = (Track::new(0, 1, 0), Track::new(1, 2, 0));
    let mut class = 0u64;
    let mut events = 0;
    for _ in 0..fails {
        events += 3;
        class = class.wrapping_add(tracker.step(&mut one, at(events, 5), X, false, || waits, |_| {}));
    }
    one.stops(events);
    two.goes_on(events);
    events += 1;
    class = class.wrapping_add(tracker.step(&mut two, at(events, 6), X, true, || false, |_| {}));
    two.stops(events);
    one.goes_on(events);
    events += 3;
    class = class.wrapping_add(tracker.step(&mut one, at(events, 5), X, false, || waits, |_| {}));
    events += 1;
    class = class.wrapping_add(tracker.step(&mut one, at(events, 7), Y, true, || false, |_| {}));
    class.wrapping_add(tracker.step(&mut two, at(events, 8), Y, true, || false, |_| {}))
}

#[test]
fn waiting_for_longer_is_nothing_new() {
    let classes: BTreeSet<u64> = (0..20).map(|fails| spin(fails, true)).collect();
    assert_eq!(classes.len(), 1);
}

#[test]
fn looking_more_often_is_another_class_where_the_loop_ends() {
    let classes: BTreeSet<u64> = (0..20).map(|fails| spin(fails, false)).collect();
    assert_eq!(classes.len(), 20);
}

/// A strand that looks at two places in a loop, the first of which has been written before or between; it leaves the loop by
/// the second one.
fn leaves_by_the_second(rounds: u64, between: bool) -> u64 {
    let mut tracker = tracker();
    let (mut one, mut two) = (Track::new(0, 1, 0), Track::new(1, 2, 0));
    let (mut class, mut events) = (0u64, 0);
    let mut add = |delta: u64| class = class.wrapping_add(delta);
    for _ in 0..rounds {
        for (pc, key) in [(5, X), (6, Y)] {
            events += 2;
            add(tracker.step(&mut one, at(events, pc), key, false, || true, |_| {}));
        }
    }
    for write_first in [true, false] {
        if write_first == between {
            events += 2;
            add(tracker.step(&mut one, at(events, 5), X, false, || true, |_| {}));
        } else {
            one.stops(events);
            two.goes_on(events);
            events += 1;
            add(tracker.step(&mut two, at(events, 7), X, true, || false, |_| {}));
            two.stops(events);
            one.goes_on(events);
        }
    }
    events += 2;
    add(tracker.step(&mut one, at(events, 6), Y, false, || true, |_| {}));
    events += 1;
    add(tracker.step(&mut one, at(events, 8), Y, true, || false, |_| {}));
    class
}

#[test]
fn what_the_last_round_found_is_part_of_the_class() {
    let before: BTreeSet<u64> = (0..5).map(|rounds| leaves_by_the_second(rounds, false)).collect();
    let between: BTreeSet<u64> = (0..5).map(|rounds| leaves_by_the_second(rounds, true)).collect();
    assert_eq!((before.len(), between.len()), (1, 1));
    assert_ne!(before, between);
}

#[test]
fn memory_given_anew_has_no_past() {
    let mut tracker = tracker();
    let (mut one, mut two) = (Track::new(0, 1, 0), Track::new(1, 2, 0));
    tracker.step(&mut one, at(1, 5), X, true, || false, |_| {});
    for (addr, size) in [(0x1000, 8), (0, 1 << 20)] {
        tracker.table.forget(addr, size);
        assert_eq!(tracker.step(&mut two, at(2, 6), X, false, || false, |_| {}), 0);
        tracker.step(&mut one, at(3, 5), X, true, || false, |_| {});
    }
    tracker.table.forget(0x1008, 64);
    assert_ne!(tracker.step(&mut two, at(4, 6), X, false, || false, |_| {}), 0);
}

#[test]
fn pairs_are_told_once() {
    let mut tracker = tracker();
    let (mut one, mut two) = (Track::new(0, 1, 0), Track::new(1, 2, 0));
    let mut told = Vec::new();
    let sync = sync_key(mutex(0x40));
    for events in 0..4 {
        tracker.step(&mut one, at(events, 1), X, true, || false, |pair| told.push(pair));
        tracker.step(&mut two, at(events, 2), X, false, || false, |pair| told.push(pair));
        tracker.step(&mut two, at(events, 3), X, true, || false, |pair| told.push(pair));
        tracker.step(&mut one, at(events, 4), sync, true, || false, |pair| told.push(pair));
        tracker.blocked(sync, 9, |pair| told.push(pair));
        tracker.preempted(events, 2, |pair| told.push(pair));
    }
    let expected = [
        (Kind::Point, 1, 0),
        (Kind::ReadsFrom, 1, 2),
        (Kind::Before, 1, 3),
        (Kind::Point, 4, 0),
        (Kind::Blocked, 4, 9),
        (Kind::Preempted, 2, 0),
        (Kind::Before, 3, 1),
    ];
    assert_eq!(told, expected);
    for (kind, one, other) in told {
        assert_eq!(told::read_record(told::record(kind, one, other)), Some((kind, one, other)));
    }
    assert_eq!(told::read_record([7, 7]), None);
}

#[test]
fn a_full_set_tells_nothing_more() {
    let mut told = Told::new();
    assert!(!told.is_new(Kind::Point, 1, 0));
    told.furnish(Box::leak(vec![0; 16].into_boxed_slice()));
    let new = (1..100).filter(|&pc| told.is_new(Kind::Point, pc, 0)).count();
    assert!((8..16).contains(&new) && told.is_crowded());
    told.furnish(Box::leak(vec![0; 1024].into_boxed_slice()));
    assert!((1..=new as u64).all(|pc| !told.is_new(Kind::Point, pc, 0)));
    assert!(told.is_new(Kind::Point, 1000, 0) && told.room() == 1024);
}
