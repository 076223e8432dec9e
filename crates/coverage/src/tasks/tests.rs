//! The accounts hold, and what cannot be covered is told apart for the right reason.

use super::*;
use threadbare_abi::tasks::marks::{BESIDE, EVENTS, INTERRUPTED, LIBRARY, RETURNED, SEVERAL, THROUGH};

/// A function as most are: several strands run it, it has events and returns.
const USUAL: u32 = BESIDE | SEVERAL | EVENTS | RETURNED;

fn function(pc: u64, marks: u32, strand: u64) -> Function {
    Function { pc, marks, strand }
}

fn seen(functions: &[Function], pairs: &[(u16, u16)]) -> Seen {
    Seen { functions: functions.to_vec(), pairs: pairs.to_vec(), lost: 0 }
}

fn books(functions: &[Function], pairs: &[(u16, u16)]) -> TaskBooks {
    let mut books = TaskBooks::default();
    books.take(0, &seen(functions, pairs));
    books
}

/// What the counts of pairs are when every pair is looked at.
fn counted_one_by_one(books: &TaskBooks) -> Model {
    let mut model = Model::default();
    let asked = |place: &u16| books.functions()[usize::from(*place)].is_asked_for();
    let places: Vec<u16> = (0..books.functions().len() as u16).filter(asked).collect();
    for &one in &places {
        for &other in &places {
            model.see(books.pair(one, other));
        }
    }
    model
}

#[test]
fn runs_are_joined_by_pc() {
    let mut books = TaskBooks::default();
    books.take(0, &seen(&[function(10, BESIDE, 1), function(20, BESIDE | INTERRUPTED, 2)], &[(1, 0)]));
    // Another job: other places, and one function twice.
    let other =
        [function(20, BESIDE, 2), function(30, 0, 0), function(10, THROUGH, 0), function(20, EVENTS, 0)];
    books.take(1, &seen(&other, &[(0, 2), (3, 1), (2, 9)]));
    let expected = [
        function(10, BESIDE | THROUGH, 1),
        function(20, BESIDE | INTERRUPTED | EVENTS, 2),
        function(30, 0, 0),
    ];
    assert_eq!(books.functions(), expected);
    assert_eq!(books.table(), seen(&expected, &[(1, 0), (1, 2)]));
    assert_eq!((books.runs(), books.runs_without_growth()), (2, 0));
    let version = books.version();
    let table = books.table();
    books.take(2, &table);
    assert_eq!((books.version(), books.runs_without_growth()), (version, 1));
}

#[test]
fn a_function_of_two_strands_is_one_of_several() {
    let mut books = TaskBooks::default();
    books.take(0, &seen(&[function(10, BESIDE, 1)], &[]));
    assert_eq!(books.functions()[0].only_strand(), Some(1));
    books.take(1, &seen(&[function(10, BESIDE, 2)], &[]));
    assert_eq!(books.functions()[0], function(10, BESIDE | SEVERAL, 1));
    assert_eq!(books.functions()[0].only_strand(), None);
}

#[test]
fn what_cannot_be_covered_has_its_reason() {
    let state = |marks: u32| {
        let function = function(1, marks, 1);
        (function.interrupted(), function.through())
    };
    use State::{Covered, Open, Out};
    assert_eq!(state(USUAL), (Open, Open));
    assert_eq!(state(USUAL | INTERRUPTED | THROUGH), (Covered, Covered));
    assert_eq!(state(EVENTS | RETURNED), (Out(Reason::Alone), Out(Reason::Alone)));
    assert_eq!(state(USUAL & !RETURNED), (Open, Out(Reason::NeverReturned)));
    assert_eq!(state(USUAL & !EVENTS), (Out(Reason::NoEvents), Open));
    // What happened can happen.
    assert_eq!(state(INTERRUPTED | THROUGH), (Covered, Covered));

    let (usual, alone) = (function(1, USUAL, 1), function(2, EVENTS | RETURNED, 0));
    let (here, there) = (function(3, BESIDE | EVENTS, 1), function(4, BESIDE | EVENTS, 2));
    let silent = function(5, BESIDE | SEVERAL, 1);
    assert_eq!(usual.cannot_meet(&usual), None);
    assert_eq!(usual.cannot_meet(&alone), Some(Reason::Alone));
    assert_eq!(alone.cannot_meet(&usual), Some(Reason::Alone));
    assert_eq!(here.cannot_meet(&here), Some(Reason::OneStrand));
    assert_eq!(here.cannot_meet(&there), None);
    assert_eq!(here.cannot_meet(&usual), None);
    assert_eq!(usual.cannot_meet(&silent), Some(Reason::NoEvents));
    assert_eq!(silent.cannot_meet(&usual), Some(Reason::NoEvents));
}

