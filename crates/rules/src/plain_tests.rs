//! Races that are told, against a detector that forgets nothing.

use super::*;
use crate::again::Again;
use crate::clock::Clock;
use crate::marks::Node;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

/// A strand with its clock.
struct Strand {
    id: u16,
    clock: Clock,
}

impl Who for Strand {
    fn strand(&self) -> u16 {
        self.id
    }

    fn knows(&self, strand: usize) -> u64 {
        self.clock.get(strand)
    }

    fn heard_of(&self) -> u64 {
        self.clock.get(self.id as usize)
    }
}

/// A cell and the strands that touch it.
struct Scene {
    nodes: [Node; 256],
    strands: Vec<Strand>,
    event: u64,
}

impl Scene {
    fn new(strands: u16) -> Scene {
        let strand = |id| Strand { id, clock: Clock::new() };
        Scene { nodes: [Node::default(); 256], strands: (0..strands).map(strand).collect(), event: 0 }
    }

    /// Runs the steps on one cell; the races told, each as the pcs of the earlier and the later access.
    fn run(&mut self, steps: &[Step], way: Way) -> Vec<(u32, u32)> {
        let mut chains = Chains::of(&mut self.nodes);
        let mut marks = Marks::default();
        let mut told = BTreeSet::new();
        let mut races = Vec::new();
        for step in steps {
            self.event += 1;
            match *step {
                Step::Access { strand, pc, bits, writes } => {
                    let access =
                        Access { event: self.event, pc: pc.into(), bits, writes, noted: way == Way::Again };
                    let who = &self.strands[strand as usize];
                    let known = |other: u32, _| told.contains(&(other, pc));
                    let again = Again::since(strand, who.heard_of());
                    let again = match writes {
                        true => again.writes(&mut marks, bits, pc.into()),
                        false => again.reads(&mut marks, self.event, bits, pc.into()),
                    };
                    if again {
                        assert!(way == Way::Again, "only what is noted is known to be made again");
                        continue;
                    }
                    if way != Way::Slow && marks.quick(&mut chains, who, &access, known) {
                        continue;
                    }
                    let mut found = Vec::new();
                    marks.access(&mut chains, who, &access, |entry| found.push(entry.pc));
                    for other in found {
                        told.insert((other, pc));
                        races.push((other, pc));
                    }
                }
                Step::Order { from, to } => {
                    let event = self.event;
                    let sender = &mut self.strands[from as usize];
                    sender.clock.raise(from as usize, event);
                    let mut known = Clock::new();
                    known.assign(&sender.clock);
                    self.strands[to as usize].clock.join(&known);
                }
            }
        }
        races
    }
}

/// What is asked before the thorough way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Slow,
    Quick,
    /// The quick way, and before it whether the access is one that was made before.
    Again,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Access {
        strand: u16,
        pc: u32,
        bits: u8,
        writes: bool,
    },
    /// What `to` does from now on comes after what `from` did.
    Order {
        from: u16,
        to: u16,
    },
}

use Step::{Access as A, Order as O};

fn read(strand: u16, pc: u32) -> Step {
    A { strand, pc, bits: 0xFF, writes: false }
}

fn write(strand: u16, pc: u32) -> Step {
    A { strand, pc, bits: 0xFF, writes: true }
}

fn races(steps: &[Step]) -> Vec<(u32, u32)> {
    let slow = Scene::new(8).run(steps, Way::Slow);
    let quick: BTreeSet<_> = Scene::new(8).run(steps, Way::Again).into_iter().collect();
    assert_eq!(
        quick,
        slow.iter().copied().collect::<BTreeSet<_>>(),
        "the quick way tells the same: {steps:?}"
    );
    slow
}

#[test]
fn two_writes_without_order_race() {
    assert_eq!(races(&[write(0, 1), write(1, 2)]), [(1, 2)]);
}

#[test]
fn a_write_and_a_read_without_order_race_either_way() {
    assert_eq!(races(&[write(0, 1), read(1, 2)]), [(1, 2)]);
    assert_eq!(races(&[read(0, 1), write(1, 2)]), [(1, 2)]);
}

