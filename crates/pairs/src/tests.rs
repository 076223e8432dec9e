//! Small runs, made by hand.

use super::*;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Instructions by function: pc / 100 is the compiled function, the tens digit one that was put into it.
struct ByPc;

impl Functions for ByPc {
    fn chain(&mut self, pc: u64) -> Rc<[Option<u32>]> {
        let mut chain = vec![Some((pc / 100) as u32)];
        if !(pc / 10).is_multiple_of(10) {
            chain.push(Some((1000 + pc / 10 % 10) as u32));
        }
        chain.into()
    }

    fn place(&mut self, pc: u64, _: Option<Does>) -> u64 {
        pc
    }
}

#[derive(Default)]
struct Maker {
    run: RunSteps,
    ordinals: BTreeMap<u32, u32>,
    numbers: BTreeMap<(u32, u64), u64>,
    held: Vec<u64>,
}

impl Maker {
    fn activation(&mut self, parent: Option<u32>, call: u64) -> u32 {
        self.run.activations.push(Activation { parent, call });
        self.run.activations.len() as u32 - 1
    }

    fn event(&mut self, strand: u32, activation: u32, pc: u64, does: Does, start: u64, clock: &[u32]) {
        let ordinal = self.ordinals.entry(strand).or_default();
        *ordinal += 1;
        let number = self.numbers.entry((strand, pc)).or_default();
        *number += 1;
        self.run.events.push(StrandStep {
            strand,
            path: u64::from(strand) + 50,
            ordinal: *ordinal,
            pc,
            number: *number,
            activation,
            clock: Arc::from(clock),
            touches: vec![Touch { does, start, end: start + 8 }],
            held: self.held.iter().copied().collect(),
        });
    }
}

/// Two strands call function 2 in function 1; the second one's second call is of another object.
fn deposits() -> RunSteps {
    let mut maker = Maker::default();
    for strand in 0..2 {
        let outer = maker.activation(None, 0);
        for call in 0..2 {
            let inner = maker.activation(Some(outer), 101 + call);
            let object = if (strand, call) == (1, 1) { 0x2000 } else { 0x1000 };
            maker.event(strand, inner, 201, Does::Read, object, &[]);
            maker.event(strand, inner, 202, Does::Write, object, &[]);
        }
    }
    maker.run
}

#[test]
fn calls_of_one_function_meet_at_the_same_object() {
    let run = deposits();
    let calls = calls(&run, &mut ByPc);
    assert_eq!(calls.calls.len(), 6);
    let mut book = Book::default();
    book.take(&run, &calls, Rules::default());
    assert_eq!(book.pairs.keys().copied().collect::<Vec<_>>(), [(1, 1), (1, 2), (2, 2)]);
    let pair = &book.pairs[&(2, 2)];
    assert!(pair.strong);
    assert_eq!(pair.conflicts.len(), 3);
    assert_eq!(pair.ways.len(), 1, "one path each");
    let meetings = &pair.ways.values().next().unwrap().meetings;
    // The second call of the second strand met nobody.
    assert!(meetings.iter().all(|it| it.spans.iter().all(|span| span.steps == 2 && span.points == [0, 1])));
    assert!(meetings.iter().all(|meeting| meeting.object == (0x1000, 0x1008)));
    let chosen = choose(&book, false, &|_| true);
    // The outer functions bring nothing together that the inner one has not.
    assert_eq!((chosen.len(), choose(&book, true, &|_| true).len()), (1, 3));
    assert_eq!(chosen[0].functions, (2, 2));
    let outer = choose(&book, false, &|choice| choice.functions != (2, 2));
    assert_eq!(outer.len(), 1, "what is not wanted stands for nothing");
}

#[test]
fn what_creations_and_joins_order_does_not_meet() {
    let mut maker = Maker::default();
    let (main, worker) = (maker.activation(None, 0), maker.activation(None, 0));
    maker.event(0, main, 101, Does::Write, 0x1000, &[]);
    // Created after the first event of the main strand.
    maker.event(1, worker, 201, Does::Write, 0x1000, &[1]);
    maker.event(0, main, 102, Does::Read, 0x1000, &[]);
    // Joined.
    maker.event(0, main, 103, Does::Read, 0x1000, &[0, 1]);
    let run = maker.run;
    let calls = calls(&run, &mut ByPc);
    let mut book = Book::default();
    book.take(&run, &calls, Rules::default());
    let pair = &book.pairs[&(1, 2)];
    assert_eq!(pair.conflicts.iter().copied().collect::<Vec<_>>(), [(102, 201)]);
    let meetings = &pair.ways.values().next().unwrap().meetings;
    assert_eq!(meetings[0].spans[0].first, (102, 1));
    assert_eq!((meetings[0].spans[0].last, meetings[0].spans[0].steps), ((102, 1), 1));
    assert_eq!(running(&run, &calls, None).into_iter().collect::<Vec<_>>(), [(1, 2)]);
}