#[test]
fn counts_are_of_what_is_asked_for() {
    let functions = [
        function(1, USUAL | INTERRUPTED, 1),
        function(2, USUAL | THROUGH, 1),
        function(3, EVENTS | RETURNED, 0),
        function(4, BESIDE | EVENTS, 1),
        function(5, BESIDE | RETURNED, 1),
        function(6, USUAL | INTERRUPTED | LIBRARY, 1),
    ];
    let counts = books(&functions, &[(0, 1), (0, 5), (5, 0), (4, 4)]).counts();
    assert_eq!((counts.functions, counts.beside), (5, 4));
    assert_eq!(
        counts.interrupted,
        Model {
            tasks: 5,
            covered: 1,
            coverable: 3,
            uncoverable: Out { alone: 1, no_events: 1, ..Out::default() }
        }
    );
    assert_eq!(
        counts.ran_through,
        Model {
            tasks: 5,
            covered: 1,
            coverable: 3,
            uncoverable: Out { alone: 1, never_returned: 1, ..Out::default() }
        }
    );
    assert_eq!((counts.model1.tasks, counts.model1.covered, counts.model1.coverable), (10, 2, 6));
    assert_eq!(counts.model1.share(), Some(2.0 / 6.0));
    // 25 pairs: 9 with the third; the fifth has no events (7 with it, one of which happened); the fourth is alone in its strand with
    // itself.
    assert_eq!(
        counts.model2,
        Model {
            tasks: 25,
            covered: 2,
            coverable: 25 - 9 - 6 - 1,
            uncoverable: Out { alone: 9, no_events: 6, one_strand: 1, ..Out::default() }
        }
    );
    assert_eq!(Model::default().share(), None);
}

#[test]
fn pairs_are_counted_as_if_each_was_looked_at() {
    let mut rng = threadbare_strategy::rng::Rng::new(7);
    for _ in 0..200 {
        let count = rng.next() % 20;
        let functions: Vec<Function> =
            (0..count).map(|pc| function(pc, (rng.next() % 128) as u32, rng.next() % 4)).collect();
        let pairs: Vec<(u16, u16)> =
            (0..count).map(|_| ((rng.next() % count) as u16, (rng.next() % count) as u16)).collect();
        let books = books(&functions, &pairs);
        assert_eq!(books.counts().model2, counted_one_by_one(&books), "{functions:?} {pairs:?}");
        assert!(books.counts().model1.covered <= books.counts().model1.coverable);
    }
}

#[test]
fn the_curve_is_of_what_was_covered() {
    let mut books = TaskBooks::default();
    books.begin_with(&seen(&[function(1, USUAL | THROUGH, 1)], &[]));
    assert!(books.samples().is_empty() && !books.is_empty());
    books.take(0, &seen(&[function(1, USUAL | INTERRUPTED, 1)], &[]));
    books.take(1, &seen(&[function(1, USUAL, 1)], &[(0, 0)]));
    let points: Vec<_> = books
        .samples()
        .iter()
        .map(|sample| {
            (sample.runs, sample.counts.interrupted, sample.counts.ran_through, sample.counts.pairs)
        })
        .collect();
    assert_eq!(points, [(1, 1, 1, 0), (2, 1, 1, 1)]);
}

