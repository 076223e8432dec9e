//! Small programs for the strategies' tests: each strand a list of operations, with locks, spins and births.

use crate::conflict::{Effect, effect};
use crate::{Born, Pick, ROOM_WORDS, Room, RunInfo, Strategy, View};
use std::boxed::Box;
use std::collections::HashMap;
use std::vec;
use std::vec::Vec;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::{StrandId, StrandPath};

/// What a run with this seed and first parameter is told.
pub(crate) fn info(seed: u64, param: u64) -> RunInfo<'static> {
    let mut params = [0; 8];
    params[0] = param;
    RunInfo { seed, estimate_choices: 0, estimate_strands: 0, params, guide: &[] }
}

/// Memory for a strategy.
pub(crate) fn room() -> Room {
    let words = vec![0u64; ROOM_WORDS].into_boxed_slice();
    Box::leak(words).try_into().expect("it has as many words")
}

/// What a strategy notes in a run.
pub(crate) fn notes_of(machine: &Machine, strategy: &mut impl Strategy) -> Vec<u64> {
    machine.run(strategy, &info(1, 0));
    let mut notes = vec![0; 4096];
    let used = strategy.finish(&mut notes);
    notes.truncate(used);
    notes
}

/// A view in which every strand can always go on.
pub(crate) struct Fake {
    enabled: Vec<StrandId>,
    pub(crate) current: StrandId,
}

impl Fake {
    pub(crate) fn new(strands: u16) -> Self {
        Fake { enabled: (0..strands).map(StrandId).collect(), current: StrandId(0) }
    }
}

impl View for Fake {
    fn enabled(&self) -> &[StrandId] {
        &self.enabled
    }
    fn current(&self) -> StrandId {
        self.current
    }
    fn current_enabled(&self) -> bool {
        true
    }
    fn op(&self, strand: StrandId) -> Op {
        Op::new(OpKind::Yield, strand.0 as u64, 0)
    }
    fn any_yields(&self) -> bool {
        false
    }
    fn yields(&self, _strand: StrandId) -> bool {
        false
    }
    fn timed(&self) -> &[StrandId] {
        &[]
    }
    fn last_writer(&self, _addr: u64) -> u64 {
        0
    }
}

/// An operation that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) strand: u16,
    pub(crate) addr: u64,
    pub(crate) pc: u64,
    /// Whose value it found.
    pub(crate) from: u64,
}

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    strands: Vec<Vec<Op>>,
    /// A strand that repeats its last operation until the other has ended.
    spins: Option<(usize, usize)>,
    /// A strand that is created by another after so many steps.
    born: Option<(usize, usize, usize)>,
}

impl Machine {
    /// Strands that write these places, one after the other.
    pub(crate) fn new(strands: &[&[u64]]) -> Machine {
        let op = |&addr: &u64| Op { size: 1, ..Op::new(OpKind::AtomicStore, addr, addr) };
        Machine::of(strands.iter().map(|places| places.iter().map(op).collect()).collect())
    }

    /// Strands with these operations.
    pub(crate) fn of(strands: Vec<Vec<Op>>) -> Machine {
        Machine { strands, spins: None, born: None }
    }

    /// Makes these places locks: a strand's first write to one takes it, the next gives it back.
    pub(crate) fn locks(mut self, places: &[u64]) -> Machine {
        for strand in &mut self.strands {
            for &place in places {
                let mut held = false;
                for op in strand.iter_mut().filter(|op| op.addr == place) {
                    op.kind = if held { OpKind::MutexUnlock } else { OpKind::MutexLock };
                    held = !held;
                }
            }
        }
        self
    }

    /// `strand` repeats its last operation until `other` has ended.
    pub(crate) fn spins(mut self, strand: usize, other: usize) -> Machine {
        self.spins = Some((strand, other));
        self
    }

    /// `strand` is created by `parent` after so many steps of it.
    pub(crate) fn born_after(mut self, strand: usize, parent: usize, steps: usize) -> Machine {
        self.born = Some((strand, parent, steps));
        self
    }

    /// The most choices a run can have.
    pub(crate) fn choices_at_most(&self) -> u64 {
        self.strands.iter().map(Vec::len).sum::<usize>() as u64
    }

