//! Litmus tests: every order and every choice of small programs, and what each of them may come to.

use super::*;
use crate::sequence::{self, Sequence};
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;
use threadbare_abi::op::Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// A step of a strand: on an object, with an order.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Stores a value.
    W(usize, u64, Order),
    /// Loads; what it found is part of the outcome.
    R(usize, Order),
    /// Adds; what it found is part of the outcome.
    Add(usize, u64, Order),
    /// A fence.
    F(Order),
}

use Op::{Add, F, R, W};

#[derive(Debug, Default)]
struct Strand {
    at: usize,
    clock: Clock,
    fence_acquire: Clock,
    fence_release: Clock,
    view: View,
    found: Vec<u64>,
}

#[derive(Debug, Default)]
struct Object {
    sequence: Sequence,
    history: History,
}

/// A run of a program, made by a list of choices.
struct Run<'a> {
    program: &'a [&'a [Op]],
    choices: &'a [usize],
    taken: Vec<(usize, usize)>,
    total: Total,
    strands: Vec<Strand>,
    objects: Vec<Object>,
}

impl Run<'_> {
    fn choose(&mut self, options: usize) -> usize {
        let taken = self.choices.get(self.taken.len()).copied().unwrap_or(0);
        self.taken.push((taken, options));
        taken
    }

    fn step(&mut self, by: usize, event: u64) {
        let op = self.program[by][self.strands[by].at];
        self.strands[by].at += 1;
        let when = (by as u16, event);
        match op {
            R(at, order) => {
                let who = looker(by, &self.strands[by]);
                let (options, _) = self.objects[at].history.visible(&self.total, who, order);
                let back = self.choose(options as usize);
                let (strand, object) = (&mut self.strands[by], &mut self.objects[at]);
                let stored = object.history.back(back).expect("it is one of the options");
                sequence::take(&mut strand.clock, &mut strand.fence_acquire, &stored.release, order);
                strand.found.push(stored.value);
                object.history.looked(&mut self.total, when, &mut strand.view, back, order);
            }
            W(at, value, order) => {
                let who = looker(by, &self.strands[by]);
                let places: Vec<usize> = self.objects[at].history.places(&self.total, who, order).collect();
                let place = self.choose(places.len());
                let (strand, object) = (&mut self.strands[by], &mut self.objects[at]);
                if order.releases() {
                    strand.clock.raise(by, event);
                }
                let made = Made { pc: 0, value, order, exchange: false, back: places[place] };
                if places[place] == 0 {
                    object.sequence.publish(when.0, &strand.clock, &strand.fence_release, order, false);
                    object.history.push(
                        &mut self.total,
                        when,
                        &mut strand.view,
                        made,
                        &object.sequence.clock,
                    );
                } else {
                    let clock = if order.releases() { &strand.clock } else { &strand.fence_release };
                    object.history.push(&mut self.total, when, &mut strand.view, made, clock);
                }
            }
            Add(at, value, order) => {
                let (strand, object) = (&mut self.strands[by], &mut self.objects[at]);
                let newest = object.history.back(0).expect("there is a first value");
                let found = newest.value;
                sequence::take(&mut strand.clock, &mut strand.fence_acquire, &object.sequence.clock, order);
                strand.found.push(found);
                object.history.looked(&mut self.total, when, &mut strand.view, 0, order);
                if order.releases() {
                    strand.clock.raise(by, event);
                }
                object.sequence.publish(when.0, &strand.clock, &strand.fence_release, order, true);
                let made = Made { pc: 0, value: found + value, order, exchange: true, back: 0 };
                object.history.push(&mut self.total, when, &mut strand.view, made, &object.sequence.clock);
            }
            F(order) => {
                let strand = &mut self.strands[by];
                if order == SeqCst {
                    self.total.fence(when.0, event, &strand.clock, &mut strand.view);
                }
                if order.acquires() {
                    strand.clock.join(&strand.fence_acquire);
                }
                if order.releases() {
                    strand.clock.raise(by, event);
                    strand.fence_release.assign(&strand.clock);
                }
            }
        }
    }
}

fn looker(by: usize, strand: &Strand) -> Looker<'_> {
    Looker { strand: by as u16, clock: &strand.clock, view: &strand.view }
}

