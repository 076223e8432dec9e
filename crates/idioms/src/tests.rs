//! Small runs, and a referee that makes every order of them.

use crate::iroot::{Does, Iroot};
use crate::run::{Access, Held, RunAccesses};
use crate::shown::dependencies;
use crate::{Limits, predict, shown};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a strand does: to a variable, or to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Read(u64),
    Write(u64),
    Lock(u64),
    Unlock(u64),
}

const LOCKS: u64 = 0x1000;

/// The run in which the strands act in this order; none if a lock is in the way.
fn run(strands: &[Vec<Act>], order: &[usize]) -> Option<RunAccesses> {
    let mut next = vec![0; strands.len()];
    let mut owner: Vec<(u64, usize)> = Vec::new();
    let mut held: Vec<Vec<Held>> = vec![Vec::new(); strands.len()];
    let mut run = RunAccesses::default();
    let clock: Arc<[u32]> = Arc::from([]);
    for (step, &strand) in order.iter().enumerate() {
        let act = strands[strand][next[strand]];
        let (does, start, end) = match act {
            Act::Read(x) => (Does::Read, 0x100 + x * 4, 0x104 + x * 4),
            Act::Write(x) => (Does::Write, 0x100 + x * 4, 0x104 + x * 4),
            Act::Lock(l) => (Does::Lock, LOCKS + l, LOCKS + l + 1),
            Act::Unlock(l) => (Does::Unlock, LOCKS + l, LOCKS + l + 1),
        };
        if let Act::Unlock(l) = act {
            held[strand].retain(|held| held.lock != l);
            owner.retain(|(lock, _)| *lock != l);
        }
        run.accesses.push(Access {
            strand: strand as u32,
            step,
            place: (strand * 100 + next[strand]) as u64 + 1,
            does,
            start,
            end,
            ordinal: next[strand] as u32 + 1,
            clock: Arc::clone(&clock),
            held: held[strand].clone().into(),
        });
        if let Act::Lock(l) = act {
            if owner.iter().any(|(lock, _)| *lock == l) {
                return None;
            }
            owner.push((l, strand));
            held[strand].push(Held { lock: l, section: step as u64, shared: false });
        }
        next[strand] += 1;
    }
    Some(run)
}

/// All orders of so many acts each.
fn orders(left: &mut Vec<usize>, order: &mut Vec<usize>, each: &mut dyn FnMut(&[usize])) {
    if left.iter().all(|&left| left == 0) {
        return each(order);
    }
    for strand in 0..left.len() {
        if left[strand] > 0 {
            left[strand] -= 1;
            order.push(strand);
            orders(left, order, each);
            order.pop();
            left[strand] += 1;
        }
    }
}

/// What all orders show together, and what one run predicts.
fn both(strands: &[Vec<Act>]) -> (BTreeSet<Iroot>, BTreeSet<Iroot>) {
    let (mut all, mut predicted) = (BTreeSet::new(), BTreeSet::new());
    let mut left: Vec<usize> = strands.iter().map(Vec::len).collect();
    let limits = Limits::default();
    orders(&mut left, &mut Vec::new(), &mut |order| {
        if let Some(run) = run(strands, order) {
            all.extend(shown(&run, &limits));
            if predicted.is_empty() {
                predicted.extend(predict(&run, &limits).iroots.into_keys());
            }
        }
    });
    (all, predicted)
}

fn of_idiom(iroots: &BTreeSet<Iroot>, idiom: u8) -> BTreeSet<Iroot> {
    iroots.iter().copied().filter(|iroot| iroot.idiom == idiom).collect()
}

use Act::{Lock, Read, Unlock, Write};

#[test]
fn an_increment_in_two_strands() {
    let strand = vec![Read(0), Write(0)];
    let (shown, predicted) = both(&[strand.clone(), strand]);
    assert_eq!(of_idiom(&shown, 1), of_idiom(&predicted, 1));
    // A read and a write each: every pair but the two reads, both ways round.
    assert_eq!(of_idiom(&predicted, 1).len(), 6);
    assert_eq!(of_idiom(&shown, 2), of_idiom(&predicted, 2));
    assert_eq!(of_idiom(&shown, 3), of_idiom(&predicted, 3));
}

#[test]
fn a_lock_leaves_the_last_and_the_first() {
    let strand = vec![Lock(0), Read(0), Write(0), Unlock(0)];
    let (shown, predicted) = both(&[strand.clone(), strand]);
    assert_eq!(shown, predicted);
    // The write of one and the read of the other, and the lock from one to the other.
    assert_eq!(predicted.len(), 4);
}

#[test]
fn two_variables_that_belong_together() {
    let writer = vec![Lock(0), Write(0), Unlock(0), Lock(0), Write(1), Unlock(0)];
    let reader = vec![Lock(0), Read(0), Read(1), Unlock(0)];
    let (shown, predicted) = both(&[writer, reader]);
    assert_eq!(of_idiom(&shown, 4), of_idiom(&predicted, 4));
    assert_eq!(of_idiom(&predicted, 4).len(), 1);
    assert!(of_idiom(&predicted, 5).is_empty());
}