#[test]
fn two_reads_do_not_race() {
    assert_eq!(races(&[read(0, 1), read(1, 2), read(2, 3)]), []);
}

#[test]
fn what_one_strand_does_does_not_race_with_itself() {
    assert_eq!(races(&[write(0, 1), read(0, 2), write(0, 3)]), []);
}

#[test]
fn an_order_between_them_makes_it_no_race() {
    assert_eq!(races(&[write(0, 1), O { from: 0, to: 1 }, write(1, 2)]), []);
    assert_eq!(races(&[read(0, 1), O { from: 0, to: 1 }, write(1, 2)]), []);
}

#[test]
fn an_order_the_other_way_does_not_help() {
    assert_eq!(races(&[write(0, 1), O { from: 1, to: 0 }, write(1, 2)]), [(1, 2)]);
}

#[test]
fn an_order_that_came_too_early_does_not_help() {
    assert_eq!(races(&[O { from: 0, to: 1 }, write(0, 1), write(1, 2)]), [(1, 2)]);
}

#[test]
fn orders_reach_over_a_third_strand() {
    assert_eq!(races(&[write(0, 1), O { from: 0, to: 1 }, O { from: 1, to: 2 }, write(2, 2)]), []);
}

#[test]
fn other_bytes_do_not_race() {
    let steps =
        [A { strand: 0, pc: 1, bits: 0x0F, writes: true }, A { strand: 1, pc: 2, bits: 0xF0, writes: true }];
    assert_eq!(races(&steps), []);
}

#[test]
fn one_byte_in_common_is_enough() {
    let steps =
        [A { strand: 0, pc: 1, bits: 0x1F, writes: true }, A { strand: 1, pc: 2, bits: 0xF0, writes: true }];
    assert_eq!(races(&steps), [(1, 2)]);
}

#[test]
fn a_write_races_with_every_reader() {
    let mut told = races(&[read(0, 1), read(1, 2), read(2, 3), write(3, 4)]);
    told.sort_unstable();
    assert_eq!(told, [(1, 4), (2, 4), (3, 4)]);
}

#[test]
fn a_reader_that_is_ordered_is_left_out_of_several() {
    assert_eq!(races(&[read(0, 1), read(1, 2), O { from: 0, to: 2 }, write(2, 3)]), [(2, 3)]);
}

#[test]
fn neighbours_in_a_cell_do_not_hide_each_other() {
    let byte = |strand, pc, at: u8, writes| A { strand, pc, bits: 1 << at, writes };
    let steps = [byte(0, 1, 0, true), byte(1, 2, 1, true), byte(2, 3, 0, true), byte(2, 4, 1, false)];
    assert_eq!(races(&steps), [(1, 3), (2, 4)]);
}

#[test]
fn a_repeated_access_keeps_the_first_ones_mark() {
    // The second write of strand 0 is at the same instruction and nobody has heard of the first.
    let steps = [write(0, 1), write(0, 1), O { from: 0, to: 1 }, write(0, 1), write(1, 2)];
    assert_eq!(races(&steps), [(1, 2)]);
}

#[test]
fn what_is_looked_at_without_a_mark_tells_the_same_and_leaves_nothing() {
    let mut nodes = [Node::default(); 16];
    let mut chains = Chains::of(&mut nodes);
    let mut marks = Marks::default();
    let strands = Scene::new(3).strands;
    let access = |event, pc, writes| Access { event, pc, bits: 0xFF, writes, noted: false };
    marks.access(&mut chains, &strands[0], &access(1, 1, false), |_| panic!("nobody was there"));
    marks.access(&mut chains, &strands[1], &access(2, 2, false), |_| panic!("two reads"));
    let before = marks;
    let mut told = Vec::new();
    marks.check(&chains, &strands[2], &access(3, 3, true), |entry| told.push(entry.pc));
    told.sort_unstable();
    assert_eq!(told, [1, 2]);
    assert_eq!(marks, before);
    marks.check(&chains, &strands[2], &access(4, 4, false), |_| panic!("reads do not race"));
}