/// What loads found in any run, strand after strand, and the last value of each object.
fn outcomes(model: MemoryModel, program: &[&[Op]]) -> BTreeSet<Vec<u64>> {
    let mut found = BTreeSet::new();
    let mut choices: Vec<usize> = Vec::new();
    loop {
        let objects = 2;
        let mut run = Run {
            program,
            choices: &choices,
            taken: Vec::new(),
            total: Total::new(model),
            strands: program.iter().map(|_| Strand::default()).collect(),
            objects: (0..objects).map(|_| Object::default()).collect(),
        };
        run.objects.iter_mut().for_each(|object| object.history.begins(0));
        let mut event = 0;
        loop {
            let ready: Vec<usize> =
                (0..program.len()).filter(|&by| run.strands[by].at < program[by].len()).collect();
            if ready.is_empty() {
                break;
            }
            let by = ready[run.choose(ready.len())];
            event += 1;
            run.step(by, event);
        }
        let mut outcome: Vec<u64> = run.strands.iter().flat_map(|strand| strand.found.clone()).collect();
        outcome.extend(run.objects.iter().map(|object| object.history.back(0).expect("a value").value));
        found.insert(outcome);
        let mut taken = run.taken;
        while taken.pop_if(|(taken, options)| *taken + 1 >= *options).is_some() {}
        let Some(last) = taken.last_mut() else { return found };
        last.0 += 1;
        choices = taken.into_iter().map(|(taken, _)| taken).collect();
    }
}

/// What the loads found, without the last values.
fn loads(model: MemoryModel, program: &[&[Op]]) -> BTreeSet<Vec<u64>> {
    let loads = program.iter().flat_map(|strand| strand.iter()).filter(|op| matches!(op, R(..) | Add(..)));
    let count = loads.count();
    outcomes(model, program).into_iter().map(|outcome| outcome[..count].to_vec()).collect()
}

const C11: MemoryModel = MemoryModel::C11;
const X: usize = 0;
const Y: usize = 1;

fn is_seen(program: &[&[Op]], wanted: &[u64]) -> bool {
    loads(C11, program).contains(wanted)
}

#[test]
fn store_buffering_is_seen_unless_all_are_sequentially_consistent() {
    for (store, load, seen) in [
        (Relaxed, Relaxed, true),
        (Release, Acquire, true),
        (SeqCst, Acquire, true),
        (Release, SeqCst, true),
        (SeqCst, SeqCst, false),
    ] {
        let program: [&[Op]; 2] = [&[W(X, 1, store), R(Y, load)], &[W(Y, 1, store), R(X, load)]];
        assert_eq!(is_seen(&program, &[0, 0]), seen, "{store:?} {load:?}");
    }
}

#[test]
fn store_buffering_is_forbidden_by_two_fences_and_not_by_one() {
    let fenced: [&[Op]; 2] =
        [&[W(X, 1, Relaxed), F(SeqCst), R(Y, Relaxed)], &[W(Y, 1, Relaxed), F(SeqCst), R(X, Relaxed)]];
    assert!(!is_seen(&fenced, &[0, 0]));
    let one: [&[Op]; 2] = [&[W(X, 1, Relaxed), F(SeqCst), R(Y, Relaxed)], &[W(Y, 1, Relaxed), R(X, Relaxed)]];
    assert!(is_seen(&one, &[0, 0]));
    let weak: [&[Op]; 2] =
        [&[W(X, 1, Relaxed), F(AcqRel), R(Y, Relaxed)], &[W(Y, 1, Relaxed), F(AcqRel), R(X, Relaxed)]];
    assert!(is_seen(&weak, &[0, 0]));
}

#[test]
fn message_passing_needs_release_and_acquire() {
    for (store, load, seen) in [
        (Relaxed, Relaxed, true),
        (Release, Relaxed, true),
        (Relaxed, Acquire, true),
        (Release, Acquire, false),
        (SeqCst, SeqCst, false),
        (Release, SeqCst, false),
    ] {
        let program: [&[Op]; 2] = [&[W(X, 1, Relaxed), W(Y, 1, store)], &[R(Y, load), R(X, Relaxed)]];
        assert_eq!(is_seen(&program, &[1, 0]), seen, "{store:?} {load:?}");
    }
}

#[test]
fn message_passing_by_fences() {
    for (first, second, seen) in [
        (Release, Acquire, false),
        (AcqRel, AcqRel, false),
        (SeqCst, SeqCst, false),
        (Acquire, Acquire, true),
        (Release, Release, true),
    ] {
        let program: [&[Op]; 2] =
            [&[W(X, 1, Relaxed), F(first), W(Y, 1, Relaxed)], &[R(Y, Relaxed), F(second), R(X, Relaxed)]];
        assert_eq!(is_seen(&program, &[1, 0]), seen, "{first:?} {second:?}");
    }
}

