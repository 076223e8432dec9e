//! The brute force: every order of a program's steps, in a model that shares no code with the engine or its planners.
//!
//! Two orders are of one class if they differ only in the order of steps that do not concern each other. What is counted are classes,
//! so it is enough to walk over the *beginnings* of classes: a state is known by the class of the steps that led to it, and none is
//! looked at twice. Each step has a hash of what it did and of the steps that it directly depends on; the sum of all hashes names the class.
//!
//! What depends on what:
//! - Accesses of one variable, if one writes. An exchange that fails is a read, and so is one that changes nothing.
//! - Operations of one mutex, condition, semaphore or barrier are ordered; a try that fails is a read. A lock that has to be waited for is
//!   one step: when it is taken. A condition's wait is two: it gives the mutex back and sleeps, and takes it again.
//! - Readers of a lock do not concern each other; a try to write that fails because of readers is ordered against them.
//! - The end of a strand comes before its join. It is a step of its own only where somebody tries to join.
//! - The end of the process comes after every step that was made; steps that were not made because of it make another class. `exit`,
//!   `quick_exit` and the return from main ask for it first, which is a step on the process; then handlers run, and others go on. A second
//!   strand that asks by `exit` waits for ever.
//! - Which waiter a signal wakes is part of the class.
//! - A loop that waits without a bound is one step, made when it finds what it waits for: looking in vain for longer is nothing new. A loop
//!   with a bound may run out, so each of its looks is a step.
//!
//! Steps that only their own strand can see (branches, allocation) are none: they belong to the step before them.

use super::code::{Instruction, Op, compile};
use super::company::{Company, Made, bit};
use super::program::{FAILED, MEMORY, Program, RECORD, Record, SLOTS, STRIDE, VARIABLES, Value};
use std::collections::HashSet;

/// What a program can do.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Classes of runs.
    pub classes: usize,
    /// What can be known at the end of a run.
    pub outcomes: HashSet<Record>,
    /// What can be known where some strands wait for each other for ever and others could go on: a run may end there, and need not.
    pub cut_short: HashSet<Record>,
    /// Some run ends with strands that wait for ever.
    pub stuck: bool,
    /// What a strand can know where it fails: its number, and its bytes of the record.
    pub failures: HashSet<(usize, [u8; STRIDE])>,
    /// Some run uses a mutex that was destroyed, and ends there: what is known then is among those cut short.
    pub misused: bool,
    /// Every plain access that is made has company; see `company.rs`.
    pub companied: bool,
    /// Beginnings of classes that were looked at.
    pub prefixes: usize,
    /// What reads can see while there is more than one strand.
    pub pairs: HashSet<Pair>,
}

/// An access: the strand, and the how-manieth of its statements that touch a variable, from 0.
pub type Touch = (usize, usize);
/// What a read sees: a write, or what was there when the second strand was made.
pub type Pair = (Touch, Option<Touch>);

/// The account of a program; `None` if it has more than so many beginnings.
pub fn account(program: &Program, most: usize) -> Option<Account> {
    account_of(program, &compile(program, false), most)
}

/// What strands can know where they fail if others may go on between the last step and the failure. A lock of Rust's std is given back in two
/// steps, so there it is seen.
pub fn late_failures(program: &Program, most: usize) -> Option<HashSet<(usize, [u8; STRIDE])>> {
    Some(account_of(program, &compile(program, true), most)?.failures)
}

fn account_of(program: &Program, code: &[Vec<Instruction>], most: usize) -> Option<Account> {
    let mut first = State::new(program);
    first.settle(0, code);
    let mut account = Account::default();
    let mut company = Company::new(program, code);
    let mut known = HashSet::from([first.class]);
    let mut ends = HashSet::new();
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        if known.len() > most {
            return None;
        }
        if let Some(strand) = state.failed {
            company.note(|strand| state.strands[strand].made);
            account.failures.insert((strand, state.own(strand)));
            // How far the others have come makes no difference.
            account.cut_short.insert(state.record);
            continue;
        }
        if state.misuses(code) {
            account.misused = true;
            account.cut_short.insert(state.record);
            if state.over {
                continue;
            }
            open.extend(state.successors(code).into_iter().filter(|next| known.insert(next.class)));
            continue;
        }
        if state.over {
            company.note(|strand| state.strands[strand].made);
            if ends.insert(state.told) {
                account.outcomes.insert(state.record);
            }
            continue;
        }
        let next = state.successors(code);
        account.pairs.extend(next.iter().filter_map(|next| next.saw));
        if next.is_empty() {
            account.stuck |=
                state.strands.iter().any(|strand| strand.life != Life::Ended && strand.life != Life::Unborn);
            company.note(|strand| state.strands[strand].made);
            ends.insert(state.told);
            account.outcomes.insert(state.record);
        } else if state.has_cycle(code) {
            account.stuck = true;
            account.cut_short.insert(state.record);
        }
        open.extend(next.into_iter().filter(|next| known.insert(next.class)));
    }
    account.classes = ends.len();
    account.companied = company.is_complete();
    account.prefixes = known.len();
    Some(account)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Unborn,
    Runs,
    /// Sleeps on a condition.
    Asleep(u8),
    /// Waits at a barrier.
    Stopped(u8),
    /// Waits for the process's end.
    Waits,
    Ended,
}