#[test]
fn a_margin_leaves_out_what_lies_far_apart() {
    let run = deposits();
    let calls = calls(&run, &mut ByPc);
    let mut book = Book::default();
    book.take(&run, &calls, Rules { margin: Some(0), ..Rules::default() });
    assert!(book.pairs.is_empty() && book.far.contains(&(2, 2)));
    book.take(&run, &calls, Rules { margin: Some(1), ..Rules::default() });
    assert_eq!(book.pairs[&(2, 2)].distance, 1);
    assert!(running(&run, &calls, Some(0)).is_empty());
}

#[test]
fn reads_meet_on_request_and_locks_by_two() {
    let mut maker = Maker::default();
    for strand in 0..2u32 {
        let call = maker.activation(None, 0);
        let pc = u64::from(strand + 1) * 100;
        maker.event(strand, call, pc + 1, Does::Read, 0x1000, &[]);
        maker.event(strand, call, pc + 2, Does::Lock, 0x2000, &[]);
        maker.event(strand, call, pc + 3, Does::Lock, 0x3000, &[]);
    }
    let run = maker.run;
    let calls = calls(&run, &mut ByPc);
    let mut book = Book::default();
    book.take(&run, &calls, Rules::default());
    assert_eq!(book.pairs[&(1, 2)].conflicts.len(), 2);
    let mut weak = Book::default();
    weak.take(&run, &calls, Rules { weak: true, margin: None });
    assert!(weak.pairs[&(1, 2)].conflicts.contains(&(101, 201)));
}

#[test]
fn functions_put_into_others_are_calls_of_their_own() {
    let mut maker = Maker::default();
    for strand in 0..2 {
        let call = maker.activation(None, 0);
        for pc in [101, 111, 112, 111, 112, 121] {
            maker.event(strand, call, pc, Does::Update, 0x1000, &[]);
        }
    }
    let run = maker.run;
    let calls = calls(&run, &mut ByPc);
    let of = |function| calls.calls.iter().filter(move |call| call.function == function && call.strand == 0);
    assert_eq!((of(1).count(), of(1001).count(), of(1002).count()), (1, 2, 1));
    assert!(of(1001).all(|call| call.events.len() == 2));
    assert_eq!(calls.around[1].len(), 2);
}

#[test]
fn code_pairs_go_through_calls() {
    // 10 calls 11, which has group 0 and calls 12 with group 1; 13 has group 2, in which 14 was put.
    let code = code::Static {
        groups: vec![vec![11], vec![12], vec![13, 14]],
        calls: [(vec![10], 11), (vec![11], 12)].into_iter().collect(),
        direct: [(1, 2)].into_iter().collect(),
    };
    let pairs: Vec<(u32, u32)> = code.pairs(&|_| true).into_iter().collect();
    assert_eq!(pairs, [(10, 13), (10, 14), (11, 13), (11, 14), (12, 13), (12, 14)]);
    assert_eq!(code.pairs(&|function| function != 14).len(), 3);
    assert_eq!(code.own_pairs().into_iter().collect::<Vec<_>>(), [(12, 14)]);
}

#[test]
fn a_lock_that_both_have_all_the_time_keeps_them_apart() {
    let mut maker = Maker::default();
    for strand in 0..2 {
        let outer = maker.activation(None, 0);
        let inner = maker.activation(Some(outer), 101);
        maker.event(strand, outer, 102, Does::Lock, 0x2000, &[]);
        maker.held = vec![0x2000];
        maker.event(strand, inner, 201, Does::Update, 0x1000, &[]);
        maker.held.clear();
    }
    let run = maker.run;
    let calls = calls(&run, &mut ByPc);
    let mut book = Book::default();
    book.take(&run, &calls, Rules::default());
    assert_eq!(book.pairs.keys().copied().collect::<Vec<_>>(), [(1, 1)]);
    // Neither can meet the inner one: it has the lock.
    assert!(book.guarded.contains(&(1, 2)) && book.guarded.contains(&(2, 2)));
    assert!(!running(&run, &calls, None).contains(&(2, 2)));
}