#[test]
fn load_buffering_is_never_made() {
    let program: [&[Op]; 2] = [&[R(X, Relaxed), W(Y, 1, Relaxed)], &[R(Y, Relaxed), W(X, 1, Relaxed)]];
    assert!(!is_seen(&program, &[1, 1]));
}

#[test]
fn two_readers_may_differ_about_independent_writes_unless_all_are_sequentially_consistent() {
    for (order, load, seen) in [(Relaxed, Relaxed, true), (Release, Acquire, true), (SeqCst, SeqCst, false)] {
        let program: [&[Op]; 4] =
            [&[W(X, 1, order)], &[W(Y, 1, order)], &[R(X, load), R(Y, load)], &[R(Y, load), R(X, load)]];
        assert_eq!(is_seen(&program, &[1, 0, 1, 0]), seen, "{order:?} {load:?}");
    }
}

#[test]
fn two_and_two_writes_may_end_crosswise_unless_sequentially_consistent() {
    for (order, seen) in [(Relaxed, true), (Release, true), (SeqCst, false)] {
        let program: [&[Op]; 2] = [&[W(X, 1, order), W(Y, 2, order)], &[W(Y, 1, order), W(X, 2, order)]];
        let ends: BTreeSet<Vec<u64>> = outcomes(C11, &program);
        assert_eq!(ends.contains(&vec![1, 1]), seen, "{order:?}: {ends:?}");
    }
}

#[test]
fn two_reads_of_one_object_do_not_go_back() {
    let program: [&[Op]; 2] = [&[W(X, 1, Relaxed), W(X, 2, Relaxed)], &[R(X, Relaxed), R(X, Relaxed)]];
    let seen = loads(C11, &program);
    assert!(seen.contains(&vec![0, 2]) && seen.contains(&vec![1, 1]));
    for back in [[1, 0], [2, 1], [2, 0]] {
        assert!(!seen.contains(back.as_slice()), "{back:?}");
    }
}

#[test]
fn a_strand_sees_its_own_store_or_a_newer_one() {
    let program: [&[Op]; 2] = [&[W(X, 1, Relaxed), R(X, Relaxed)], &[W(X, 2, Relaxed)]];
    assert_eq!(loads(C11, &program), BTreeSet::from([vec![1], vec![2]]));
}

#[test]
fn a_store_comes_after_what_its_strand_has_read() {
    let program: [&[Op]; 2] = [&[R(X, Relaxed), W(X, 1, Relaxed)], &[W(X, 2, Relaxed)]];
    // Having read 2, the store of 1 is the last.
    assert!(!outcomes(C11, &program).contains(&vec![2, 2, 0]));
}

#[test]
fn two_strands_agree_about_the_order_of_one_objects_stores() {
    let program: [&[Op]; 4] = [
        &[W(X, 1, Relaxed)],
        &[W(X, 2, Relaxed)],
        &[R(X, Relaxed), R(X, Relaxed)],
        &[R(X, Relaxed), R(X, Relaxed)],
    ];
    assert!(!is_seen(&program, &[1, 2, 2, 1]));
}

#[test]
fn read_modify_writes_miss_nothing() {
    for order in [Relaxed, AcqRel, SeqCst] {
        let program: [&[Op]; 3] = [&[Add(X, 1, order)], &[Add(X, 1, order)], &[Add(X, 1, order)]];
        for outcome in outcomes(C11, &program) {
            assert_eq!(outcome[3], 3, "{outcome:?}");
            assert_eq!(outcome[..3].iter().collect::<BTreeSet<_>>().len(), 3, "{outcome:?}");
        }
    }
}

#[test]
fn nothing_comes_between_a_read_modify_write_and_what_it_read() {
    let program: [&[Op]; 2] = [&[Add(X, 10, Relaxed)], &[W(X, 1, Relaxed)]];
    // The store comes before both or after both: had it come in between, 0 would be found and 10 be the end.
    assert_eq!(outcomes(C11, &program), BTreeSet::from([vec![0, 1, 0], vec![1, 11, 0]]));
}

#[test]
fn a_release_sequence_reaches_over_read_modify_writes() {
    let program: [&[Op]; 3] =
        [&[W(X, 1, Relaxed), W(Y, 1, Release)], &[Add(Y, 1, Relaxed)], &[R(Y, Acquire), R(X, Relaxed)]];
    let seen = loads(C11, &program);
    assert!(!seen.contains(&vec![1, 2, 0]), "the addition carries the release on: {seen:?}");
    assert!(seen.contains(&vec![1, 2, 1]));
}

