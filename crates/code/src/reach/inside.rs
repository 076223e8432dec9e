//! What must be so for control to come to a place within a function.
//!
//! Every way from the entry to the place goes through the blocks that dominate it. From each of them to the next one it is asked which branches matter: by the ways
//! forward through the blocks in between, as alternatives of branches, with what does not matter left out.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{FlowControl, Mnemonic};

use super::{Branch, Need, Turn};
use crate::graph::{Block, Edge, Graph};

/// Why there is no full answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nothing leads there.
    NoWay,
    /// There are more ways than can be told; what must be so beside them.
    TooMany(Vec<Need>),
}

/// Ways from one block to another that are told at the most.
const WAYS: usize = 8;

/// A branch of a block: which of its edges will do.
type Literal = (usize, Turn, BTreeSet<usize>);
/// Alternatives, each of them all of its branches; none: there is no way.
type Formula = BTreeSet<Vec<Literal>>;

/// What must be so for control to come from the entry to a place; `reached` are places that runs came to.
pub(super) fn needs(graph: &Graph, place: u64, reached: &[u64]) -> Result<Vec<Need>, Trouble> {
    let entry = graph.entry.ok_or(Trouble::NoWay)?;
    let target = block_of(graph, place).ok_or(Trouble::NoWay)?;
    let order = Order::of(graph, entry);
    if order.rank[target] == usize::MAX {
        return Err(Trouble::NoWay);
    }
    let mut chain = vec![target];
    while let Some(&last) = chain.last().filter(|&&last| last != entry) {
        chain.push(order.dominator[last]);
    }
    chain.reverse();
    let evidence: BTreeSet<usize> = reached.iter().filter_map(|&place| block_of(graph, place)).collect();
    let mut teller = Teller { graph, entry, evidence, known: BTreeMap::new() };
    let mut needs = Vec::new();
    let mut whole = true;
    for pair in chain.windows(2) {
        let Some(formula) = between(graph, &order, pair[0], pair[1]) else {
            whole = false;
            continue;
        };
        if formula.is_empty() || formula.iter().any(Vec::is_empty) {
            continue;
        }
        let ways = formula.iter().map(|way| way.iter().map(|literal| teller.branch(literal)).collect());
        needs.push(Need { ways: ways.collect() });
    }
    // A conditional jump into another function is at the end of its block.
    let block = &graph.blocks[target];
    if block.side.is_some() && block.instructions.last().is_some_and(|last| last.ip() == place) {
        let branch = teller.branch(&(target, Turn::Leaves, BTreeSet::new()));
        needs.push(Need { ways: vec![vec![branch]] });
    }
    if whole { Ok(needs) } else { Err(Trouble::TooMany(needs)) }
}

/// The block of the instruction that ends at a place, or begins there: a jump at the function's end is known by its beginning.
fn block_of(graph: &Graph, place: u64) -> Option<usize> {
    let ends = |block: &Block| block.instructions.iter().any(|it| it.next_ip() == place);
    let begins = |block: &Block| block.instructions.iter().any(|it| it.ip() == place);
    graph.blocks.iter().position(ends).or_else(|| graph.blocks.iter().position(begins))
}

/// Where control goes from a block: the block and how, landing pads included.
fn edges(block: &Block) -> impl Iterator<Item = (usize, bool)> + '_ {
    let next = block.next.iter().filter(|(_, edge)| *edge != Edge::Tail).map(|(to, _)| (*to, false));
    next.chain(block.landing.iter().map(|(to, _)| (*to, true)))
}

/// The blocks in an order in which those that control comes to first come first, with their immediate dominators.
struct Order {
    /// By block; the largest number for those that nothing leads to.
    rank: Vec<usize>,
    dominator: Vec<usize>,
}

impl Order {
    /// After *A simple, fast dominance algorithm* by Cooper, Harvey and Kennedy.
    fn of(graph: &Graph, entry: usize) -> Order {
        let count = graph.blocks.len();
        let mut after = Vec::new();
        let mut known = vec![false; count];
        let mut stack = vec![(entry, false)];
        while let Some((at, done)) = stack.pop() {
            if done {
                after.push(at);
            } else if !std::mem::replace(&mut known[at], true) {
                stack.push((at, true));
                stack.extend(
                    edges(&graph.blocks[at]).filter(|(to, _)| !known[*to]).map(|(to, _)| (to, false)),
                );
            }
        }
        let mut rank = vec![usize::MAX; count];
        for (number, &at) in after.iter().rev().enumerate() {
            rank[at] = number;
        }
        let mut before = vec![Vec::new(); count];
        for &at in &after {
            for (to, _) in edges(&graph.blocks[at]) {
                before[to].push(at);
            }
        }
        let mut dominator = vec![usize::MAX; count];
        dominator[entry] = entry;
        loop {
            let mut changed = false;
            for &at in after.iter().rev().filter(|&&at| at != entry) {
                let mut found = usize::MAX;
                for &one in before[at].iter().filter(|&&one| dominator[one] != usize::MAX) {
                    if found == usize::MAX {
                        found = one;
                        continue;
                    }
                    let (mut a, mut b) = (found, one);
                    while a != b {
                        if rank[a] > rank[b] {
                            a = dominator[a];
                        } else {
                            b = dominator[b];
                        }
                    }
                    found = a;
                }
                if dominator[at] != found {
                    (dominator[at], changed) = (found, true);
                }
            }
            if !changed {
                return Order { rank, dominator };
            }
        }
    }
}