#[derive(Clone, Debug)]
struct Strand {
    life: Life,
    pc: usize,
    scratch: u8,
    slots: [u8; SLOTS],
    steps: u64,
    last: u64,
    /// The accesses that it made beside other strands.
    made: Made,
}

/// The steps that a step on an object may depend on.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    write: u64,
    /// The sum of the reads since.
    reads: u64,
    /// The sum of the failed tries since.
    tries: u64,
}

/// How a step concerns an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Read,
    Write,
    /// A try that failed because of readers: reads, but not together with them.
    Tries,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Object {
    Variable(u8),
    Mutex(u8),
    Condition(u8),
    Semaphore(u8),
    RwLock(u8),
    Barrier(u8),
    Strand(u8),
    Process,
}

const KIND: usize = 16;

impl Object {
    fn index(self) -> usize {
        match self {
            Object::Variable(at) => at as usize,
            Object::Mutex(at) => KIND + at as usize,
            Object::Condition(at) => 2 * KIND + at as usize,
            Object::Semaphore(at) => 3 * KIND + at as usize,
            Object::RwLock(at) => 4 * KIND + at as usize,
            Object::Barrier(at) => 5 * KIND + at as usize,
            Object::Strand(at) => 6 * KIND + at as usize,
            Object::Process => 7 * KIND - 1,
        }
    }
}

#[derive(Clone, Debug)]
struct State {
    strands: Vec<Strand>,
    memory: [u8; VARIABLES],
    /// Who wrote last since the second strand was made.
    last_writes: [Option<Touch>; VARIABLES],
    /// What the last step saw.
    saw: Option<Pair>,
    holders: Vec<Option<u8>>,
    destroyed: Vec<bool>,
    semaphores: Vec<u8>,
    writers: Vec<Option<u8>>,
    readers: Vec<Vec<u8>>,
    barriers: Vec<u8>,
    pasts: [Past; 7 * KIND],
    record: Record,
    class: u64,
    /// The same without the ends of strands: those who look for one see it, and the end of the process does not.
    told: u64,
    /// A strand is inside `exit`.
    asked: bool,
    over: bool,
    /// Who has failed: it is over by that.
    failed: Option<usize>,
}

fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// What a step concerns and what follows from it.
struct Step<'a> {
    state: &'a mut State,
    me: usize,
    hash: u64,
    concerns: Vec<(Object, Mode)>,
    quiet: bool,
}

impl Step<'_> {
    fn on(&mut self, object: Object, mode: Mode) {
        let past = self.state.pasts[object.index()];
        let sum = match mode {
            Mode::Read => mix(past.write ^ mix(past.tries)),
            Mode::Tries => mix(past.write ^ mix(past.reads ^ 1)),
            Mode::Write => mix(past.write ^ mix(past.reads ^ mix(past.tries) ^ 2)),
        };
        self.hash = mix(self.hash ^ mix(sum ^ object.index() as u64 ^ (mode as u64) << 32));
        self.concerns.push((object, mode));
    }

    fn also(&mut self, what: u64) {
        self.hash = mix(self.hash ^ mix(what));
    }

    fn finish(self) {
        for (object, mode) in self.concerns {
            let past = &mut self.state.pasts[object.index()];
            match mode {
                Mode::Read => past.reads = past.reads.wrapping_add(self.hash),
                Mode::Tries => past.tries = past.tries.wrapping_add(self.hash),
                Mode::Write => *past = Past { write: self.hash, ..Past::default() },
            }
        }
        let strand = &mut self.state.strands[self.me];
        strand.last = self.hash;
        strand.steps += 1;
        self.state.class = self.state.class.wrapping_add(self.hash);
        if !self.quiet {
            self.state.told = self.state.told.wrapping_add(self.hash);
        }
    }
}

