//! Which plain accesses have company: a run in which another strand's access conflicts with them.
//!
//! One that has none is no point, whatever the text of the program says: whoever would conflict with it waits for ever, or is never there
//! in the same run. Where the process may end early the model would take it for a step that was made or not, and nobody can see which.

use super::code::{Instruction, Op};
use super::program::Program;

/// The accesses of one strand, a bit for each instruction.
pub(super) type Made = u128;

/// The bit of an instruction.
pub(super) fn bit(pc: usize) -> Made {
    1u128.checked_shl(pc as u32).unwrap_or(0)
}

struct Access {
    strand: usize,
    bit: Made,
    variable: u8,
    writes: bool,
}

/// What is known of a program's plain accesses.
pub(super) struct Company {
    accesses: Vec<Access>,
    made: Vec<bool>,
    met: Vec<bool>,
}

impl Company {
    /// Nothing yet.
    pub(super) fn new(program: &Program, code: &[Vec<Instruction>]) -> Company {
        let mut accesses = Vec::new();
        for (strand, instructions) in code.iter().enumerate() {
            for (pc, instruction) in instructions.iter().enumerate() {
                let (variable, writes) = match *instruction {
                    Instruction::Op(Op::Get(variable, _) | Op::Peek(variable) | Op::Look(variable, ..)) => {
                        (variable, false)
                    }
                    Instruction::Op(Op::Put(variable, _) | Op::PutMore(variable, _)) => (variable, true),
                    _ => continue,
                };
                if !program.variables[variable as usize].atomic {
                    accesses.push(Access { strand, bit: bit(pc), variable, writes });
                }
            }
        }
        let none = vec![false; accesses.len()];
        Company { accesses, made: none.clone(), met: none }
    }

    /// A run has ended in which the strands made these.
    pub(super) fn note(&mut self, made: impl Fn(usize) -> Made) {
        let is_made = |access: &Access| made(access.strand) & access.bit != 0;
        for (at, access) in self.accesses.iter().enumerate().filter(|(_, access)| is_made(access)) {
            self.made[at] = true;
            self.met[at] = self.met[at]
                || self.accesses.iter().any(|other| {
                    other.strand != access.strand
                        && other.variable == access.variable
                        && (other.writes || access.writes)
                        && is_made(other)
                });
        }
    }

    /// Whether every access that is ever made has company.
    pub(super) fn is_complete(&self) -> bool {
        self.made == self.met
    }
}