#[test]
fn a_release_sequence_ends_with_another_strands_store() {
    let program: [&[Op]; 3] =
        [&[W(X, 1, Relaxed), W(Y, 1, Release)], &[W(Y, 2, Relaxed)], &[R(Y, Acquire), R(X, Relaxed)]];
    assert!(is_seen(&program, &[2, 0]));
    assert!(!is_seen(&program, &[1, 0]));
}

#[test]
fn what_happens_before_is_passed_on_by_a_third_strand() {
    let program: [&[Op]; 3] =
        [&[W(X, 1, Release)], &[R(X, Acquire), W(Y, 1, Release)], &[R(Y, Acquire), R(X, Relaxed)]];
    assert!(!is_seen(&program, &[1, 1, 0]));
    let relaxed: [&[Op]; 3] =
        [&[W(X, 1, Relaxed)], &[R(X, Relaxed), W(Y, 1, Release)], &[R(Y, Acquire), R(X, Relaxed)]];
    assert!(!is_seen(&relaxed, &[1, 1, 0]), "it has been read before, by what happens before: coherence");
}

#[test]
fn sequentially_consistent_memory_has_only_interleavings() {
    let program: [&[Op]; 2] = [&[W(X, 1, SeqCst), R(Y, SeqCst)], &[W(Y, 1, SeqCst), R(X, SeqCst)]];
    assert_eq!(loads(C11, &program), BTreeSet::from([vec![0, 1], vec![1, 0], vec![1, 1]]));
}

#[test]
fn total_store_order_has_store_buffers_and_nothing_else() {
    let buffering: [&[Op]; 2] = [&[W(X, 1, Relaxed), R(Y, Relaxed)], &[W(Y, 1, Relaxed), R(X, Relaxed)]];
    assert!(loads(MemoryModel::Tso, &buffering).contains(&vec![0, 0]));
    let passing: [&[Op]; 2] = [&[W(X, 1, Relaxed), W(Y, 1, Relaxed)], &[R(Y, Relaxed), R(X, Relaxed)]];
    assert!(!loads(MemoryModel::Tso, &passing).contains(&vec![1, 0]));
    let crosswise: [&[Op]; 2] =
        [&[W(X, 1, Relaxed), W(Y, 2, Relaxed)], &[W(Y, 1, Relaxed), W(X, 2, Relaxed)]];
    assert!(!outcomes(MemoryModel::Tso, &crosswise).contains(&vec![1, 1]));
    let readers: [&[Op]; 4] = [
        &[W(X, 1, Relaxed)],
        &[W(Y, 1, Relaxed)],
        &[R(X, Relaxed), R(Y, Relaxed)],
        &[R(Y, Relaxed), R(X, Relaxed)],
    ];
    assert!(!loads(MemoryModel::Tso, &readers).contains(&vec![1, 0, 1, 0]));
}

#[test]
fn no_more_than_so_many_stores_are_kept_and_that_is_known() {
    let mut history = History::default();
    let (mut total, mut view) = (Total::new(C11), View::default());
    history.begins(0);
    assert!(history.is_plain() && !history.is_empty());
    for value in 1..=KEPT as u64 {
        assert!(!history.cut, "{value}");
        let made = Made { pc: value, value, order: Relaxed, exchange: false, back: 0 };
        history.push(&mut total, (0, value), &mut view, made, &Clock::new());
    }
    assert!(history.cut);
    assert_eq!(history.back(0).map(|stored| stored.value), Some(KEPT as u64));
    assert_eq!(history.back(KEPT - 1).map(|stored| stored.value), Some(1));
    assert!(history.back(KEPT).is_none());
    history.clear();
    assert!(history.is_empty());
}

#[test]
fn a_loop_does_not_see_an_old_store_for_ever() {
    let mut history = History::default();
    let mut total = Total::new(C11);
    let (mut writer, mut reader) = (View::default(), View::default());
    history.begins(0);
    let made = Made { pc: 0, value: 1, order: Relaxed, exchange: false, back: 0 };
    history.push(&mut total, (0, 1), &mut writer, made, &Clock::new());
    let clock = Clock::new();
    let mut looks = 0;
    loop {
        let who = Looker { strand: 1, clock: &clock, view: &reader };
        let (options, impatient) = history.visible(&total, who, Relaxed);
        if options == 1 {
            assert!(impatient);
            break;
        }
        looks += 1;
        assert!(looks < 100);
        history.looked(&mut total, (1, 10 + looks), &mut reader, 1, Relaxed);
    }
    assert_eq!(looks, u64::from(PATIENCE));
}