#[test]
fn written_bytes_are_known_over_several_marks() {
    let mut nodes = [Node::default(); 16];
    let mut chains = Chains::of(&mut nodes);
    let mut marks = Marks::default();
    let strands = Scene::new(2).strands;
    assert!(!marks.are_written(&chains, 1));
    for (strand, bits, writes) in [(0, 0x03, true), (1, 0x0C, true), (1, 0xF0, false)] {
        let access = Access { event: 1, pc: 1, bits, writes, noted: false };
        marks.access(&mut chains, &strands[strand], &access, |_| ());
    }
    assert!(marks.are_written(&chains, 0x0F));
    assert!(marks.are_written(&chains, 0x06));
    assert!(!marks.are_written(&chains, 0x1F));
}

#[test]
fn without_room_for_a_chain_nothing_false_is_told() {
    let mut chains = Chains::<4>::nowhere();
    let mut marks = Marks::default();
    let strands = Scene::new(3).strands;
    for (event, strand) in [(1, 0), (2, 1), (3, 2)] {
        let access = Access { event, pc: event, bits: 0xFF, writes: false, noted: false };
        marks.access(&mut chains, &strands[strand], &access, |_| panic!("reads do not race"));
    }
    assert!(chains.has_lost());
}

/// Every access ever made, with what happened before it: nothing is forgotten.
fn all_races(steps: &[Step]) -> BTreeSet<(u32, u32)> {
    let mut clocks = vec![[0u64; 8]; 8];
    let mut past: Vec<(u64, Step)> = Vec::new();
    let mut found = BTreeSet::new();
    for (event, step) in (1..).zip(steps) {
        match *step {
            O { from, to } => {
                clocks[from as usize][from as usize] = event;
                let known = clocks[from as usize];
                clocks[to as usize]
                    .iter_mut()
                    .zip(known)
                    .for_each(|(mine, theirs)| *mine = theirs.max(*mine));
            }
            A { strand, pc, bits, writes } => {
                for &(when, other) in &past {
                    let A { strand: by, pc: first, bits: theirs, writes: wrote } = other else { continue };
                    let ordered = by == strand || clocks[strand as usize][by as usize] >= when;
                    if theirs & bits != 0 && (writes || wrote) && !ordered {
                        found.insert((first, pc));
                    }
                }
                past.push((event, *step));
            }
        }
    }
    found
}

fn step() -> impl Strategy<Value = Step> {
    let access =
        (0u16..5, 0u32..6, prop::sample::select(vec![0xFFu8, 0x0F, 0xF0, 0x01, 0x02, 0x3C]), any::<bool>())
            .prop_map(|(strand, pc, bits, writes)| A {
                strand,
                pc: 1 + pc + 8 * u32::from(strand),
                bits,
                writes,
            });
    let order = (0u16..5, 0u16..5).prop_map(|(from, to)| O { from, to });
    prop_oneof![4 => access, 1 => order]
}

