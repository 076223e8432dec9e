//! Follows one function until nothing changes any more, then notes what it does.
//!
//! An optimistic analysis over the control flow graph: a block begins with what all ways into it agree on, and where they do not,
//! with a value of its own for that register or slot. Such a value stays, so the analysis ends: every block has finitely many.
//! It is made twice where the address of a local variable goes elsewhere: only then it is known which slots others can write to.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use iced_x86::{FlowControl, Instruction};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::Address;
use crate::calls::Target;
use crate::function::{Access, Call, Callee, Held as HeldLock};
use crate::gap::{Gap, What};
use crate::graph::{Edge, Graph, Leave};
use crate::hook::Size;
use crate::image::Image;
use crate::state::{Held, State, Taken};
use crate::summary::{Stored, Summary, Taken as TakenLock};
use crate::value::{Base, Location, V};
use crate::x86_64::{ARGUMENTS, RESULT, SECOND_RESULT, Stepper, condition};

/// How often a block may be visited before the function is given up.
const PATIENCE: usize = 60;
/// Words that a summary tells of.
const MOST_STORES: usize = 16;

/// What is known of the program while functions are followed.
pub(crate) struct Program<'a> {
    pub(crate) image: &'a Image,
    /// Of functions that were followed already.
    pub(crate) summaries: &'a [Option<Rc<Summary>>],
    /// Whether a function may give back a lock, over calls.
    pub(crate) may_give: &'a [bool],
    /// Whether a function that is called by pointer may.
    pub(crate) pointers_give: bool,
}

/// What was found of a function.
pub(crate) struct Found {
    pub(crate) accesses: Vec<Access>,
    pub(crate) calls: Vec<Call>,
    pub(crate) summary: Summary,
    pub(crate) instrumented: bool,
    pub(crate) exposes: Vec<u64>,
    pub(crate) exposes_frame: bool,
    pub(crate) leaks: [bool; 6],
}

/// The analysis of one function.
pub(crate) struct Follow<'a> {
    pub(crate) stepper: Stepper<'a>,
    pub(crate) summaries: &'a [Option<Rc<Summary>>],
    pub(crate) may_give: &'a [bool],
    pub(crate) pointers_give: bool,
    /// Parts of the own frame whose address is taken.
    pub(crate) found_taken: Taken,
    /// Attempts to take a lock, by place: they gave back 0 if they did.
    pub(crate) attempts: FxHashMap<u64, Held>,
    /// Words that a slow path of a lock was called with.
    pub(crate) contended: FxHashSet<V>,
    pub(crate) recording: bool,
    pub(crate) hooks: usize,
    pub(crate) gives_any: bool,
    pub(crate) writes_any: bool,
    pub(crate) creates: bool,
    gives: Vec<(V, bool)>,
    writes: BTreeSet<(u8, i64, i64)>,
    leaks: [bool; 6],
    accesses: Vec<(Access, V, (usize, usize))>,
    calls: Vec<Call>,
    /// For each block the states on its edges: taken, next, and at landing pads.
    out: Vec<Option<Out>>,
    sticky: Vec<FxHashSet<Location>>,
    /// Whether a block is in a loop.
    repeats: Vec<bool>,
    here: (usize, usize),
    gaps: Vec<Gap>,
    start: u64,
}

#[derive(Clone, PartialEq)]
struct Out {
    /// Where the block ends, if control gets there.
    end: Option<State>,
    /// Behind each call that has a landing pad.
    pads: Vec<(usize, State)>,
}