#[test]
fn crossing_accesses_and_crossing_locks() {
    let (shown, predicted) = both(&[vec![Write(0), Read(1)], vec![Write(1), Read(0)]]);
    assert_eq!(shown, predicted);
    assert_eq!(of_idiom(&predicted, 5).len(), 1);
    let one = vec![Lock(0), Lock(1), Unlock(1), Unlock(0)];
    let other = vec![Lock(1), Lock(0), Unlock(0), Unlock(1)];
    let (_, predicted) = both(&[one.clone(), other.clone()]);
    assert_eq!(of_idiom(&predicted, 6).len(), 1);
    let guarded = |strand: Vec<Act>| [vec![Lock(2)], strand, vec![Unlock(2)]].concat();
    let (_, predicted) = both(&[guarded(one), guarded(other)]);
    assert!(of_idiom(&predicted, 6).is_empty());
}

#[test]
fn what_others_touch_in_between_is_no_dependency() {
    // The third strand's write comes between the two.
    let strands = [vec![Write(0)], vec![Read(0)], vec![Write(0)]];
    let run = run(&strands, &[0, 2, 1]).unwrap();
    assert_eq!(dependencies(&run), [(0, 1), (1, 2)]);
}

#[test]
fn a_limit_is_kept_and_told() {
    let strand: Vec<Act> = (0..6).flat_map(|x| [Read(x), Write(x)]).collect();
    let order: Vec<usize> = (0..12).map(|_| 0).chain((0..12).map(|_| 1)).collect();
    let run = run(&[strand.clone(), strand], &order).unwrap();
    let all = predict(&run, &Limits::default());
    let few = predict(&run, &Limits { most: 30, ..Limits::default() });
    assert_eq!(
        (all.cut, few.cut, few.iroots.len(), all.iroots.len() > 40),
        (false, true, 30, true),
        "{}",
        all.iroots.len()
    );
    assert!(few.iroots.keys().all(|iroot| iroot.idiom == 1));
    let ones = predict(&run, &Limits { idioms: 1, ..Limits::default() });
    assert_eq!(ones.iroots.len(), 6 * 6);
}

#[test]
fn a_loop_is_as_many_iroots_as_one_round() {
    let strand: Vec<Act> = vec![Read(0), Write(0)];
    let long = |rounds: usize| {
        let looped = strand.repeat(rounds);
        let order: Vec<usize> = (0..2).flat_map(|strand| vec![strand; looped.len()]).collect();
        let mut run = run(&[looped.clone(), looped], &order).unwrap();
        for access in &mut run.accesses {
            access.place = access.place % 100 % 2 + u64::from(access.strand) * 100;
        }
        predict(&run, &Limits::default()).iroots.len()
    };
    assert_eq!(long(10), long(40));
}

fn act() -> impl Strategy<Value = Vec<Act>> {
    let plain = || prop_oneof![(0..2u64).prop_map(Read), (0..2u64).prop_map(Write)];
    let block = prop_oneof![
        plain().prop_map(|act| vec![act]),
        (0..2u64, prop::collection::vec(plain(), 1..3)).prop_map(|(lock, acts)| [
            vec![Lock(lock)],
            acts,
            vec![Unlock(lock)]
        ]
        .concat()),
    ];
    prop::collection::vec(block, 1..3).prop_map(|blocks| {
        let mut acts = blocks.concat();
        acts.truncate(6);
        let open: Vec<u64> = acts.iter().fold(Vec::new(), |mut open, act| {
            match act {
                Lock(lock) => open.push(*lock),
                Unlock(lock) => open.retain(|it| it != lock),
                _ => {}
            }
            open
        });
        acts.extend(open.into_iter().map(Unlock));
        acts
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever order shows is predicted by any one run; of simple idioms nothing else is.
    #[test]
    fn all_that_can_be_is_predicted(one in act(), other in act()) {
        let (shown, predicted) = both(&[one, other]);
        prop_assert!(shown.is_subset(&predicted), "{:?}", shown.difference(&predicted).collect::<Vec<_>>());
        prop_assert_eq!(of_idiom(&shown, 1), of_idiom(&predicted, 1));
        prop_assert_eq!(of_idiom(&shown, 2), of_idiom(&predicted, 2));
        prop_assert!(shown.iter().flat_map(Iroot::dependencies).all(|it| shown.contains(&it)));
    }

    #[test]
    fn all_that_three_strands_can_show_is_predicted(
        one in act(), other in act(), third in prop::collection::vec(prop_oneof![Just(Read(0)), Just(Write(0))], 1..3)
    ) {
        prop_assume!(one.len() + other.len() <= 7);
        let (shown, predicted) = both(&[one, other, third]);
        prop_assert!(shown.is_subset(&predicted), "{:?}", shown.difference(&predicted).collect::<Vec<_>>());
    }
}
