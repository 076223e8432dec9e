//! Writes that nobody else can see: the strand writes the same bytes again before it gives the lock back.
//!
//! Asked for addresses that stay what they are while the function runs (globals, arguments and fixed distances from them). From the
//! write on, every way must come to another write of the same bytes before the lock may be given back; calls into the program may do
//! that, so they end the search.

use crate::function::{Access, Call, Callee};
use crate::graph::{Graph, Leave};
use crate::hook::{Kind, Size};
use crate::known::{self, Known};
use crate::value::{Base, Pool, V};
use std::collections::BTreeMap;

type Noted = (Access, V, (usize, usize));

/// Marks the locks under which a write is hidden.
pub(crate) fn mark(accesses: &mut [Noted], graph: &Graph, pool: &Pool, calls: &[Call]) {
    let candidates: Vec<usize> = (0..accesses.len())
        .filter(|&at| {
            let (access, address, _) = &accesses[at];
            let fixed = matches!(pool.node(*address).base, Base::Global | Base::Import(_) | Base::Entry(_));
            access.kind.writes() && fixed && !access.locks.is_empty()
        })
        .collect();
    if candidates.len() < 2 {
        return;
    }
    // By place of the call: whether the lock may be given back there.
    let ends: BTreeMap<u64, bool> = calls.iter().map(|call| (call.place, may_end(call))).collect();
    let mut writes: BTreeMap<(usize, usize), Vec<(V, u64)>> = BTreeMap::new();
    for &at in &candidates {
        let (access, address, place) = &accesses[at];
        if let (Kind::Write | Kind::Update, Size::Bytes(bytes)) = (access.kind, access.size) {
            writes.entry(*place).or_default().push((*address, bytes));
        }
    }
    for at in candidates {
        let (access, address, place) = &accesses[at];
        let Size::Bytes(bytes) = access.size else { continue };
        if surely_again(graph, *place, *address, bytes, &writes, &ends) {
            for held in &mut accesses[at].0.locks {
                held.hidden = true;
            }
        }
    }
}

fn may_end(call: &Call) -> bool {
    match &call.callee {
        Callee::Import(name) => !matches!(known::named(name), Some(Known::Harmless | Known::Allocate)),
        _ => true,
    }
}

fn surely_again(
    graph: &Graph,
    from: (usize, usize),
    address: V,
    bytes: u64,
    writes: &BTreeMap<(usize, usize), Vec<(V, u64)>>,
    ends: &BTreeMap<u64, bool>,
) -> bool {
    let mut seen = vec![false; graph.blocks.len()];
    let mut open = vec![(from.0, from.1 + 1)];
    let mut met = false;
    while let Some((block, first)) = open.pop() {
        let code = &graph.blocks[block];
        let mut covered = false;
        for (at, instruction) in code.instructions.iter().enumerate().skip(first) {
            let again = writes
                .get(&(block, at))
                .is_some_and(|w| w.iter().any(|&(a, size)| a == address && size >= bytes));
            if again {
                (covered, met) = (true, true);
                break;
            }
            if ends.get(&instruction.next_ip()).copied().unwrap_or(false) {
                return false;
            }
        }
        if covered {
            continue;
        }
        if code.leave != Leave::Inside || code.side.is_some() || !code.landing.is_empty() {
            return false;
        }
        for &(next, _) in &code.next {
            if !std::mem::replace(&mut seen[next], true) {
                open.push((next, 0));
            }
        }
    }
    met
}
