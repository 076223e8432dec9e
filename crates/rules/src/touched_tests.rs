//! Which instructions are learnt, against a list of all accesses.

use super::*;
use crate::bits;
use crate::lineage::{Line, Names};
use crate::marks::Node;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

/// An access: strand, address, size, whether it writes, instruction (0 at a point).
type Access = (u16, u64, u32, bool, u32);

/// The running strand.
struct Running<'a> {
    names: &'a Names,
    strand: u16,
    line: &'a Line,
}

impl Order for Running<'_> {
    fn stretch(&self, name: usize) -> (u16, u32) {
        self.names.stretch(name)
    }
    fn is_before(&self, name: usize) -> bool {
        self.names.is_before(self.strand, self.line, name)
    }
}

/// As many strands as names, which nothing orders: the one that runs.
struct Apart(u16);

impl Order for Apart {
    fn stretch(&self, name: usize) -> (u16, u32) {
        (name as u16, 0)
    }
    fn is_before(&self, name: usize) -> bool {
        name == self.0.into()
    }
}

/// What strands do.
#[derive(Clone, Copy, Debug)]
enum Step {
    Access(Access),
    /// The first creates the second.
    Create(u16, u16),
    /// The first has waited for the second's end.
    Join(u16, u16),
}

fn learn(accesses: &[Access]) -> (BTreeSet<u32>, Vec<bool>) {
    learn_of(&accesses.iter().map(|&access| Step::Access(access)).collect::<Vec<_>>())
}

/// Notes accesses to one cell as the runtime does; the instructions learnt, and whether each conflicts.
fn learn_of(steps: &[Step]) -> (BTreeSet<u32>, Vec<bool>) {
    let mut nodes = [Node::default(); 512];
    let mut chains = Chains::of(&mut nodes);
    let mut word = 0u64;
    let mut learnt = BTreeSet::new();
    let mut conflicts = Vec::new();
    let mut names = Names::new();
    let mut lines: Vec<Line> = (0..1000).map(|_| Line::new()).collect();
    let two = |lines: &mut Vec<Line>, strands: (u16, u16)| {
        (
            core::mem::take(&mut lines[usize::from(strands.0)]),
            core::mem::take(&mut lines[usize::from(strands.1)]),
        )
    };
    for &step in steps {
        let (strand, addr, size, write, pc) = match step {
            Step::Access(access) => access,
            Step::Create(by, new) => {
                let (mut line, mut its) = two(&mut lines, (by, new));
                names.created(by, &mut line, &mut its);
                (lines[usize::from(by)], lines[usize::from(new)]) = (line, its);
                continue;
            }
            Step::Join(by, other) => {
                let (mut line, its) = two(&mut lines, (by, other));
                names.joined(&mut line, other, &its);
                (lines[usize::from(by)], lines[usize::from(other)]) = (line, its);
                continue;
            }
        };
        let line = &mut lines[usize::from(strand)];
        // An instruction that is known is a point from then on.
        let pc = if learnt.contains(&pc) { 0 } else { pc };
        let new = New::of(line.name(), addr, size, write, pc.into());
        if pc == 0 && says_all(word, bits(addr & 7, size.into())) {
            conflicts.push(false);
            continue;
        }
        let shared = !new.repeats(&mut word) && {
            let new = new.named(names.give(strand, line));
            let order = Running { names: &names, strand, line };
            new.note(&mut word, &mut chains, &order, |other| {
                learnt.insert(other);
            }) == Noted::Conflicts
        };
        if shared && pc != 0 {
            learnt.insert(pc);
        }
        conflicts.push(shared);
    }
    assert!(!chains.has_lost());
    (learnt, conflicts)
}

