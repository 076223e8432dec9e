//! What could not be followed, typed, so that nobody takes silence for knowledge.

use serde::{Deserialize, Serialize};

/// One thing that was not followed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    /// The start of the function it is in; 0 for the file as a whole.
    pub function: u64,
    /// The address.
    pub at: u64,
    /// What it is.
    pub what: What,
}

/// Kinds of gaps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum What {
    /// The file has no symbol table: private functions are known by the unwind table only, and locks of Rust's std not at all.
    Stripped,
    /// The bytes are no instruction.
    Undecodable,
    /// The function has more code than is followed.
    TooLarge,
    /// The function did not settle: its values are unknown.
    Unsettled,
    /// A jump to a computed address.
    ComputedJump,
    /// Code that nothing leads to; its accesses are told, their addresses hardly.
    Unreached,
    /// A call to whatever a value points to.
    IndirectCall,
    /// A hook at a function's end: its place is in the caller.
    HookInTail,
    /// A strand is made with a function that is not known.
    UnknownEntry,
    /// A function that takes or gives back a lock without a call that is known.
    HiddenLock(String),
    /// The function writes, instrumented code calls it, and it has no instrumentation: its accesses are not seen.
    Uninstrumented,
}