impl State {
    fn new(program: &Program) -> State {
        let strand =
            Strand { life: Life::Unborn, pc: 0, scratch: 0, slots: [0; SLOTS], steps: 0, last: 0, made: 0 };
        let mut strands = vec![strand; program.strands.len()];
        strands[0].life = Life::Runs;
        State {
            strands,
            memory: [0; VARIABLES],
            last_writes: [None; VARIABLES],
            saw: None,
            holders: vec![None; program.mutexes as usize],
            destroyed: vec![false; program.mutexes as usize],
            semaphores: program.semaphores.clone(),
            writers: vec![None; program.rwlocks as usize],
            readers: vec![Vec::new(); program.rwlocks as usize],
            barriers: program.barriers.clone(),
            pasts: [Past::default(); 7 * KIND],
            record: [0; RECORD],
            class: 0,
            told: 0,
            asked: false,
            over: false,
            failed: None,
        }
    }

    /// A strand's bytes of the record.
    fn own(&self, strand: usize) -> [u8; STRIDE] {
        let mut own = [0; STRIDE];
        own.copy_from_slice(&self.record[strand * STRIDE..][..STRIDE]);
        own
    }

    /// Runs what belongs to the step before the strand's next operation.
    fn settle(&mut self, me: usize, code: &[Vec<Instruction>]) {
        let strand = &mut self.strands[me];
        loop {
            match code[me][strand.pc] {
                Instruction::Op(_) => return,
                Instruction::Mark(mark) => {
                    self.record[me * STRIDE] = mark;
                    strand.pc += 1;
                }
                Instruction::Jump(to) => strand.pc = to,
                Instruction::Unless(slot, value, to) => {
                    strand.pc = if strand.slots[slot as usize] == value { strand.pc + 1 } else { to };
                }
                Instruction::Empty(to) => strand.pc = if strand.scratch == 0 { to } else { strand.pc + 1 },
                Instruction::Over => {
                    strand.life = Life::Ended;
                    return;
                }
                Instruction::Fail => {
                    self.record[me * STRIDE + FAILED] = 1;
                    (self.failed, self.over) = (Some(me), true);
                    return;
                }
            }
        }
    }

    fn op(&self, me: usize, code: &[Vec<Instruction>]) -> Option<Op> {
        match code[me].get(self.strands[me].pc) {
            Some(Instruction::Op(op)) if self.strands[me].life == Life::Runs => Some(*op),
            _ => None,
        }
    }

    /// Whether a strand stands before the use of a mutex that was destroyed.
    fn misuses(&self, code: &[Vec<Instruction>]) -> bool {
        (0..self.strands.len()).any(|me| self.op(me, code).is_some_and(|op| self.is_misuse(op)))
    }

    fn is_misuse(&self, op: Op) -> bool {
        matches!(op, Op::TryLock(mutex, _) | Op::Destroy(mutex, _) if self.destroyed[mutex as usize])
    }

    fn sleepers(&self, condition: u8) -> Vec<usize> {
        let sleeps = |&at: &usize| self.strands[at].life == Life::Asleep(condition);
        (0..self.strands.len()).filter(sleeps).collect()
    }

    /// In how many ways the strand can go on.
    fn ways(&self, me: usize, op: Op) -> usize {
        let free = |mutex: u8| self.holders[mutex as usize].is_none();
        let can = match op {
            Op::Lock(mutex) => free(mutex),
            Op::Down(semaphore) => self.semaphores[semaphore as usize] > 0,
            Op::ReadLock(lock) => self.writers[lock as usize].is_none(),
            Op::WriteLock(lock) => {
                self.writers[lock as usize].is_none() && self.readers[lock as usize].is_empty()
            }
            Op::Until(variable, value) => self.memory[variable as usize] == value,
            Op::While(variable, value) => self.memory[variable as usize] != value,
            Op::Grab(variable) => self.memory[variable as usize] == 0,
            Op::Join(strand) => self.strands[strand as usize].life == Life::Ended,
            Op::Signal(condition) => return self.sleepers(condition).len().max(1),
            _ => true,
        };
        debug_assert!(self.strands[me].life == Life::Runs);
        usize::from(can)
    }