/// The same by comparing each with all before it.
fn all(accesses: &[Access]) -> BTreeSet<u32> {
    let mut learnt = BTreeSet::new();
    for (at, &(strand, addr, size, write, pc)) in accesses.iter().enumerate() {
        for &(by, there, wide, wrote, other) in &accesses[..at] {
            let meet = addr < there + u64::from(wide) && there < addr + u64::from(size);
            if by != strand && meet && (write || wrote) {
                learnt.extend([pc, other].into_iter().filter(|pc| *pc != 0));
            }
        }
    }
    learnt
}

/// The same, of pairs that neither creations nor joins order.
fn unordered(steps: &[Step]) -> BTreeSet<u32> {
    let mut learnt = BTreeSet::new();
    let mut known = vec![BTreeSet::new(); 60];
    let mut before = Vec::new();
    for (at, &step) in steps.iter().enumerate() {
        match step {
            Step::Access((strand, addr, size, write, pc)) => {
                let strand = usize::from(strand);
                for &(earlier, (there, wide, wrote, other)) in &before {
                    let meet = addr < there + u64::from(wide) && there < addr + u64::from(size);
                    if meet && (write || wrote) && !known[strand].contains(&earlier) {
                        learnt.extend([pc, other].into_iter().filter(|pc| *pc != 0));
                    }
                }
                known[strand].insert(at);
                before.push((at, (addr, size, write, pc)));
            }
            Step::Create(from, to) | Step::Join(to, from) => {
                let news = known[usize::from(from)].clone();
                known[usize::from(to)].extend(news);
            }
        }
    }
    learnt
}

/// Leaves out what strands cannot do: begin twice, or go on after their end.
fn possible(steps: Vec<Step>) -> Vec<Step> {
    let (mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new());
    let mut can = |step: &Step| match *step {
        Step::Access((strand, ..)) => {
            begun.insert(strand);
            !ended.contains(&strand)
        }
        Step::Create(by, new) => {
            !ended.contains(&by) && by != new && begun.insert(by) | true && begun.insert(new)
        }
        Step::Join(by, other) => {
            begun.insert(by);
            by != other && !ended.contains(&by) && ended.insert(other)
        }
    };
    steps.into_iter().filter(|step| can(step)).collect()
}

fn check(accesses: &[Access]) {
    assert_eq!(learn(accesses).0, all(accesses), "{accesses:?}");
}

#[test]
fn the_first_access_is_the_first() {
    let mut nodes = [Node::default(); 4];
    let mut chains = Chains::of(&mut nodes);
    let mut word = FOREIGN;
    let new = New::of(3, 0x1000, 8, true, 7);
    assert!(!new.repeats(&mut word));
    assert_eq!(new.note(&mut word, &mut chains, &Apart(3), |_| panic!("nobody was there")), Noted::First);
    assert!(new.repeats(&mut word));
    assert_eq!(word & FOREIGN, FOREIGN, "somebody else's bit stays");
}

#[test]
fn both_instructions_of_a_pair_are_learnt() {
    check(&[(0, 0, 8, true, 1), (1, 0, 8, false, 2)]);
    check(&[(0, 0, 8, false, 1), (1, 0, 8, true, 2)]);
    assert_eq!(learn(&[(0, 0, 8, true, 1), (1, 0, 8, true, 2)]).0, BTreeSet::from([1, 2]));
}

#[test]
fn readers_alone_teach_nothing() {
    check(&[(0, 0, 8, false, 1), (1, 0, 8, false, 2), (2, 0, 4, false, 3)]);
    assert_eq!(learn(&[(0, 0, 8, false, 1), (1, 0, 8, false, 2)]).0, BTreeSet::new());
}

#[test]
fn one_strand_alone_teaches_nothing() {
    check(&[(0, 0, 8, true, 1), (0, 0, 4, false, 2), (0, 4, 4, true, 3)]);
}

#[test]
fn an_earlier_reader_is_not_lost_behind_a_later_one() {
    // Read 1, read 2, write 2: what one owner a cell forgot.
    check(&[(0, 0, 4, false, 1), (1, 0, 4, false, 2), (1, 0, 4, true, 3)]);
    assert_eq!(
        learn(&[(0, 0, 4, false, 1), (1, 0, 4, false, 2), (1, 0, 4, true, 3)]).0,
        BTreeSet::from([1, 3])
    );
}