/// A run in which a strand calls a function at an object that strand 0 has touched first, or nobody, while another strand does something else.
fn one_of_two(number: u64, strand: u32, function: u64, object: u64, first: Option<u32>) -> RunSteps {
    let mut maker = Maker { run: RunSteps { number, ..RunSteps::default() }, ..Maker::default() };
    let outer = [0, 1, 2].map(|_| maker.activation(None, 0));
    if let Some(first) = first {
        maker.event(first, outer[first as usize], 901, Does::Write, object, &[]);
    }
    maker.event(3 - strand, outer[3 - strand as usize], 902, Does::Update, 0x9000, &[]);
    maker.event(strand, outer[strand as usize], 903, Does::Update, 0x9000, &[]);
    let inner = maker.activation(Some(outer[strand as usize]), 904);
    maker.event(strand, inner, function * 100 + 1, Does::Read, object, &[]);
    maker.event(strand, inner, function * 100 + 2, Does::Write, object, &[]);
    maker.run
}

fn joints(runs: &[RunSteps], is_variable: bool) -> BTreeMap<(u32, u32), Vec<Joint>> {
    let mut apart = Apart::default();
    for run in runs {
        apart.take(run, &calls(run, &mut ByPc));
    }
    let mut found = apart.joints(&|_| true, &|_| is_variable);
    found.retain(|pair, _| *pair == (2, 3));
    found
}

#[test]
fn calls_that_met_in_no_run_are_joined_at_the_same_object() {
    let runs = |first| [one_of_two(0, 1, 2, 0x1000, first), one_of_two(1, 2, 3, 0x1000, first)];
    let found = joints(&runs(Some(0)), false);
    let joint = &found[&(2, 3)][0];
    assert_eq!((joint.runs, joint.object), ([0, 1], (0x1000, 0x1008)));
    assert_eq!([joint.spans[0].path, joint.spans[1].path], [51, 52]);
    assert_eq!(joint.conflicts.iter().copied().collect::<Vec<_>>(), [(201, 302), (202, 301), (202, 302)]);
    // A variable is one object whoever comes to it first.
    let own = [one_of_two(0, 1, 2, 0x1000, Some(1)), one_of_two(1, 2, 3, 0x1000, Some(2))];
    assert_eq!(joints(&own, true).len(), 1);
    // Nobody is known to have touched it.
    assert_eq!(joints(&runs(None), false).len(), 1);
}

#[test]
fn calls_that_share_no_object_are_not_joined() {
    // Other bytes.
    let other = [one_of_two(0, 1, 2, 0x1000, Some(0)), one_of_two(1, 2, 3, 0x2000, Some(0))];
    assert!(joints(&other, true).is_empty());
    // What each strand has for itself may lie at the same bytes.
    let own = [one_of_two(0, 1, 2, 0x1000, Some(1)), one_of_two(1, 2, 3, 0x1000, Some(2))];
    assert!(joints(&own, false).is_empty());
    // The same strand makes both calls.
    let alone = [one_of_two(0, 1, 2, 0x1000, Some(0)), one_of_two(1, 1, 3, 0x1000, Some(0))];
    assert!(joints(&alone, true).is_empty());
}

#[test]
fn calls_that_are_ordered_in_a_run_are_not_joined() {
    let mut ordered = one_of_two(2, 1, 2, 0x1000, Some(0));
    let mut later = one_of_two(2, 2, 3, 0x1000, None);
    let (events, activations) = (ordered.events.len() as u32, ordered.activations.len() as u32);
    for event in &mut later.events {
        event.activation += activations;
        event.ordinal += events;
        event.clock = Arc::from([9u32, 9, 9]);
    }
    for activation in &mut later.activations {
        activation.parent = activation.parent.map(|parent| parent + activations);
    }
    ordered.events.extend(later.events);
    ordered.activations.extend(later.activations);
    let runs = [one_of_two(0, 1, 2, 0x1000, Some(0)), one_of_two(1, 2, 3, 0x1000, Some(0)), ordered];
    assert_eq!(joints(&runs[..2], true).len(), 1);
    assert!(joints(&runs, true).is_empty());
}
