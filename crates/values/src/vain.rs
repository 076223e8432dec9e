//! Loops that wait, and what they find in vain.
//!
//! A planner takes a loop that waits for one operation: its strand is held until what it waits for is there, and how often it would have looked by then makes no
//! difference to anybody. To values it does: a block that ends with a look has a run in which the look was in vain. What a loop found in
//! vain is learnt from runs that looked; such looks are put into the other runs, wherever the strand stands before its loop.

use crate::order::Order;
use crate::recording::{Access, Deed, Recording};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use threadbare_abi::op::OpKind;

/// A loop looks at so many places at most.
const MOST_LOOKS: usize = 4;
/// So many rounds in a row that find the same are a loop that waits.
const REPEATS: usize = 5;
/// Looks that are put into a run, each into one of its own; and accesses of a run that they are put into.
const MOST_RUNS: usize = 24;
const MOST_ACCESSES: usize = 300;

/// What one look found: instruction, address, bytes, value.
type Look = (u64, u64, u8, u64);

/// A round of looks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Round {
    looks: Vec<Look>,
    /// The instruction that looks next: the first one again, or that of the second round, where a compiler has made the first one by itself.
    next: u64,
}

/// What loops have found in vain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vain {
    /// By instruction.
    values: HashMap<u64, HashSet<u64>>,
    /// Rounds of loops, by the instruction and the address of their first look.
    rounds: HashMap<(u64, u64), BTreeSet<Round>>,
}

pub(crate) fn only_reads(access: &Access) -> bool {
    matches!(access.op, OpKind::Read | OpKind::AtomicLoad)
}

fn look(access: &Access) -> Look {
    (access.pc, access.addr, access.size, access.before)
}

impl Vain {
    /// Learns from a run whose strands looked in vain.
    pub(crate) fn learn(&mut self, run: &Recording) {
        let mut by_strand: BTreeMap<u16, Vec<&Access>> = BTreeMap::new();
        for access in &run.accesses {
            by_strand.entry(access.strand).or_default().push(access);
        }
        for own in by_strand.values() {
            for pair in own.windows(2).filter(|pair| only_reads(pair[1]) && look(pair[0]) == look(pair[1])) {
                self.values.entry(pair[1].pc).or_default().insert(pair[1].before);
            }
            for length in 1..=MOST_LOOKS {
                self.learn_rounds(own, length);
            }
        }
    }

    /// Learns rounds of so many looks, from the accesses of a strand.
    fn learn_rounds(&mut self, own: &[&Access], length: usize) {
        let mut same = 0;
        for at in length..own.len() {
            let (now, then) = (own[at], own[at - length]);
            let again = only_reads(now)
                && !now.goes_on
                && look(now) == look(then)
                && now.activation == own[at - 1].activation;
            same = if again { same + 1 } else { 0 };
            if same != REPEATS * length || is_shorter(&own[at + 1 - length..=at]) {
                continue;
            }
            let begins = at + 1 - same - length;
            let like = |one: &Access, other: &Access| {
                only_reads(one)
                    && (one.activation, one.addr, one.size, one.before)
                        == (other.activation, other.addr, other.size, other.before)
            };
            let first = (1..=length.min(begins))
                .take_while(|back| like(own[begins - back], own[begins - back + length]))
                .last()
                .unwrap_or(0);
            // A strand may stand before any of its looks.
            for begin in begins - first..begins + length {
                let looks = own[begin..begin + length].iter().map(|access| look(access)).collect();
                let round = Round { looks, next: own[begin + length].pc };
                self.rounds.entry((own[begin].pc, own[begin].addr)).or_default().insert(round);
            }
        }
    }

    /// Whether a load has found a value in vain.
    pub(crate) fn has(&self, pc: u64, value: u64) -> bool {
        self.values.get(&pc).is_some_and(|values| values.contains(&value))
    }