/// One of three strands reads and writes the same few bytes at the same few instructions.
fn repeats() -> impl Strategy<Value = Step> {
    let bits = prop::sample::select(vec![0xFFu8, 0xFF, 0xFF, 0x0F, 0xF0]);
    let access = (0u16..3, 0u32..2, bits, any::<bool>()).prop_map(|(strand, pc, bits, writes)| A {
        strand,
        pc: 1 + pc + 2 * u32::from(writes) + 8 * u32::from(strand),
        bits,
        writes,
    });
    let order = (0u16..3, 0u16..3).prop_map(|(from, to)| O { from, to });
    prop_oneof![8 => access, 1 => order]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// No race that is told is false; where there is one, one is told of the same memory; and the first is never missed.
    #[test]
    fn what_is_told_is_true_and_the_first_is_told(steps in prop::collection::vec(step(), 1..24)) {
        let all = all_races(&steps);
        for way in [Way::Slow, Way::Quick, Way::Again] {
            let told: BTreeSet<_> = Scene::new(8).run(&steps, way).into_iter().collect();
            prop_assert!(told.is_subset(&all), "{way:?}: {told:?} of {all:?}");
            prop_assert_eq!(told.is_empty(), all.is_empty(), "{:?}: {:?} of {:?}", way, told, all);
            // Up to the first race nothing has been forgotten: it is told with all that take part in it.
            let first = (1..=steps.len()).find(|&upto| !all_races(&steps[..upto]).is_empty());
            if let Some(upto) = first {
                let told: BTreeSet<_> = Scene::new(8).run(&steps[..upto], way).into_iter().collect();
                prop_assert!(!told.is_empty());
            }
        }
    }

    /// Of strands that do the same again and again, at few instructions, the same is told as without a look at that.
    #[test]
    fn what_is_done_again_hides_nothing(steps in prop::collection::vec(repeats(), 1..40)) {
        let all = all_races(&steps);
        let quick: BTreeSet<_> = Scene::new(8).run(&steps, Way::Quick).into_iter().collect();
        let again: BTreeSet<_> = Scene::new(8).run(&steps, Way::Again).into_iter().collect();
        prop_assert!(quick.is_subset(&all), "{quick:?} of {all:?}");
        prop_assert_eq!(quick, again, "of {:?}", all);
    }

    /// The quick way leaves marks by which the same races are told later.
    #[test]
    fn the_quick_way_hides_nothing(steps in prop::collection::vec(step(), 1..24)) {
        let slow: BTreeSet<_> = Scene::new(8).run(&steps, Way::Slow).into_iter().collect();
        let quick: BTreeSet<_> = Scene::new(8).run(&steps, Way::Again).into_iter().collect();
        prop_assert_eq!(slow.is_empty(), quick.is_empty());
    }
}

#[test]
fn what_many_strands_read_again_and_again_is_found_at_once() {
    const STRANDS: u16 = 1000;
    let mut nodes = [Node::default(); 1024];
    let mut chains = Chains::of(&mut nodes);
    let mut marks = Marks::default();
    let mut strands: Vec<Strand> = (0..STRANDS).map(|id| Strand { id, clock: Clock::new() }).collect();
    let mut lock = Clock::new();
    let (mut event, mut slow) = (0, 0);
    for strand in &strands {
        event += 1;
        let access = Access { event, pc: 5, bits: 0xFF, writes: false, noted: false };
        if !marks.quick(&mut chains, strand, &access, |_, _| false) {
            marks.access(&mut chains, strand, &access, |_| panic!("nobody writes"));
        }
    }
    for round in 0..10u64 {
        for turn in 0..u64::from(STRANDS) {
            let strand =
                &mut strands[((turn * 7 + round * 13) * (2 * round + 1) % u64::from(STRANDS)) as usize];
            // A turn under the lock, and a read behind it, which nobody hears of before the next turn.
            event += 3;
            strand.clock.join(&lock);
            strand.clock.raise(strand.id as usize, event);
            lock.join(&strand.clock);
            let access = Access { event: event + 1, pc: 7, bits: 0xFF, writes: false, noted: false };
            if !marks.quick(&mut chains, strand, &access, |_, _| false) {
                slow += u32::from(round > 2);
                marks.access(&mut chains, strand, &access, |_| panic!("nobody writes"));
            }
        }
    }
    assert_eq!(slow, 0);
    // A write that knows of none of the last reads races with each of them.
    let writer = Strand { id: STRANDS, clock: lock };
    let mut found = 0;
    let access = Access { event: event + 5, pc: 9, bits: 0xFF, writes: true, noted: false };
    marks.access(&mut chains, &writer, &access, |entry| found += u32::from(entry.pc == 7));
    assert_eq!(found, u32::from(STRANDS));
    // Whoever reads next finds the write, wherever its own mark was.
    let mut found = 0;
    let access = Access { event: event + 6, pc: 7, bits: 0xFF, writes: false, noted: false };
    assert!(!marks.quick(&mut chains, &strands[3], &access, |_, _| false));
    marks.access(&mut chains, &strands[3], &access, |entry| found += u32::from(entry.pc == 9));
    assert_eq!(found, 1);
}
