//! The control flow graph of one function.

use iced_x86::Instruction;

/// A stretch of instructions that is entered at its first one only.
pub(crate) struct Block {
    pub(crate) start: u64,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) leave: Leave,
    /// Addresses, until all blocks are known.
    pub(crate) edges: Edges,
    /// Where control goes on.
    pub(crate) next: Vec<(usize, Edge)>,
    /// Landing pads, each with the index of the call that may go there.
    pub(crate) landing: Vec<(usize, usize)>,
    /// A conditional jump into another function: a call at the function's end.
    pub(crate) side: Option<u64>,
}

/// Edges by address.
#[derive(Default)]
pub(crate) struct Edges {
    pub(crate) edges: Vec<(u64, Edge)>,
    pub(crate) pads: Vec<(u64, usize)>,
}

/// How control goes from a block to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Edge {
    /// The condition of the last jump holds.
    Taken,
    /// It does not, or there is none.
    Next,
    /// Into another function.
    Tail,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Leave {
    /// By going on in the function.
    Inside,
    /// By a return.
    Return,
    /// By a jump to another function.
    Tail(u64),
    /// By a jump to another module's function.
    Import(std::rc::Rc<str>),
    /// Not at all.
    Never,
    /// By a jump that was not followed.
    Unknown,
}

/// The blocks of a function.
pub(crate) struct Graph {
    pub(crate) blocks: Vec<Block>,
    pub(crate) entry: Option<usize>,
    /// Blocks that nothing leads to.
    pub(crate) orphans: Vec<usize>,
}