    /// Runs like one that was made, in each of which one loop looks in vain once more.
    pub(crate) fn put_into(&self, run: &Recording) -> Vec<Recording> {
        let mut runs = Vec::new();
        let looks =
            |access: &Access| only_reads(access) && self.rounds.contains_key(&(access.pc, access.addr));
        if self.rounds.is_empty()
            || run.accesses.len() > MOST_ACCESSES
            || run.dropped > 0
            || !run.accesses.iter().any(looks)
        {
            return runs;
        }
        let Some(order) = Order::of(run, |_| false) else { return runs };
        for (number, access) in run.accesses.iter().enumerate() {
            let Some(rounds) = self.rounds.get(&(access.pc, access.addr)).filter(|_| looks(access)) else {
                continue;
            };
            let apart = if moves(run) { apart(run, &order, number) } else { None };
            let near = || {
                let stands = (0..number).rev().find(|&other| order.stands_after(other, number));
                (stands.map_or(0, |last| last + 1)..number + 1, number)
            };
            let (run, (window, next)) =
                apart.as_ref().map_or_else(|| (run, near()), |(run, at)| (run, at.clone()));
            for round in rounds {
                let mut fitted = false;
                for at in window.clone() {
                    let fits = round.looks.iter().all(|look| value_at(run, at, look) == Some(look.3));
                    let wrote = at.checked_sub(1).map(|at| &run.accesses[at]).is_some_and(|access| {
                        access.writes() && round.looks.iter().any(|look| look.1 == access.addr)
                    });
                    // Once where it begins to fit, and again where others have written what it looks at.
                    if fits && (!fitted || wrote) && runs.len() < MOST_RUNS {
                        runs.push(with(run, at, next, round));
                    }
                    fitted = fits;
                }
            }
        }
        runs
    }
}

/// Whether a round consists of several of a shorter one.
fn is_shorter(round: &[&Access]) -> bool {
    (1..round.len()).any(|length| {
        round.len().is_multiple_of(length)
            && (length..round.len()).all(|at| look(round[at]) == look(round[at - length]))
    })
}

/// Where a strand stands before an access, and the access.
type Window = (Range<usize>, usize);

/// Whether the accesses of a run can be put into another order: strands wait for each other's beginning and end, and for memory, and for nothing else.
fn moves(run: &Recording) -> bool {
    let quiet = |op| {
        use OpKind::{Alloc, Annotate, Create, Exit, Fence, Join, Start, Yield};
        matches!(op, Alloc | Annotate | Create | Exit | Fence | Join | Start | Yield)
    };
    // What a strand does after its last access makes no difference to accesses, unless others wait for it: then they do something, too.
    let goes_on = |deed: &Deed| run.accesses.iter().skip(deed.at).any(|access| access.strand == deed.strand);
    run.deeds.iter().all(|deed| quiet(deed.op) || !goes_on(deed))
}

