//! A strand's statements as a list of instructions for the model.
//!
//! An operation is what other strands can see, one step each. What lies between two operations (branches, slots, marks of how far the
//! strand has come) belongs to the step before it.

use super::program::{Exit, Program, Statement, Value};

/// What other strands can see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    /// Reads into a slot.
    Get(u8, u8),
    /// Reads into the strand's scratch value.
    Peek(u8),
    Put(u8, Value),
    /// Writes the scratch value and so much more.
    PutMore(u8, u8),
    FetchAdd(u8, u8, u8),
    Exchange(u8, u8, u8),
    Compare(u8, u8, u8, u8),
    Lock(u8),
    Unlock(u8),
    TryLock(u8, u8),
    Destroy(u8, u8),
    /// Gives the mutex back and sleeps.
    Sleep(u8, u8),
    Signal(u8),
    Broadcast(u8),
    Down(u8),
    Up(u8),
    TryDown(u8, u8),
    Count(u8, u8),
    Renew(u8, u8),
    ReadLock(u8),
    WriteLock(u8),
    ReadUnlock(u8),
    WriteUnlock(u8),
    TryRead(u8, u8),
    TryWrite(u8, u8),
    /// Goes on when the variable has the value.
    Until(u8, u8),
    /// Waits until the variable has another value.
    While(u8, u8),
    /// Goes on when the variable is 0, and makes it 1.
    Grab(u8),
    /// Looks whether the variable has the value, into a slot.
    Look(u8, u8, u8),
    /// Comes to a barrier, and waits for the others.
    Arrive(u8),
    Create(u8),
    Join(u8),
    TryJoin(u8, u8),
    /// The strand's end, where somebody looks for it.
    End,
    /// Asks for the process's end; waits for ever if another does that already, and this call waits for it.
    Ask(bool),
    /// The process's end.
    Exit,
    /// Others may go on before what follows.
    Pause,
}

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Instruction {
    /// A step.
    Op(Op),
    /// The strand has come so far.
    Mark(u8),
    Jump(usize),
    /// Goes there unless the slot holds the value.
    Unless(u8, u8, usize),
    /// Goes there if the scratch value is 0.
    Empty(usize),
    /// The strand is over.
    Over,
    /// The run has failed.
    Fail,
}

/// The instructions of every strand. A failure belongs to the step before it, or is `apart` from it.
pub(super) fn compile(program: &Program, apart: bool) -> Vec<Vec<Instruction>> {
    let mut tried = vec![false; program.strands.len()];
    program.statements(|_, statement| {
        if let Statement::TryJoin(strand, _) = statement {
            tried[*strand as usize] = true;
        }
    });
    let compile = |(at, strand): (usize, &super::program::Strand)| {
        let mut writer = Writer { list: Vec::new(), marks: 0, leave: Vec::new(), apart };
        writer.body(&strand.body);
        if at == 0 {
            writer.op(Op::Ask(true));
            writer.op(Op::Exit);
        }
        let end = writer.list.len();
        for jump in std::mem::take(&mut writer.leave) {
            writer.list[jump] = Instruction::Jump(end);
        }
        if tried[at] {
            writer.op(Op::End);
        }
        writer.list.push(Instruction::Over);
        writer.list
    };
    program.strands.iter().enumerate().map(compile).collect()
}

struct Writer {
    list: Vec<Instruction>,
    marks: u8,
    /// Jumps to the strand's end.
    leave: Vec<usize>,
    /// Others may go on before a failure.
    apart: bool,
}

impl Writer {
    fn op(&mut self, op: Op) {
        self.list.push(Instruction::Op(op));
    }

    fn marked(&mut self, op: Op) {
        self.op(op);
        self.marks += 1;
        self.list.push(Instruction::Mark(self.marks));
    }