    /// Makes a run; it ends when all strands have ended or wait.
    pub(crate) fn run(&self, strategy: &mut impl Strategy, info: &RunInfo<'_>) -> Vec<Step> {
        let mut state = State {
            machine: self,
            at: vec![0; self.strands.len()],
            exists: vec![true; self.strands.len()],
            holders: HashMap::new(),
            writers: HashMap::new(),
            enabled: Vec::new(),
            current: StrandId(0),
        };
        if let Some((strand, ..)) = self.born {
            state.exists[strand] = false;
        }
        strategy.begin(info);
        for strand in 0..self.strands.len() {
            if state.exists[strand] {
                strategy.created(born(strand, None));
            }
        }
        let mut steps = Vec::new();
        loop {
            state.enable();
            let strand = match state.enabled[..] {
                [] => return steps,
                [only] => {
                    if strategy.wants_alone() {
                        strategy.alone(only, &state);
                    }
                    only
                }
                _ => match strategy.pick(&state) {
                    Pick::Run(strand) => strand,
                    Pick::Timeout(_) => panic!("nobody waits for a deadline"),
                },
            };
            assert!(state.enabled.contains(&strand), "the strategy chose a strand that cannot go on");
            steps.push(state.step(strand));
            assert!(steps.len() < 1_000_000, "the run does not end");
            if let Some((child, parent, after)) = self.born
                && !state.exists[child]
                && state.at[parent] == after
            {
                state.exists[child] = true;
                strategy.created(born(child, Some(parent)));
            }
        }
    }
}

fn born(strand: usize, parent: Option<usize>) -> Born {
    Born {
        strand: StrandId(strand as u16),
        parent: parent.map_or(StrandId::NONE, |parent| StrandId(parent as u16)),
        path: StrandPath::MAIN.child(strand as u32 + 1),
    }
}

struct State<'a> {
    machine: &'a Machine,
    at: Vec<usize>,
    exists: Vec<bool>,
    holders: HashMap<u64, usize>,
    writers: HashMap<u64, u64>,
    enabled: Vec<StrandId>,
    current: StrandId,
}

impl State<'_> {
    fn pending(&self, strand: usize) -> Option<Op> {
        self.machine.strands[strand].get(self.at[strand]).copied()
    }

    fn enable(&mut self) {
        let can = |strand: &usize| {
            self.exists[*strand]
                && self
                    .pending(*strand)
                    .is_some_and(|op| op.kind != OpKind::MutexLock || !self.holders.contains_key(&op.addr))
        };
        self.enabled = (0..self.at.len()).filter(can).map(|strand| StrandId(strand as u16)).collect();
    }

    fn step(&mut self, strand: StrandId) -> Step {
        let index = strand.index();
        let op = self.pending(index).expect("it was enabled");
        let from = self.last_writer(op.addr);
        match op.kind {
            OpKind::MutexLock => _ = self.holders.insert(op.addr, index),
            OpKind::MutexUnlock => _ = self.holders.remove(&op.addr),
            _ => {}
        }
        if effect(op.kind) == Effect::Write && op.kind != OpKind::MutexLock {
            self.writers.insert(op.addr, op.pc);
        }
        let last = self.at[index] + 1 == self.machine.strands[index].len();
        let waits = |(spinner, other): (usize, usize)| {
            spinner == index && self.at[other] < self.machine.strands[other].len()
        };
        if !(last && self.machine.spins.is_some_and(waits)) {
            self.at[index] += 1;
        }
        self.current = strand;
        Step { strand: strand.0, addr: op.addr, pc: op.pc, from }
    }
}

impl View for State<'_> {
    fn enabled(&self) -> &[StrandId] {
        &self.enabled
    }
    fn current(&self) -> StrandId {
        self.current
    }
    fn current_enabled(&self) -> bool {
        self.enabled.contains(&self.current)
    }
    fn op(&self, strand: StrandId) -> Op {
        self.pending(strand.index()).unwrap_or(Op::new(OpKind::Exit, 0, 0))
    }
    fn any_yields(&self) -> bool {
        false
    }
    fn yields(&self, _strand: StrandId) -> bool {
        false
    }
    fn timed(&self) -> &[StrandId] {
        &[]
    }
    fn last_writer(&self, addr: u64) -> u64 {
        self.writers.get(&addr).copied().unwrap_or(0)
    }
    /// Everybody writes its own name.
    fn value(&self, addr: u64, _size: u8) -> u64 {
        self.last_writer(addr)
    }
}