/// A run like the one that was made, in which an access of a strand is as far as can be from the strand's one before; with the accesses before which
/// the strand stands before it, and the access.
fn apart(run: &Recording, order: &Order, next: usize) -> Option<(Recording, Window)> {
    let (mut first, mut between, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..run.accesses.len() {
        match () {
            () if order.stands_after(number, next) => first.push(number),
            () if order.comes_before(next, number) => rest.push(number),
            () => between.push(number),
        }
    }
    let window = first.len()..first.len() + between.len() + 1;
    let sequence: Vec<usize> = first.into_iter().chain(between).chain(rest).collect();
    let next = sequence.iter().position(|&number| number == next)?;
    Some((run.in_order(&sequence)?, (window, next)))
}

/// What a place is before the access with a number.
fn value_at(run: &Recording, number: usize, &(_, addr, size, _): &Look) -> Option<u64> {
    let same = |access: &&Access| (access.addr, access.size) == (addr, size);
    let (before, after) = run.accesses.split_at(number);
    let left = before.iter().rev().find(same).map(|access| access.after);
    let found = after.iter().find(same).map(|access| access.before);
    match (left, found) {
        (Some(left), Some(found)) => left.filter(|left| *left == found),
        (Some(left), None) => left,
        (None, found) => found,
    }
}

/// A run with a round of looks put before the access with a number, of the strand that makes another access next.
fn with(run: &Recording, number: usize, next: usize, round: &Round) -> Recording {
    let next_access = run.accesses[next];
    let made = |&(pc, addr, size, value): &Look| Access {
        pc,
        addr,
        size,
        before: value,
        after: Some(value),
        ..next_access
    };
    let looks: Vec<Access> = round.looks.iter().map(made).collect();
    let mut more = run.clone();
    let begins: Vec<usize> =
        (0..run.accesses.len()).map(|at| if at < number { at } else { at + looks.len() }).collect();
    let mut accesses = run.accesses.clone();
    accesses[next].pc = round.next;
    accesses.splice(number..number, looks);
    more.replace(accesses, &begins);
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(strand: u16, addr: u64, op: OpKind, before: u64, after: u64) -> Access {
        Access {
            strand,
            size: 4,
            goes_on: false,
            op,
            activation: u32::from(strand),
            pc: addr + 1000,
            addr,
            block: None,
            frame: None,
            event: 0,
            before,
            after: Some(after),
            locals: (0, 0),
            beside: (0, 0),
        }
    }

    #[test]
    fn a_loop_looks_in_vain_where_its_strand_waits() {
        let (read, write) = (OpKind::AtomicLoad, OpKind::AtomicStore);
        let (a, b) = (|value| access(1, 16, read, value, value), |value| access(1, 32, read, value, value));
        let mut vain = Vain::default();
        let mut looks = Recording::new();
        looks.accesses = [a(0), b(7)].repeat(3);
        vain.learn(&looks);
        let mut run = Recording::new();
        let other = |addr, before, after| access(2, addr, write, before, after);
        run.accesses =
            vec![access(1, 48, write, 0, 1), other(32, 3, 7), other(32, 7, 8), other(16, 0, 1), a(1)];
        // Nothing shows yet that the loop waits.
        assert!(vain.put_into(&run).is_empty());
        looks.accesses = [a(0), b(7)].repeat(6);
        vain.learn(&looks);
        let more = vain.put_into(&run);
        assert_eq!(more.len(), 1);
        // After the first write, and before the one that makes `b` another.
        let made: Vec<(u16, u64, u64)> =
            more[0].accesses.iter().map(|it| (it.strand, it.addr, it.before)).collect();
        assert_eq!(made[..5], [(1, 48, 0), (2, 32, 3), (1, 16, 0), (1, 32, 7), (2, 32, 7)]);
        assert_eq!(more[0].accesses.len(), 7);
    }

    #[test]
    fn the_first_look_of_a_loop_may_be_an_instruction_of_its_own() {
        let read = OpKind::AtomicLoad;
        let at = |pc, value| Access { pc, ..access(1, 16, read, value, value) };
        let mut looks = Recording::new();
        looks.accesses = vec![access(1, 48, OpKind::AtomicStore, 0, 1), at(7, 0)];
        looks.accesses.extend([at(8, 0)].repeat(6));
        let mut vain = Vain::default();
        vain.learn(&looks);
        let mut run = Recording::new();
        let store = access(2, 16, OpKind::AtomicStore, 0, 1);
        run.accesses = vec![store, access(1, 48, OpKind::AtomicStore, 0, 1), at(7, 1)];
        // The strand could have come to its loop before the other's store.
        let more = vain.put_into(&run);
        let made: Vec<(u64, u64)> = more[0].accesses.iter().map(|it| (it.pc, it.before)).collect();
        assert_eq!(made, [(1048, 0), (7, 0), (1016, 0), (8, 1)]);
        // Also if the loop is all that it comes to.
        run.accesses.remove(1);
        let made: Vec<u64> = vain.put_into(&run)[0].accesses.iter().map(|it| it.pc).collect();
        assert_eq!(made, [7, 1016, 8]);
    }
}