#[test]
fn a_goal_is_reached_when_nothing_new_comes() {
    let one = |share| Goal { model: TaskModel::One, share };
    let two = |share| Goal { model: TaskModel::Two, share };
    let mut books = TaskBooks::default();
    let table = seen(&[function(1, USUAL | THROUGH, 1)], &[]);
    for run in 0..5 {
        books.take(run, &table);
        assert!(!one(0.5).is_reached(&books));
    }
    books.take(5, &table);
    assert!(one(0.5).is_reached(&books) && !one(0.51).is_reached(&books));
    assert!(!two(0.01).is_reached(&books) && two(0.0).is_reached(&books));
    books.take(6, &seen(&[function(2, 0, 0)], &[]));
    assert!(!one(0.5).is_reached(&books));
    // A program without strands.
    let mut books = TaskBooks::default();
    (0..6).for_each(|run| books.take(run, &seen(&[function(1, 0, 0)], &[])));
    assert!(two(1.0).is_reached(&books));
    assert_eq!(books.counts().model1.uncoverable.alone, 2);
}

#[test]
fn of_very_many_functions_some_are_left_out() {
    use threadbare_abi::tasks::FUNCTIONS;
    let functions: Vec<Function> = (1..=FUNCTIONS as u64 + 5).map(|pc| function(pc, USUAL, 1)).collect();
    let last = FUNCTIONS as u16;
    let books = books(&functions, &[(0, last), (last - 1, last - 1)]);
    assert_eq!((books.functions().len(), books.lost()), (FUNCTIONS, 1));
    assert_eq!(books.pairs().collect::<Vec<_>>(), [(last - 1, last - 1)]);
    assert_eq!(books.counts().model2.coverable, (FUNCTIONS * FUNCTIONS) as u64);
}

fn table(functions: &[Function], pairs: &[(u16, u16)]) -> TaskTable {
    TaskTable::new(&books(functions, pairs), |pc| crate::kept::Spot {
        address: format!("bank+{pc:#x}"),
        ..Default::default()
    })
}

#[test]
fn tables_are_kept_and_put_together_by_address() {
    let one = table(&[function(0x10, USUAL | INTERRUPTED, 1), function(0x20, USUAL, 1)], &[(0, 1), (0, 0)]);
    let many: Vec<Function> = (0..90).map(|pc| function(0x10 * (90 - pc), USUAL, 1)).collect();
    let two = table(&many, &[(89, 88), (88, 89), (0, 89)]);
    let merged = TaskTable::merged([&one.keep(), &two.keep()]);
    let addresses: Vec<_> = merged.functions().take(3).map(|(_, _, spot)| spot.address.as_str()).collect();
    assert_eq!((addresses, merged.functions().count()), (vec!["bank+0x10", "bank+0x20", "bank+0x5a0"], 90));
    let covered = |one, other| merged.pair(one, other) == State::Covered;
    assert!(covered(0, 0) && covered(0, 1) && covered(1, 0) && covered(2, 0) && !covered(1, 1));
    let counts = merged.counts();
    assert_eq!((counts.interrupted.covered, counts.model2.covered), (1, 4));
    assert_eq!(merged.added(), TaskProgress { pairs: 2, ..TaskProgress::default() });
    // What is kept of it is it.
    let again = TaskTable::merged([&merged.keep()]);
    assert_eq!((again.counts(), again.keep().counts), (counts, counts));
}

#[test]
fn a_new_campaign_goes_on_from_what_is_kept() {
    let earlier = table(&[function(0x10, USUAL | THROUGH, 1), function(0x20, USUAL, 2)], &[(1, 0), (1, 1)]);
    let earlier = TaskTable::merged([&earlier.keep()]);
    // The second function is nowhere now.
    let seen = earlier.seen(|spot| (spot.address == "bank+0x10").then_some(0x7010));
    assert_eq!(seen, self::seen(&[function(0x7010, USUAL | THROUGH, 1)], &[]));
    let mut books = TaskBooks::default();
    books.begin_with(&seen);
    books.take(0, &self::seen(&[function(0x7010, USUAL | INTERRUPTED, 1)], &[(0, 0)]));
    assert_eq!(books.added(), TaskProgress { interrupted: 1, ran_through: 0, pairs: 1 });
    assert_eq!(books.counts().model1.covered, 2);
}

#[test]
fn what_is_kept_badly_does_no_harm() {
    let kept = table(&[function(0x10, USUAL, 1)], &[(0, 0)]).keep();
    let text = serde_json::to_string(&kept).unwrap().replace("\"1\"", "\"zfff\",\"ffff\"");
    let kept: KeptTasks = serde_json::from_str(&text).unwrap();
    assert_eq!(TaskTable::merged([&kept]).counts().model2.covered, 0);
}