#[test]
fn neighbours_in_a_word_are_apart() {
    check(&[(0, 0, 4, true, 1), (1, 4, 4, true, 2)]);
    assert_eq!(learn(&[(0, 0, 4, true, 1), (1, 4, 4, true, 2)]).0, BTreeSet::new());
    check(&[(0, 0, 4, true, 1), (1, 4, 4, true, 2), (0, 4, 4, false, 3)]);
}

#[test]
fn a_wide_access_meets_all_it_covers() {
    check(&[(0, 0, 1, true, 1), (1, 3, 1, true, 2), (2, 4, 4, false, 3), (3, 0, 8, true, 4)]);
}

#[test]
fn what_is_made_again_conflicts_only_once() {
    let (_, conflicts) =
        learn(&[(0, 0, 8, true, 1), (1, 0, 8, true, 2), (1, 0, 8, true, 2), (1, 0, 8, true, 2)]);
    assert_eq!(conflicts[..2], [false, true]);
}

#[test]
fn a_point_teaches_of_others() {
    check(&[(0, 0, 8, true, 1), (1, 0, 8, false, 0)]);
    assert_eq!(learn(&[(0, 0, 8, true, 1), (1, 0, 8, false, 0)]).0, BTreeSet::from([1]));
    check(&[(0, 0, 8, true, 0), (1, 0, 8, false, 2)]);
}

#[test]
fn many_writers_at_points_end_in_one_word() {
    let mut nodes = [Node::default(); 64];
    let mut chains = Chains::of(&mut nodes);
    let mut word = 0;
    for round in 0..3 {
        for strand in 0..6 {
            let new = New::bytes(strand, 0, 0xFF, true, 0);
            if !new.repeats(&mut word) && !says_all(word, 0xFF) {
                new.note(&mut word, &mut chains, &Apart(strand), |_| panic!("points have no instruction"));
            }
        }
        assert!(says_all(word, 0xFF), "round {round}: {word:x}");
    }
}

#[test]
fn strands_beyond_the_first_fifteen_are_told_apart() {
    for strand in [14, 15, 16, 40, 900] {
        check(&[
            (strand, 0, 8, false, 1),
            (strand + 1, 0, 8, false, 2),
            (strand, 0, 4, false, 3),
            (2, 0, 8, true, 4),
        ]);
    }
}

#[test]
fn the_last_write_learns_of_others_only() {
    let mut nodes = [Node::default(); 8];
    let mut chains = Chains::of(&mut nodes);
    let mut word = 0;
    New::of(1, 0, 8, false, 5).note(&mut word, &mut chains, &Apart(1), |_| ());
    assert!(!last_write(&mut word, &mut chains, &Apart(1), |_| panic!("its own")));
    let mut learnt = Vec::new();
    assert!(last_write(&mut word, &mut chains, &Apart(2), |pc| learnt.push(pc)));
    assert_eq!(learnt, [5]);
    assert!(last_write(&mut word, &mut chains, &Apart(2), |_| panic!("it is known by now")));
}

#[test]
fn a_forgotten_cell_gives_its_chain_back() {
    let mut nodes = [Node::default(); 4];
    let mut chains = Chains::of(&mut nodes);
    for _ in 0..50 {
        let mut word = 0;
        for strand in 0..3 {
            New::of(strand, u64::from(strand), 1, false, 1 + u64::from(strand)).note(
                &mut word,
                &mut chains,
                &Apart(strand),
                |_| (),
            );
        }
        forget(word, &mut chains);
    }
    assert!(!chains.has_lost());
}