    fn successors(&self, code: &[Vec<Instruction>]) -> Vec<State> {
        let mut list = Vec::new();
        for me in 0..self.strands.len() {
            let Some(op) = self.op(me, code).filter(|op| !self.is_misuse(*op)) else { continue };
            for way in 0..self.ways(me, op) {
                let mut next = self.clone();
                next.step(me, op, way, code);
                list.push(next);
            }
        }
        list
    }

    fn keep(&mut self, me: usize, slot: u8, value: u8) {
        self.strands[me].slots[slot as usize] = value;
        self.record[me * STRIDE + 1 + slot as usize] = value.wrapping_add(1);
    }

    fn put(&mut self, variable: u8, value: u8) {
        self.memory[variable as usize] = value;
        self.record[MEMORY + variable as usize] = value;
    }

    /// Notes what an access sees, and that it writes.
    fn note(&mut self, me: usize, op: Op, code: &[Vec<Instruction>]) {
        let (variable, reads, writes) = match op {
            Op::Get(variable, _) | Op::Peek(variable) => (variable, true, false),
            Op::Put(variable, _) | Op::PutMore(variable, _) => (variable, false, true),
            Op::FetchAdd(variable, ..) | Op::Exchange(variable, ..) => (variable, true, true),
            Op::Compare(variable, old, ..) => (variable, true, self.memory[variable as usize] == old),
            _ => return,
        };
        // The second half of an addition belongs to its first.
        let begins = |it: &&Instruction| {
            use Op::{Compare, Exchange, FetchAdd, Get, Peek, Put};
            let Instruction::Op(op) = it else { return false };
            matches!(op, Get(..) | Peek(_) | Put(..) | FetchAdd(..) | Exchange(..) | Compare(..))
        };
        let touch = (me, code[me][..=self.strands[me].pc].iter().filter(begins).count() - 1);
        if reads {
            self.saw = Some((touch, self.last_writes[variable as usize]));
        }
        if writes {
            self.last_writes[variable as usize] = Some(touch);
        }
    }

