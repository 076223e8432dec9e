//! Whether two calls that ran against each other left what they leave one after the other.
//!
//! What the two wrote is compared, in runs in which strands came to them in the same way and nobody else went on meanwhile. Memory is compared by its words; addresses are
//! all alike, since which one an allocation gives depends on the order. Memory that one strand alone touches in the run, as what lies on its stack, is nobody else's business: it is left out. What calls return is not seen.

use super::trials::State;
use crate::futures::sections::lock_words;
use crate::planner::trace::Trace;
use std::collections::{BTreeMap, HashMap, HashSet};
use threadbare_pairs::Meeting;

/// What two calls left in memory: address and size, and value.
pub(super) type Left = BTreeMap<(u64, u32), u64>;

/// What was left in each way of coming to the calls.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    plain: HashMap<State, Vec<(u64, Left)>>,
    others: Vec<(State, u64, Left)>,
}

impl Outcomes {
    pub(super) fn add(&mut self, state: State, plain: Option<u64>, run: u64, left: Left) {
        match plain {
            Some(begins) => self.plain.entry(state).or_default().push((begins, left)),
            None if self.others.len() < 4096 => self.others.push((state, run, left)),
            None => {}
        }
    }

    /// The first run that left something that neither order leaves; none if there is none or it cannot be said; whether it can be said.
    pub(super) fn judge(&self) -> (Option<u64>, bool) {
        let mut known = false;
        for (state, run, left) in &self.others {
            let plain = self.plain.get(state).map(Vec::as_slice).unwrap_or_default();
            let both = (0..2).all(|begins| plain.iter().any(|(which, _)| *which == begins));
            if !both {
                continue;
            }
            known = true;
            // Other orders may take other ways; what is the same words has to be the same values as in one of the two.
            let same_words = plain.iter().all(|(_, other)| other.keys().eq(left.keys()));
            if same_words && !plain.iter().any(|(_, other)| other == left) {
                return (Some(*run), true);
            }
        }
        (None, known)
    }
}

/// Where addresses of programs lie.
const ADDRESSES: std::ops::Range<u64> = 1 << 32..1 << 47;

/// Bytes of what is asked about at once.
const WORD: u64 = 8;

/// The words that several strands touch.
fn shared_words(trace: &Trace) -> HashSet<u64> {
    let (mut owners, mut shared) = (HashMap::new(), HashSet::new());
    for event in &trace.events {
        let op = event.op;
        if !op.kind.is_plain_access() && !op.kind.is_atomic_access() {
            continue;
        }
        let end = op.addr.saturating_add(u64::from(op.size).clamp(1, 1 << 16));
        for word in op.addr / WORD..end.div_ceil(WORD) {
            if *owners.entry(word).or_insert(event.path) != event.path {
                shared.insert(word);
            }
        }
    }
    shared
}

/// What the two calls of a run left; `None` if they did not come to their ends by themselves. Whether one came after the other.
pub(super) fn left(trace: &Trace, meeting: &Meeting) -> Option<(Left, bool)> {
    let locks = lock_words(trace);
    let mut numbers: HashMap<(u64, u64), u64> = HashMap::new();
    let mut inside = [false; 2];
    let mut done = [false; 2];
    let mut left = Left::new();
    let mut order: Vec<usize> = Vec::new();
    let shared = shared_words(trace);
    for event in &trace.events {
        let number = numbers.entry((event.path, event.op.pc)).or_default();
        *number += 1;
        let Some(at) = meeting.spans.iter().position(|span| span.path == event.path) else { continue };
        let span = &meeting.spans[at];
        inside[at] |= span.first == (event.op.pc, *number);
        if !inside[at] || done[at] {
            continue;
        }
        if order.last() != Some(&at) {
            order.push(at);
        }
        let op = event.op;
        let accesses = op.kind.is_plain_access() || op.kind.is_atomic_access();
        let is_shared = shared.contains(&(op.addr / WORD));
        if accesses && op.kind.writes_memory() && op.size <= 8 && is_shared && !locks.contains(&op.addr) {
            let value =
                if op.size == 8 && ADDRESSES.contains(&event.after) { ADDRESSES.start } else { event.after };
            left.insert((op.addr, op.size), value);
        }
        done[at] |= span.last == (op.pc, *number);
    }
    (done == [true; 2]).then_some((left, order.len() == 2))
}