    fn body(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    /// A body that is left out unless the slot holds the value.
    fn branch(&mut self, slot: u8, value: u8, inside: impl FnOnce(&mut Writer)) {
        let branch = self.list.len();
        self.list.push(Instruction::Jump(0));
        inside(self);
        self.list[branch] = Instruction::Unless(slot, value, self.list.len());
    }

    fn statement(&mut self, statement: &Statement) {
        use Statement as S;
        match *statement {
            S::Read(variable, slot) | S::Load(variable, slot) => self.op(Op::Get(variable, slot)),
            S::Write(variable, value) | S::Store(variable, value) => self.marked(Op::Put(variable, value)),
            S::Add(variable, by) => {
                self.op(Op::Peek(variable));
                self.marked(Op::PutMore(variable, by));
            }
            S::FetchAdd(variable, by, slot) => self.op(Op::FetchAdd(variable, by, slot)),
            S::Exchange(variable, new, slot) => self.op(Op::Exchange(variable, new, slot)),
            S::Compare(variable, old, new, slot) => self.op(Op::Compare(variable, old, new, slot)),
            S::Locked(mutex, ref body) => self.held(Op::Lock(mutex), Op::Unlock(mutex), body),
            S::TryLocked(mutex, slot, ref body) => {
                self.tried(Op::TryLock(mutex, slot), slot, Op::Unlock(mutex), body);
            }
            S::Await(condition, mutex, variable) => {
                let again = self.list.len();
                self.op(Op::Peek(variable));
                let check = self.list.len();
                self.list.push(Instruction::Empty(check + 2));
                self.list.push(Instruction::Jump(check + 5));
                self.op(Op::Sleep(condition, mutex));
                self.op(Op::Lock(mutex));
                self.list.push(Instruction::Jump(again));
                self.marks += 1;
                self.list.push(Instruction::Mark(self.marks));
            }
            S::Wait(condition, mutex) => {
                self.op(Op::Sleep(condition, mutex));
                self.marked(Op::Lock(mutex));
            }
            S::Signal(condition) => self.marked(Op::Signal(condition)),
            S::Broadcast(condition) => self.marked(Op::Broadcast(condition)),
            S::Down(semaphore) => self.marked(Op::Down(semaphore)),
            S::Up(semaphore) => self.marked(Op::Up(semaphore)),
            S::TryDown(semaphore, slot) => self.op(Op::TryDown(semaphore, slot)),
            S::Count(semaphore, slot) => self.op(Op::Count(semaphore, slot)),
            S::Renew(semaphore, value) => self.marked(Op::Renew(semaphore, value)),
            S::Destroy(mutex, slot) => self.op(Op::Destroy(mutex, slot)),
            S::Reading(lock, ref body) => self.held(Op::ReadLock(lock), Op::ReadUnlock(lock), body),
            S::Writing(lock, ref body) => self.held(Op::WriteLock(lock), Op::WriteUnlock(lock), body),
            S::TryReading(lock, slot, ref body) => {
                self.tried(Op::TryRead(lock, slot), slot, Op::ReadUnlock(lock), body);
            }
            S::TryWriting(lock, slot, ref body) => {
                self.tried(Op::TryWrite(lock, slot), slot, Op::WriteUnlock(lock), body);
            }
            S::Spin(variable, value) => self.marked(Op::Until(variable, value)),
            S::Stairs(variable, from, times) => {
                for value in from..from + times {
                    self.op(Op::While(variable, value));
                }
                self.marks += 1;
                self.list.push(Instruction::Mark(self.marks));
            }
            S::Grabbed(variable, ref body) => {
                self.held(Op::Grab(variable), Op::Put(variable, Value::Constant(0)), body);
            }
            S::Poll(variable, value, times, slot) => {
                // Each look is a step; a slot that holds 1 has found it.
                let mut exits = Vec::new();
                for _ in 0..times {
                    self.op(Op::Look(variable, value, slot));
                    exits.push(self.list.len());
                    self.list.push(Instruction::Jump(0));
                }
                let end = self.list.len();
                for exit in exits {
                    self.list[exit] = Instruction::Unless(slot, 0, end);
                }
                self.marks += 1;
                self.list.push(Instruction::Mark(self.marks));
            }
            // No mark: who is woken goes on at no step that anybody could see.
            S::Barrier(barrier) => self.op(Op::Arrive(barrier)),
            S::Create(strand) => self.marked(Op::Create(strand)),
            S::Join(strand) => self.marked(Op::Join(strand)),
            S::TryJoin(strand, slot) => self.op(Op::TryJoin(strand, slot)),
            S::Allocate(_) => {}
            S::If(slot, value, ref body) => self.branch(slot, value, |writer| writer.body(body)),
            S::Exit(kind) => {
                match kind {
                    Exit::Exit => self.op(Op::Ask(true)),
                    Exit::Quick => self.op(Op::Ask(false)),
                    Exit::Now => {}
                }
                self.op(Op::Exit);
            }
            S::Fail => {
                if self.apart {
                    self.op(Op::Pause);
                }
                self.list.push(Instruction::Fail);
            }
            S::Leave => {
                self.leave.push(self.list.len());
                self.list.push(Instruction::Jump(0));
            }
        }
    }

    fn held(&mut self, take: Op, give: Op, body: &[Statement]) {
        self.marked(take);
        self.body(body);
        self.marked(give);
    }

    fn tried(&mut self, take: Op, slot: u8, give: Op, body: &[Statement]) {
        self.op(take);
        self.branch(slot, 1, |writer| {
            writer.body(body);
            writer.marked(give);
        });
    }
}