fn access() -> impl Strategy<Value = Access> {
    let shape = prop::sample::select(vec![(0u64, 8u32), (0, 4), (4, 4), (0, 1), (3, 1), (6, 2), (2, 2)]);
    (0u16..5, shape, any::<bool>(), 0u32..7)
        .prop_map(|(strand, (addr, size), write, pc)| (strand, addr, size, write, pc))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => access().prop_map(Step::Access),
        1 => (0u16..5, 0u16..5).prop_map(|(by, new)| Step::Create(by, new)),
        1 => (0u16..5, 0u16..5).prop_map(|(by, other)| Step::Join(by, other)),
    ]
}

#[test]
fn what_comes_before_a_creation_teaches_nothing() {
    let write = |strand, pc| Step::Access((strand, 0, 8, true, pc));
    let learnt = |steps: &[Step]| learn_of(steps).0;
    assert_eq!(learnt(&[write(0, 1), Step::Create(0, 1), write(1, 2)]), BTreeSet::new());
    assert_eq!(learnt(&[Step::Create(0, 1), write(0, 1), write(1, 2)]), BTreeSet::from([1, 2]));
    let joined = [Step::Create(0, 1), write(1, 2), Step::Join(0, 1), write(0, 1), write(0, 3)];
    assert_eq!(learnt(&joined), BTreeSet::new());
}

#[test]
fn who_was_created_earlier_is_not_ordered_by_a_later_creation() {
    let access = |strand, write, pc| Step::Access((strand, 0, 8, write, pc));
    // Two strands come after the write and read; a third one does not.
    let steps = [
        Step::Create(0, 3),
        access(0, true, 1),
        Step::Create(0, 1),
        Step::Create(0, 2),
        access(1, false, 2),
        access(2, false, 2),
        access(1, false, 2),
        access(3, false, 2),
    ];
    assert_eq!(learn_of(&steps[..7]).0, BTreeSet::new());
    assert_eq!(learn_of(&steps).0, BTreeSet::from([1, 2]));
}

#[test]
fn strands_one_after_another_leave_one_entry() {
    let mut nodes = [Node::default(); 8];
    let mut chains = Chains::of(&mut nodes);
    let (mut names, mut main, mut word) = (Names::new(), Line::new(), 0);
    for strand in 1..200 {
        let mut line = Line::new();
        names.created(0, &mut main, &mut line);
        let new = New::of(names.give(strand, &mut line), 0, 8, true, 5);
        new.note(&mut word, &mut chains, &Running { names: &names, strand, line: &line }, |_| panic!());
        names.joined(&mut main, strand, &line);
    }
    assert!(!chains.has_lost() && !chains.any());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Of every conflicting pair both instructions are learnt, and nothing else.
    #[test]
    fn exactly_the_shared_instructions_are_learnt(accesses in prop::collection::vec(access(), 1..40)) {
        prop_assert_eq!(learn(&accesses).0, all(&accesses));
    }

    /// Entries of strands with large numbers, which have no place in the word's short form.
    #[test]
    fn the_same_with_many_strands(accesses in prop::collection::vec((0u16..60, access()), 1..60)) {
        let accesses: Vec<Access> = accesses
            .into_iter()
            .map(|(strand, (_, addr, size, write, pc))| (strand, addr, size, write, pc))
            .collect();
        prop_assert_eq!(learn(&accesses).0, all(&accesses));
    }

    /// With creations and joins: all that nothing orders is learnt, and nothing that does not conflict.
    #[test]
    fn what_nothing_orders_is_learnt(steps in prop::collection::vec(step(), 1..50)) {
        let steps = possible(steps);
        let accesses: Vec<Access> = steps
            .iter()
            .filter_map(|step| if let Step::Access(access) = step { Some(*access) } else { None })
            .collect();
        let (learnt, least) = (learn_of(&steps).0, unordered(&steps));
        prop_assert!(learnt.is_superset(&least), "{learnt:?} {least:?} {steps:?}");
        prop_assert!(learnt.is_subset(&all(&accesses)));
    }
}