    fn step(&mut self, me: usize, op: Op, way: usize, code: &[Vec<Instruction>]) {
        use Mode::{Read, Tries, Write};
        let born = self.strands.iter().filter(|strand| strand.life != Life::Unborn).count();
        self.saw = None;
        if born > 1 {
            self.note(me, op, code);
        }
        let strand = &mut self.strands[me];
        if born > 1 {
            strand.made |= bit(strand.pc);
        }
        strand.pc += 1;
        let hash = mix(strand.last ^ mix(me as u64) ^ strand.steps.rotate_left(32));
        let mut step = Step { state: self, me, hash, concerns: Vec::new(), quiet: false };
        let mut wakes = Vec::new();
        match op {
            Op::Get(variable, slot) => {
                step.on(Object::Variable(variable), Read);
                let value = step.state.memory[variable as usize];
                step.state.keep(me, slot, value);
            }
            Op::Peek(variable) => {
                step.on(Object::Variable(variable), Read);
                step.state.strands[me].scratch = step.state.memory[variable as usize];
            }
            Op::Look(variable, value, slot) => {
                step.on(Object::Variable(variable), Read);
                let found = step.state.memory[variable as usize] == value;
                step.state.keep(me, slot, found.into());
            }
            Op::Put(variable, value) => {
                step.on(Object::Variable(variable), Write);
                let value = match value {
                    Value::Constant(value) => value,
                    Value::Slot(slot, more) => step.state.strands[me].slots[slot as usize].wrapping_add(more),
                };
                step.state.put(variable, value);
            }
            Op::PutMore(variable, by) => {
                step.on(Object::Variable(variable), Write);
                let value = step.state.strands[me].scratch.wrapping_add(by);
                step.state.put(variable, value);
            }
            Op::FetchAdd(variable, by, slot) => {
                let found = step.state.memory[variable as usize];
                step.on(Object::Variable(variable), if by == 0 { Read } else { Write });
                step.state.keep(me, slot, found);
                step.state.put(variable, found.wrapping_add(by));
            }
            Op::Exchange(variable, new, slot) => {
                let found = step.state.memory[variable as usize];
                step.on(Object::Variable(variable), if found == new { Read } else { Write });
                step.state.keep(me, slot, found);
                step.state.put(variable, new);
            }
            Op::Compare(variable, old, new, slot) => {
                let found = step.state.memory[variable as usize];
                let mode = if found == old && old != new { Write } else { Read };
                step.on(Object::Variable(variable), mode);
                step.state.keep(me, slot, (found == old).into());
                if found == old {
                    step.state.put(variable, new);
                }
            }
            Op::Lock(mutex) => {
                step.on(Object::Mutex(mutex), Write);
                step.state.holders[mutex as usize] = Some(me as u8);
            }
            Op::Unlock(mutex) => {
                step.on(Object::Mutex(mutex), Write);
                step.state.holders[mutex as usize] = None;
            }
            Op::TryLock(mutex, slot) => {
                let at = mutex as usize;
                let can = step.state.holders[at].is_none();
                step.on(Object::Mutex(mutex), if can { Write } else { Read });
                if can {
                    step.state.holders[at] = Some(me as u8);
                }
                step.state.keep(me, slot, can.into());
            }
            Op::Destroy(mutex, slot) => {
                let can = step.state.holders[mutex as usize].is_none();
                step.on(Object::Mutex(mutex), if can { Write } else { Read });
                step.state.destroyed[mutex as usize] |= can;
                step.state.keep(me, slot, can.into());
            }
            Op::Sleep(condition, mutex) => {
                step.on(Object::Condition(condition), Write);
                step.on(Object::Mutex(mutex), Write);
                step.state.holders[mutex as usize] = None;
                step.state.strands[me].life = Life::Asleep(condition);
            }
            Op::Signal(condition) => {
                step.on(Object::Condition(condition), Write);
                wakes.extend(step.state.sleepers(condition).get(way).copied());
                step.also(wakes.first().map_or(0, |&woken| woken as u64 + 1));
            }
            Op::Broadcast(condition) => {
                step.on(Object::Condition(condition), Write);
                wakes = step.state.sleepers(condition);
            }
            Op::Down(semaphore) => {
                step.on(Object::Semaphore(semaphore), Write);
                step.state.semaphores[semaphore as usize] -= 1;
            }
            Op::Up(semaphore) => {
                step.on(Object::Semaphore(semaphore), Write);
                step.state.semaphores[semaphore as usize] += 1;
            }
            Op::TryDown(semaphore, slot) => {
                let can = step.state.semaphores[semaphore as usize] > 0;
                step.on(Object::Semaphore(semaphore), if can { Write } else { Read });
                step.state.semaphores[semaphore as usize] -= u8::from(can);
                step.state.keep(me, slot, can.into());
            }
            Op::Count(semaphore, slot) => {
                step.on(Object::Semaphore(semaphore), Read);
                let value = step.state.semaphores[semaphore as usize];
                step.state.keep(me, slot, value);
            }
            Op::Renew(semaphore, value) => {
                step.on(Object::Semaphore(semaphore), Write);
                step.state.semaphores[semaphore as usize] = value;
            }
            Op::ReadLock(lock) => {
                step.on(Object::RwLock(lock), Read);
                step.state.readers[lock as usize].push(me as u8);
            }
            Op::ReadUnlock(lock) => {
                step.on(Object::RwLock(lock), Read);
                step.state.readers[lock as usize].retain(|&reader| reader as usize != me);
            }
            Op::WriteLock(lock) => {
                step.on(Object::RwLock(lock), Write);
                step.state.writers[lock as usize] = Some(me as u8);
            }
            Op::WriteUnlock(lock) => {
                step.on(Object::RwLock(lock), Write);
                step.state.writers[lock as usize] = None;
            }
            Op::TryRead(lock, slot) => {
                let can = step.state.writers[lock as usize].is_none();
                step.on(Object::RwLock(lock), Read);
                if can {
                    step.state.readers[lock as usize].push(me as u8);
                }
                step.state.keep(me, slot, can.into());
            }
            Op::TryWrite(lock, slot) => {
                let at = lock as usize;
                let can = step.state.writers[at].is_none() && step.state.readers[at].is_empty();
                step.on(Object::RwLock(lock), if can { Write } else { Tries });
                if can {
                    step.state.writers[at] = Some(me as u8);
                }
                step.state.keep(me, slot, can.into());
            }
            Op::Until(variable, _) | Op::While(variable, _) => step.on(Object::Variable(variable), Read),
            Op::Grab(variable) => {
                step.on(Object::Variable(variable), Write);
                step.state.put(variable, 1);
            }
            Op::Arrive(barrier) => {
                step.on(Object::Barrier(barrier), Write);
                let left = &mut step.state.barriers[barrier as usize];
                *left -= 1;
                step.state.strands[me].life = Life::Stopped(barrier);
                if *left == 0 {
                    let stopped = |&at: &usize| step.state.strands[at].life == Life::Stopped(barrier);
                    wakes = (0..step.state.strands.len()).filter(stopped).collect();
                    step.state.barriers[barrier as usize] = wakes.len() as u8;
                }
            }
            Op::Create(strand) => {
                step.also(u64::from(strand));
                let hash = step.hash;
                let made = &mut step.state.strands[strand as usize];
                made.life = Life::Runs;
                made.last = hash;
                step.state.settle(strand as usize, code);
            }
            Op::Join(strand) => {
                let last = step.state.strands[strand as usize].last;
                step.also(last);
            }
            Op::TryJoin(strand, slot) => {
                let ended = step.state.strands[strand as usize].life == Life::Ended;
                step.on(Object::Strand(strand), Read);
                step.state.keep(me, slot, ended.into());
            }
            Op::End => {
                step.on(Object::Strand(me as u8), Write);
                step.quiet = true;
            }
            Op::Ask(waits) => {
                step.on(Object::Process, Write);
                if waits && step.state.asked {
                    step.state.strands[me].life = Life::Waits;
                }
                step.state.asked |= waits;
            }
            Op::Exit => {
                step.state.over = true;
                step.also(step.state.told);
            }
            Op::Pause => {}
        }
        step.finish();
        for woken in wakes {
            self.strands[woken].life = Life::Runs;
            if woken != me {
                self.settle(woken, code);
            }
        }
        if !self.over && self.strands[me].life == Life::Runs {
            self.settle(me, code);
        }
    }