/// The ways from a block to the next one that dominates the place; `None` if there are too many.
fn between(graph: &Graph, order: &Order, from: usize, to: usize) -> Option<Formula> {
    // Forward edges only: going round a loop once more decides nothing. Later blocks first, so that what a block needs is there.
    let mut open = vec![from];
    let mut blocks = BTreeSet::new();
    while let Some(at) = open.pop() {
        if at != to && blocks.insert((order.rank[at], at)) {
            open.extend(forward(graph, order, at).map(|(next, _)| next));
        }
    }
    let mut formulas: BTreeMap<usize, Formula> = BTreeMap::from([(to, Formula::from([Vec::new()]))]);
    for &(_, at) in blocks.iter().rev() {
        let formula = of_block(graph, order, at, &formulas)?;
        formulas.insert(at, formula);
    }
    formulas.remove(&from)
}

fn forward<'a>(graph: &'a Graph, order: &'a Order, at: usize) -> impl Iterator<Item = (usize, bool)> + 'a {
    edges(&graph.blocks[at]).filter(move |(to, _)| order.rank[*to] > order.rank[at])
}

fn of_block(graph: &Graph, order: &Order, at: usize, formulas: &BTreeMap<usize, Formula>) -> Option<Formula> {
    let block = &graph.blocks[at];
    let of = |to: usize| match order.rank[to] > order.rank[at] {
        true => formulas.get(&to).cloned().unwrap_or_default(),
        false => Formula::new(),
    };
    let mut groups: Vec<(Formula, BTreeSet<usize>)> = Vec::new();
    for (to, _) in edges(block).filter(|(_, throws)| !throws) {
        let formula = of(to);
        match groups.iter_mut().find(|(other, _)| *other == formula) {
            Some((_, set)) => drop(set.insert(to)),
            None => groups.push((formula, BTreeSet::from([to]))),
        }
    }
    if block.side.is_some() {
        groups.push((Formula::new(), BTreeSet::new()));
    }
    let mut all = match &groups[..] {
        [] => Formula::new(),
        [(formula, _)] => formula.clone(),
        _ => {
            let mut all = Formula::new();
            // A way that needs nothing more makes it needless to tell that it was not gone.
            let sure = groups.iter().any(|(formula, _)| formula.iter().any(Vec::is_empty));
            let two = groups.len() == 2;
            for (formula, set) in groups {
                for way in formula {
                    let needless = two && sure && !way.is_empty();
                    let literal = (!needless).then(|| (at, Turn::Jump, set.clone()));
                    all.insert(literal.into_iter().chain(way).collect());
                }
            }
            all
        }
    };
    for (to, _) in edges(block).filter(|(_, throws)| *throws) {
        for way in of(to) {
            let literal = (at, Turn::Throws, BTreeSet::from([to]));
            all.insert(std::iter::once(literal).chain(way).collect());
        }
    }
    if all.iter().any(Vec::is_empty) {
        return Some(Formula::from([Vec::new()]));
    }
    (all.len() <= WAYS).then_some(all)
}

/// Who puts branches into addresses.
struct Teller<'a> {
    graph: &'a Graph,
    entry: usize,
    /// Blocks that runs came to.
    evidence: BTreeSet<usize>,
    known: BTreeMap<(usize, BTreeSet<usize>), bool>,
}

impl Teller<'_> {
    fn branch(&mut self, (at, kind, set): &Literal) -> Branch {
        let block = &self.graph.blocks[*at];
        let last = block.instructions.last();
        let jump = |it: &iced_x86::Instruction| {
            matches!(it.flow_control(), FlowControl::ConditionalBranch | FlowControl::IndirectBranch)
        };
        // The comparison has the line of the condition; the jump, of several conditions together, that of the statement.
        let compares = |it: &&iced_x86::Instruction| {
            matches!(it.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Ucomiss | Mnemonic::Ucomisd)
        };
        let compared = block.instructions.iter().rev().find(compares).filter(|_| last.is_some_and(jump));
        let at_jump = compared.or(last).map_or(block.start, |it| it.next_ip());
        let call = || {
            let pad = block.landing.iter().find(|(to, _)| set.contains(to));
            let call = pad.and_then(|(_, call)| block.instructions.get(*call));
            call.map_or(at_jump, |call| call.next_ip())
        };
        let others = block.next.iter().map(|(to, _)| *to).filter(|to| !set.contains(to));
        let others: BTreeSet<usize> = others.collect();
        let lead = |to: &usize| {
            let instructions = self.graph.blocks[*to].instructions.iter();
            instructions.map(|instruction| instruction.ip() + 1).collect::<Vec<u64>>()
        };
        Branch {
            at: if *kind == Turn::Throws { call() } else { at_jump },
            kind: *kind,
            to: set.iter().map(lead).collect(),
            not: others.iter().map(lead).collect(),
            taken: *kind != Turn::Leaves && self.is_taken(*at, set),
        }
    }

    /// Whether a run came to a block that control cannot come to without these edges.
    fn is_taken(&mut self, at: usize, set: &BTreeSet<usize>) -> bool {
        if let Some(&known) = self.known.get(&(at, set.clone())) {
            return known;
        }
        let mut seen = BTreeSet::from([self.entry]);
        let mut open = vec![self.entry];
        while let Some(block) = open.pop() {
            for (to, _) in edges(&self.graph.blocks[block]) {
                if !(block == at && set.contains(&to)) && seen.insert(to) {
                    open.push(to);
                }
            }
        }
        let taken = self.evidence.iter().any(|block| !seen.contains(block));
        self.known.insert((at, set.clone()), taken);
        taken
    }
}
