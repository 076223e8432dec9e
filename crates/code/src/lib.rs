//! What instrumented machine code does, without running it.
//!
//! The compilers' pass puts a call before every access, with its address in the first argument register, so one reader serves every
//! compiler: [`Code::read`] gives the functions of a program with their accesses ([`Access`]: place, size, kind, an [`Address`] over what
//! the function was given, the locks that are surely held), calls, where strands begin, and what could not be followed ([`Gap`]).
//! Places are return addresses, as linked: the very ones that the runtime tells.
//!
//! What is told is true of every run, as far as the code that was seen goes: a lock that is told as held is held whenever control gets
//! there. Not followed: code that changes itself, `longjmp`, locks that other modules give back on their own.
//!
//! Files with `x86_64` in their path know the machine; the others do not.
//!
//! `x86_64/` decodes functions into graphs, `flow` follows
//! values through registers and slots (each value named by what makes it, so that equal names are equal addresses) with
//! the locks that are surely held, callees first, by `summary`; `inherit` adds the locks that all callers hold. `terms`
//! lists for each read of shared data the writes that may reach it, and strikes out only what no run can have;
//! `tests/referee/hooks.c` checks that against runs. What was not followed is a typed list (`gap`). Kept by build id
//! (`cache`). `reach` asks what it takes to come to a place: branches by dominators, within the functions of the
//! shortest chain of calls; it reads their graphs again from the file. `exits` works out what functions give back, from what there is at the hooks of their exits.

mod address;
mod analysis;
mod cache;
mod calls;
mod code;
mod exits;
mod flow;
mod function;
mod gap;
mod graph;
mod hidden;
mod hook;
mod image;
mod inherit;
mod known;
mod landing;
mod names;
mod order;
pub mod reach;
mod state;
mod strands;
mod summary;
pub mod terms;
mod value;
mod x86_64;

use std::path::Path;

pub use address::{Address, Reason, Root};
pub use code::{Code, DataSymbol};
pub use exits::{Exit, Exits, Given, Source};
pub use function::{Access, Call, Callee, Function, Held};
pub use gap::{Gap, What};
pub use hook::{Kind, Size};
pub use names::Names;
pub use strands::{Creation, Join};

/// Why there is no code to read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the program")]
    File(#[from] std::io::Error),
    /// It is no ELF file, or a damaged one.
    #[error("no program that can be read: {0}")]
    Format(String),
    /// It is for another machine.
    #[error("code for {0}: only x86-64 is read")]
    Machine(String),
}

impl Code {
    /// Reads the code of a program or library.
    pub fn read(path: &Path) -> Result<Code, Error> {
        Code::parse(std::fs::read(path)?)
    }

    /// Reads the code of the bytes of an ELF file.
    pub fn parse(bytes: Vec<u8>) -> Result<Code, Error> {
        analysis::analyse(bytes)
    }
}