    /// Whether some strands wait for each other for ever by locks and joins.
    fn has_cycle(&self, code: &[Vec<Instruction>]) -> bool {
        let waits_for = |me: usize| -> Vec<u8> {
            match self.op(me, code) {
                Some(Op::Lock(mutex)) => self.holders[mutex as usize].into_iter().collect(),
                Some(Op::ReadLock(lock)) => self.writers[lock as usize].into_iter().collect(),
                Some(Op::WriteLock(lock)) => {
                    let at = lock as usize;
                    self.writers[at].into_iter().chain(self.readers[at].iter().copied()).collect()
                }
                Some(Op::Join(strand)) if self.strands[strand as usize].life != Life::Ended => vec![strand],
                _ => Vec::new(),
            }
        };
        (0..self.strands.len()).any(|start| {
            let mut known = HashSet::new();
            let mut open = waits_for(start);
            while let Some(at) = open.pop() {
                if at as usize == start {
                    return true;
                }
                if known.insert(at) {
                    open.extend(waits_for(at as usize));
                }
            }
            false
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::parse;
    use super::*;

    /// The classes of a program whose main creates all strands and joins them.
    fn classes(head: &str, strands: &[&str]) -> usize {
        let mut text = format!("{head}\nstrand\n");
        for word in ["create", "join"] {
            for at in 1..=strands.len() {
                text.push_str(&format!("{word} {at}\n"));
            }
        }
        for strand in strands {
            text.push_str(&format!("strand\n{}\n", strand.replace("; ", "\n")));
        }
        account(&parse(&text).expect("a program"), 100_000).expect("it is small").classes
    }

    const MEMORY: &str = "variable atomic 4 loose\nvariable atomic 4 loose\nvariable plain 4 loose\nmutexes 2\nconditions 1\n\
                          semaphore 0\nsemaphore 1\nrwlocks 1\nbarrier 2";

    #[test]
    fn memory() {
        let is = |strands: &[&str], count| assert_eq!(classes(MEMORY, strands), count, "{strands:?}");
        is(&["store 0 1", "load 0 0"], 2);
        is(&["store 0 1; load 1 0", "store 1 1; load 0 0"], 3);
        is(&["store 0 1; store 1 1", "load 1 0; load 0 1"], 3);
        is(&["store 0 1; store 0 1", "load 0 0; load 0 1"], 6);
        is(&["fetch-add 0 1 0; fetch-add 0 1 1", "fetch-add 0 1 0"], 3);
        is(&["compare 0 0 1 0", "compare 0 0 1 0"], 2);
        is(&["add 2 1", "add 2 1"], 4);
        is(&["add 2 1; add 2 1", "add 2 1"], 9);
        is(&["compare 0 0 1 0; store 1 1", "compare 0 0 1 0; load 1 1", "load 1 0"], 8);
        // A failed exchange is a read: two of them are not ordered.
        is(&["compare 0 7 1 0", "compare 0 7 1 0"], 1);
        is(&["store 0 1"; 5], 120);
    }

    #[test]
    fn locks() {
        let is = |strands: &[&str], count| assert_eq!(classes(MEMORY, strands), count, "{strands:?}");
        let empty = "locked 0 {; }";
        is(&[empty, empty], 2);
        is(&["locked 0 {; }; locked 0 {; }", empty], 3);
        is(&["locked 0 {; locked 1 {; }; }", "locked 1 {; locked 0 {; }; }"], 3);
        is(&[empty, "try-locked 0 0 {; }"], 3);
        is(&["try-locked 0 0 {; }", "try-locked 0 0 {; }"], 4);
        is(&["locked 0 {; write 2 1; }", "try-locked 0 0 {; write 2 1; }"], 3);
        is(&["reading 0 {; }", "reading 0 {; }"], 1);
        is(&["reading 0 {; }", "writing 0 {; }"], 2);
        is(&["reading 0 {; read 2 0; }", "writing 0 {; write 2 1; }", "reading 0 {; read 2 0; }"], 4);
        is(&["reading 0 {; }", "writing 0 {; }", "writing 0 {; }"], 6);
        is(&["locked 0 {; add 2 1; }", "locked 0 {; add 2 1; }", "add 2 1"], 18);
    }

    #[test]
    fn waits() {
        let is = |strands: &[&str], count| assert_eq!(classes(MEMORY, strands), count, "{strands:?}");
        is(&["locked 0 {; await 0 0 2; }", "locked 0 {; write 2 1; signal 0; }"], 2);
        is(&["locked 0 {; await 0 0 2; }", "locked 0 {; write 2 1; }; signal 0"], 2);
        is(
            &[
                "locked 0 {; await 0 0 2; }",
                "locked 0 {; await 0 0 2; }",
                "locked 0 {; write 2 1; broadcast 0; }",
            ],
            10,
        );
        is(&["up 0", "down 0"], 1);
        is(&["up 0; up 0", "down 0"], 2);
        is(&["down 1; up 1", "down 1; up 1"], 2);
        is(&["try-down 0 0", "up 0"], 2);
        is(&["try-down 1 0", "try-down 1 0", "up 1"], 6);
        is(&["barrier 0", "barrier 0"], 2);
        is(&["store 0 1; barrier 0; load 1 0", "store 1 1; barrier 0; load 0 0"], 2);
        is(&["spin 0 1", "store 0 1"], 1);
        is(&["spin 0 1; load 1 0", "store 1 1; store 0 1"], 1);
        // Both looks see the 1 or the 2, or the first the 1 and the second the 2: a 1 is no more waited for after that.
        is(&["stairs 0 0 1", "store 0 1; store 0 2"], 2);
        is(&["stairs 0 0 2", "store 0 1; store 0 2"], 2);
        is(&["grabbed 0 {; add 2 1; }", "grabbed 0 {; add 2 1; }"], 2);
        is(&["poll 0 1 12 0", "store 0 1"], 13);
    }

    #[test]
    fn ends() {
        let count =
            |text: &str| account(&parse(text).expect("a program"), 100_000).expect("it is small").classes;
        let head = "variable atomic 4 loose\n";
        // Nothing, one store, two.
        assert_eq!(count(&format!("{head}strand\ncreate 1\nstrand\nstore 0 1\nstore 0 2")), 3);
        assert_eq!(count(&format!("{head}strand\ncreate 1\nleave\nstrand\nstore 0 1\nstore 0 2")), 1);
        assert_eq!(count(&format!("{head}strand\ncreate 1\njoin 1\nstrand\nstore 0 1\nexit")), 1);
        // Whether the strand has ended when it is asked.
        assert_eq!(
            count(&format!("{head}strand\ncreate 1\ntry-join 1 0\nif 0 0 {{\njoin 1\n}}\nstrand\nstore 0 1")),
            2
        );
    }
}