/// Follows the function with this graph.
pub(crate) fn follow(program: &Program<'_>, graph: &Graph, start: u64, gaps: &mut Vec<Gap>) -> Found {
    let mut follow = Follow::new(program, graph, start);
    let mut settled = follow.settle(graph);
    let escapes = |out: &Option<Out>| {
        out.as_ref().is_some_and(|out| out.end.as_ref().is_some_and(|state| !state.escaped.is_empty()))
    };
    if settled && follow.out.iter().any(escapes) && follow.hooks > 0 {
        let taken = std::mem::take(&mut follow.found_taken);
        follow = Follow::new(program, graph, start);
        follow.stepper.taken = Some(taken);
        settled = follow.settle(graph);
    }
    if !settled {
        gaps.push(Gap { function: start, at: start, what: What::Unsettled });
        return follow.in_the_dark(graph, program, start);
    }
    follow.record(graph, gaps)
}

impl<'a> Follow<'a> {
    fn new(program: &Program<'a>, graph: &Graph, start: u64) -> Follow<'a> {
        Follow {
            stepper: Stepper::new(program.image),
            summaries: program.summaries,
            may_give: program.may_give,
            pointers_give: program.pointers_give,
            found_taken: Vec::new(),
            attempts: FxHashMap::default(),
            contended: FxHashSet::default(),
            recording: false,
            hooks: 0,
            gives_any: false,
            writes_any: false,
            creates: false,
            gives: Vec::new(),
            writes: BTreeSet::new(),
            leaks: [false; 6],
            accesses: Vec::new(),
            calls: Vec::new(),
            out: vec![None; graph.blocks.len()],
            sticky: vec![FxHashSet::default(); graph.blocks.len()],
            repeats: Vec::new(),
            here: (0, 0),
            gaps: Vec::new(),
            start,
        }
    }

    /// Goes round until nothing changes; whether it came to an end.
    fn settle(&mut self, graph: &Graph) -> bool {
        let before = predecessors(graph);
        let order = order(graph);
        let mut rank = vec![usize::MAX; graph.blocks.len()];
        for (at, &block) in order.iter().enumerate() {
            rank[block] = at;
        }
        let mut open: BTreeSet<(usize, usize)> = order.iter().map(|&block| (rank[block], block)).collect();
        let mut visits = vec![0usize; graph.blocks.len()];
        while let Some((_, block)) = open.pop_first() {
            visits[block] += 1;
            if visits[block] > PATIENCE {
                return false;
            }
            let Some(state) = self.begin(graph, block, &before[block]) else { continue };
            let out = self.run(graph, block, state);
            if self.out[block].as_ref() != Some(&out) {
                self.out[block] = Some(out);
                let next = graph.blocks[block].next.iter().map(|(next, _)| *next);
                let landing = graph.blocks[block].landing.iter().map(|(next, _)| *next);
                open.extend(next.chain(landing).map(|next| (rank[next], next)));
            }
        }
        true
    }

    /// What is known where a block begins; `None` as long as nothing leads there.
    fn begin(&mut self, graph: &Graph, block: usize, before: &[(usize, Way)]) -> Option<State> {
        let mut ways: Vec<State> = Vec::new();
        if graph.entry == Some(block) {
            ways.push(State::entry(&mut self.stepper.pool));
        }
        if graph.orphans.contains(&block) {
            ways.push(State::dark(&mut self.stepper.pool));
        }
        for &(from, way) in before {
            let Some(out) = &self.out[from] else { continue };
            match way {
                Way::Edge(edge) => {
                    if let Some(end) = out.end.clone() {
                        ways.extend(self.on_edge(graph, from, edge, end));
                    }
                }
                Way::Landing => {
                    ways.extend(
                        out.pads.iter().filter(|(pad, _)| *pad == block).map(|(_, state)| state.clone()),
                    );
                }
            }
        }
        match ways.len() {
            0 => None,
            1 if self.sticky[block].is_empty() => ways.pop(),
            _ => {
                let ways: Vec<&State> = ways.iter().collect();
                let number = u32::try_from(block).unwrap_or(u32::MAX);
                Some(State::meet(&ways, number, &mut self.sticky[block], &mut self.stepper.pool))
            }
        }
    }

    /// What a conditional jump tells: an attempt that gave back 0 has taken its lock, and what is never true is never taken (`None`).
    fn on_edge(&self, graph: &Graph, from: usize, edge: Edge, mut state: State) -> Option<State> {
        let last = graph.blocks[from].instructions.last();
        let jump = last.filter(|last| last.is_jcc_short_or_near());
        if let (Some(compared), Some(equal)) = (state.compared, jump.and_then(condition)) {
            if let Some(number) = self.stepper.pool.as_number(compared.value)
                && (number == compared.with) != (equal == (edge == Edge::Taken))
            {
                return None;
            }
            let zero = compared.with == 0 && equal == (edge == Edge::Taken);
            let node = self.stepper.pool.node(compared.value);
            if let (true, Base::Result { at }, 0) = (zero, node.base, node.offset)
                && let Some(held) = self.attempts.get(&at)
            {
                state.take(*held);
            }
        }
        Some(state)
    }

    fn run(&mut self, graph: &Graph, block: usize, mut state: State) -> Out {
        let block_at = block;
        let block = &graph.blocks[block];
        let mut pads: Vec<(usize, State)> = Vec::new();
        let mut goes_on = true;
        for (at, instruction) in block.instructions.iter().enumerate() {
            self.here = (block_at, at);
            match instruction.flow_control() {
                FlowControl::Call | FlowControl::IndirectCall => {
                    let target = self.target(&state, instruction);
                    let returns =
                        self.call(&mut state, &target, instruction.ip(), instruction.next_ip(), false);
                    for &(pad, _) in block.landing.iter().filter(|(_, call)| *call == at) {
                        pads.push((pad, state.clone()));
                    }
                    if !returns {
                        goes_on = false;
                        break;
                    }
                }
                FlowControl::Next | FlowControl::Interrupt => {
                    if self.recording {
                        self.note_store(&state, instruction);
                    }
                    self.stepper.step(&mut state, instruction);
                    // A pointer with a mark in it may be stored anywhere.
                    for value in std::mem::take(&mut self.stepper.bent) {
                        self.keeps(value);
                    }
                }
                _ => {}
            }
        }
        if goes_on {
            self.leave(block, &mut state);
        }
        Out { end: goes_on.then_some(state), pads }
    }

    fn leave(&mut self, block: &crate::graph::Block, state: &mut State) {
        let at = block.instructions.last().map_or(block.start, |last| last.ip());
        if let Some(target) = block.side {
            let mut aside = state.clone();
            let target = self.target_at(target);
            self.call(&mut aside, &target, at, 0, true);
        }
        let target = match &block.leave {
            Leave::Tail(target) => self.target_at(*target),
            Leave::Import(name) => Target::Import(name.clone()),
            Leave::Unknown => {
                let last = block
                    .instructions
                    .last()
                    .filter(|last| last.flow_control() == FlowControl::IndirectBranch);
                match last {
                    Some(jump) => self.target(&state.clone(), jump),
                    None => return,
                }
            }
            _ => return,
        };
        let hook = matches!(&target, Target::Import(name) if name.starts_with("__tsan_") && &**name != "__tsan_func_exit");
        if hook && self.recording {
            self.gaps.push(Gap { function: self.start, at, what: What::HookInTail });
        }
        self.call(state, &target, at, 0, true);
    }

    /// A lock is given back that was not taken here.
    pub(crate) fn gave(&mut self, lock: V, word: bool) {
        if !self.gives.contains(&(lock, word)) {
            self.gives.push((lock, word));
        }
    }

    /// A callee writes here, which may be through an argument of this function.
    pub(crate) fn wrote_through(&mut self, address: V, size: i64) {
        let node = self.stepper.pool.node(address);
        match node.base {
            Base::Entry(register) => match argument_of(register) {
                Some(argument) => {
                    self.writes.insert((argument, node.offset, node.offset.saturating_add(size)));
                }
                None => self.writes_any = true,
            },
            Base::Stack | Base::Global | Base::Import(_) | Base::Thread | Base::Block { .. } => {}
            _ => self.writes_any = true,
        }
    }

    /// The locks that are held, seen from an access.
    pub(crate) fn held(&self, state: &State, access: Option<(V, Size)>) -> Vec<HeldLock> {
        let pool = &self.stepper.pool;
        let mut locks = Vec::new();
        for held in &state.locks {
            // An exchange of a word is one of a lock only if the lock's slow path is in sight.
            if held.word && !self.contended.contains(&held.lock) && self.attempts.contains_key(&held.since) {
                continue;
            }
            let distance = access.and_then(|(address, _)| {
                let (lock, accessed) = (pool.node(held.lock), pool.node(address));
                let exact = lock.base == accessed.base
                    && !matches!(lock.base, Base::Unknown(_) | Base::Scaled { .. });
                exact.then(|| lock.offset.wrapping_sub(accessed.offset))
            });
            let own = access.is_some_and(|(address, size)| {
                state.written.iter().any(|written| {
                    written.address == address
                        && matches!(size, Size::Bytes(bytes) if u64::from(written.size) >= bytes)
                        && written.under.contains(&held.lock)
                })
            });
            let lock = pool.address(held.lock, self.stepper.image);
            locks.push(HeldLock {
                lock,
                shared: held.shared,
                since: held.since,
                distance,
                own,
                hidden: false,
            });
        }
        locks
    }

    pub(crate) fn record_access(&mut self, access: Access, address: V, tail: bool) {
        if !tail {
            self.accesses.push((access, address, self.here));
        }
    }

    pub(crate) fn record_call(
        &mut self,
        callee: Callee,
        arguments: Vec<Address>,
        locks: Vec<HeldLock>,
        created: bool,
        place: u64,
        tail: bool,
    ) {
        if matches!(callee, Callee::Pointer(_)) {
            self.gaps.push(Gap { function: self.start, at: place, what: What::IndirectCall });
        }
        let repeats = self.repeats.get(self.here.0).copied().unwrap_or(true);
        self.calls.push(Call { place, callee, arguments, locks, created, tail, repeats });
    }

    /// Once more over every block, noting what it does, and the summary.
    fn record(mut self, graph: &Graph, gaps: &mut Vec<Gap>) -> Found {
        self.recording = true;
        self.gives.clear();
        self.gives_any = false;
        self.writes_any = false;
        self.hooks = 0;
        self.repeats = loops(graph);
        let before = predecessors(graph);
        let mut ends: Vec<State> = Vec::new();
        for (block, ways) in before.iter().enumerate() {
            let Some(state) = self.begin(graph, block, ways) else { continue };
            let out = self.run(graph, block, state);
            let leaves = !matches!(graph.blocks[block].leave, Leave::Inside | Leave::Never);
            if leaves && let Some(end) = out.end {
                ends.push(end);
            }
        }
        let summary = self.summary(&ends);
        for end in &ends {
            self.stepper.expose(end.registers[RESULT]);
        }
        let exposes_frame =
            self.out.iter().flatten().any(|out| out.end.as_ref().is_some_and(|end| !end.escaped.is_empty()));
        let mut exposes: Vec<u64> = self.stepper.stored.iter().copied().collect();
        exposes.sort_unstable();
        crate::hidden::mark(&mut self.accesses, graph, &self.stepper.pool, &self.calls);
        // The runtime asks who calls `memcpy`: only in instrumented code it is an access.
        if self.hooks == 0 {
            self.accesses.clear();
        }
        let mut accesses: Vec<Access> = self.accesses.into_iter().map(|(access, ..)| access).collect();
        accesses.sort_by_key(|access| access.place);
        self.calls.sort_by_key(|call| call.place);
        gaps.append(&mut self.gaps);
        let leaks = summary.leaks;
        let instrumented = self.hooks > 0;
        Found { accesses, calls: self.calls, summary, instrumented, exposes, exposes_frame, leaks }
    }

    /// What a raw store does to the caller's memory: the hooks do not tell of every store.
    fn note_store(&mut self, state: &State, instruction: &Instruction) {
        if let Some(size) = self.stepper.written_bytes(instruction) {
            let address = self.stepper.address(state, instruction);
            self.wrote_through(address, size);
            if let Some(value) = self.stepper.stored_value(state, instruction) {
                self.leaked(address, value);
            }
        }
    }

    /// An argument that is stored somewhere may be known to others later.
    pub(crate) fn leaked(&mut self, address: V, value: V) {
        if matches!(self.stepper.pool.node(address).base, Base::Stack) {
            return;
        }
        self.keeps(value);
    }

    /// The arguments that a value may come from may be known to others later.
    pub(crate) fn keeps(&mut self, value: V) {
        // What comes together is known only when everything is settled.
        if !self.recording {
            return;
        }
        for leaf in self.stepper.pool.leaves(value) {
            if let Base::Entry(register) = leaf.base
                && let Some(argument) = argument_of(register)
            {
                self.leaks[usize::from(argument)] = true;
            }
        }
    }

    fn summary(&mut self, ends: &[State]) -> Summary {
        let image = self.stepper.image;
        let pool = &self.stepper.pool;
        // Arguments that are handed on may be kept by whoever gets them.
        for call in &self.calls {
            for (number, address) in call.arguments.iter().enumerate() {
                let leaks = match &call.callee {
                    Callee::Function(callee) => {
                        self.summaries[*callee].as_ref().is_none_or(|known| known.leaks[number])
                    }
                    Callee::Import(name) => crate::known::named(name).is_none_or(|known| {
                        !matches!(
                            known,
                            crate::known::Known::Harmless
                                | crate::known::Known::Lock { .. }
                                | crate::known::Known::Unlock { .. }
                                | crate::known::Known::TryLock { .. }
                                | crate::known::Known::Wait { .. }
                                | crate::known::Known::Join { .. }
                                | crate::known::Known::Allocate
                                | crate::known::Known::Never
                        )
                    }),
                    Callee::Pointer(_) => true,
                };
                for way in address.ways() {
                    if let (true, crate::address::Root::Argument(argument)) = (leaks, &way.root) {
                        self.leaks[usize::from(*argument)] = true;
                    }
                }
            }
        }
        let common = |of: &dyn Fn(&State) -> V| {
            let first = of(ends.first()?);
            ends.iter().all(|end| of(end) == first).then_some(first)
        };
        let result = common(&|end: &State| end.registers[RESULT]).map(|value| pool.address(value, image));
        let second =
            common(&|end: &State| end.registers[SECOND_RESULT]).map(|value| pool.address(value, image));
        let mut stores = Vec::new();
        let mut takes = Vec::new();
        if let Some(first) = ends.first() {
            for slot in first.slots.iter().filter(|slot| slot.region != 0).take(MOST_STORES) {
                let same = |end: &State| end.slot(slot.region, slot.offset, slot.size) == Some(slot.value);
                if ends.iter().all(same) {
                    let value = pool.address(slot.value, image);
                    stores.push(Stored {
                        argument: slot.region - 1,
                        offset: slot.offset,
                        size: slot.size,
                        value,
                    });
                }
            }
            for held in &first.locks {
                let word = held.word
                    && !self.contended.contains(&held.lock)
                    && self.attempts.contains_key(&held.since);
                if !word && ends.iter().all(|end| end.locks.iter().any(|other| other.lock == held.lock)) {
                    let shared =
                        ends.iter().any(|end| end.locks.iter().any(|o| o.lock == held.lock && o.shared));
                    takes.push(TakenLock { lock: pool.address(held.lock, image), shared, word: held.word });
                }
            }
        }
        let gives = self.gives.iter().map(|(lock, word)| (pool.address(*lock, image), *word)).collect();
        Summary {
            result: result.filter(Address::is_portable),
            second: second.filter(Address::is_portable),
            stores,
            writes: (!self.writes_any).then(|| self.writes.iter().copied().collect()),
            leaks: self.leaks,
            takes,
            gives: (!self.gives_any).then_some(gives),
            creates: self.creates,
            returns: !ends.is_empty(),
        }
    }

    /// Every hook of a function that did not settle, with nothing known.
    fn in_the_dark(mut self, graph: &Graph, program: &Program<'a>, start: u64) -> Found {
        let mut fresh = Follow::new(program, graph, start);
        fresh.recording = true;
        for block in 0..graph.blocks.len() {
            let state = State::dark(&mut fresh.stepper.pool);
            fresh.run(graph, block, state);
        }
        self.accesses = std::mem::take(&mut fresh.accesses);
        let mut accesses: Vec<Access> = self.accesses.into_iter().map(|(access, ..)| access).collect();
        if fresh.hooks == 0 {
            accesses.clear();
        }
        for access in &mut accesses {
            access.locks.clear();
        }
        accesses.sort_by_key(|access| access.place);
        fresh.calls.sort_by_key(|call| call.place);
        let mut exposes: Vec<u64> = fresh.stepper.stored.iter().copied().collect();
        exposes.sort_unstable();
        Found {
            accesses,
            calls: fresh.calls,
            summary: Summary::dark(true),
            instrumented: fresh.hooks > 0,
            exposes,
            exposes_frame: true,
            leaks: [true; 6],
        }
    }
}

#[derive(Clone, Copy)]
enum Way {
    Edge(Edge),
    Landing,
}

fn argument_of(register: u8) -> Option<u8> {
    let argument = ARGUMENTS.iter().position(|&known| known == usize::from(register))?;
    u8::try_from(argument).ok()
}

fn predecessors(graph: &Graph) -> Vec<Vec<(usize, Way)>> {
    let mut before = vec![Vec::new(); graph.blocks.len()];
    for (at, block) in graph.blocks.iter().enumerate() {
        for &(next, edge) in &block.next {
            before[next].push((at, Way::Edge(edge)));
        }
        let pads: BTreeSet<usize> = block.landing.iter().map(|(pad, _)| *pad).collect();
        for pad in pads {
            before[pad].push((at, Way::Landing));
        }
    }
    before
}

/// Which blocks control may come to again.
fn loops(graph: &Graph) -> Vec<bool> {
    let edges: Vec<Vec<usize>> =
        (0..graph.blocks.len()).map(|block| successors(graph, block).into()).collect();
    let mut found = vec![false; edges.len()];
    for members in crate::order::components(&edges) {
        let itself = edges[members[0]].contains(&members[0]);
        for &member in &members {
            found[member] = members.len() > 1 || itself;
        }
    }
    found
}

/// Blocks in an order in which most come after their predecessors.
fn order(graph: &Graph) -> Vec<usize> {
    let mut seen = vec![false; graph.blocks.len()];
    let mut post = Vec::new();
    let roots = graph.entry.into_iter().chain(graph.orphans.iter().copied());
    for root in roots {
        let mut stack: Vec<(usize, VecDeque<usize>)> = Vec::new();
        if !std::mem::replace(&mut seen[root], true) {
            stack.push((root, successors(graph, root)));
        }
        while let Some((block, next)) = stack.last_mut() {
            match next.pop_front() {
                Some(to) => {
                    if !std::mem::replace(&mut seen[to], true) {
                        stack.push((to, successors(graph, to)));
                    }
                }
                None => {
                    post.push(*block);
                    stack.pop();
                }
            }
        }
    }
    post.reverse();
    post
}

fn successors(graph: &Graph, block: usize) -> VecDeque<usize> {
    let block = &graph.blocks[block];
    block.next.iter().map(|(next, _)| *next).chain(block.landing.iter().map(|(pad, _)| *pad)).collect()
}
