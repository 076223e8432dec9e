//! The steps of a run, for planners.
//!
//! A step is what a strand does from one decision to the next: the operation it stood before, and its own affairs after
//! that. Records that belong to a step follow it. The runtime writes them when a plan has [`crate::layout::flags::STEPS`].

use crate::op::codes;

/// A record of a step, or of something that happened in it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// The instruction (return address), or 0.
    pub pc: u64,
    /// The object: see [`crate::op::OpKind`] and [`StepKind`].
    pub addr: u64,
    /// What was in memory there just before, for accesses of up to 8 bytes; otherwise see [`StepKind`].
    pub before: u64,
    /// What was in memory there when the next step began.
    pub after: u64,
    /// The strands that could have gone on, a bit for each of the first 64.
    pub enabled: u64,
    /// Stands for the innermost callers.
    pub context: u64,
    /// Stands for what the strand has in registers and on its stack when it comes to an atomic operation.
    pub local: u64,
    /// The strand.
    pub strand: u16,
    /// An [`crate::op::OpKind`] code, or for a choice a [`crate::event::ChoiceKind`].
    pub op: u8,
    /// A [`StepKind`] code.
    pub kind: u8,
    /// Bytes concerned.
    pub size: u32,
    /// Bit set of [`flags`]; above them, where functions are told, how many the strand is in ([`DEPTH_SHIFT`]).
    pub flags: u32,
    /// The strand whose deadline could have come instead, plus one; 0 if none could.
    pub timed: u32,
}

codes! {
    /// What a record of a step tells.
    StepKind {
        /// A strand goes on and makes the operation it stood before.
        Step = 0, "step";
        /// The step concerns another object, too.
        Touch = 1, "touch";
        /// The strand `addr` can go on from now on.
        Wake = 2, "wake";
        /// A choice other than a strand: the option `addr` of `before`.
        Choice = 3, "choice";
        /// The strand has loaded this again and again; `before` is the value.
        Spin = 4, "spin";
        /// The run is over; the strand stood before this operation.
        Pending = 5, "pending";
        /// A strand was created: `addr` is its path, `before` its parent's index.
        Born = 6, "born";
        /// Something that a planner cannot follow, at `pc`: `op` is a [`Doubt`].
        Doubt = 7, "doubt";
        /// The step is an exchange that puts `after` in the place of `before`, if it finds that.
        Wants = 8, "wants";
        /// The callers that `context` stands for, innermost first: `addr`, `before`, `after`; 0 where there are none.
        Callers = 9, "callers";
        /// The strand has come into a function: `pc` is its return address, `addr` how many functions there are, with it.
        Entered = 10, "entered";
        /// The memory from `addr` to below `after`, on the strand's stack, has come into use anew before the access that is told next: whatever
        /// was there is gone with functions that have returned. Only told with [`crate::layout::flags::CALLERS`].
        Renewed = 11, "renewed";
    }
}

codes! {
    /// What a run did that a planner cannot follow: nothing is proved by runs that did it.
    Doubt {
        /// Precompiled code looked at something right after an operation, and nobody could come in between.
        Unseen = 0, "precompiled-code";
        /// More instructions touch shared memory, or more memory is touched, than there is room to note.
        Full = 1, "table-full";
        /// An access of several words may be torn, and was made as one.
        Torn = 2, "torn-access";
        /// Plain accesses are no points, as was asked for.
        Plain = 3, "plain-accesses";
        /// Strands share memory of stacks, and the compiler does not tell of all accesses to it.
        Stack = 4, "stack-accesses";
        /// A write that the compiler tells of first reads what lies beside it, as one to a bit-field does, and nobody can come in between.
        Merge = 5, "bit-fields";
        /// Which address an allocation gives depends on what other strands allocated and freed before.
        Address = 6, "addresses";
        /// A clock was read, and what it shows depends on all that was done before.
        Clock = 7, "clocks";
        /// An atomic load had more older stores to see than are kept, or had seen one of them too often.
        Stale = 8, "stale-reads";
        /// Rounds of a loop that ends by itself were made in one step: its strand went on alone.
        Rounds = 9, "merged-rounds";
        /// A value was drawn that is one of too many to try.
        Values = 16, "values";
    }
}

/// What sequentially consistent fences change and other sequentially consistent operations look at, where loads may see older
/// stores: the order of the two matters then. No memory of a program has this address.
pub const FENCES: u64 = 64;

/// Flags of a [`Step`].
pub mod flags {
    /// The strand goes on by its deadline.
    pub const TIMEOUT: u32 = 1;
    /// Nobody decided: the strand could not be interrupted.
    pub const PINNED: u32 = 2;
    /// The strand was asleep and has been woken.
    pub const RESUMED: u32 = 4;
    /// The wait has a deadline.
    pub const TIMED: u32 = 8;
    /// Before this, nobody could have acquired the object for itself alone.
    pub const SHUT: u32 = 16;
    /// Before this, nobody could have acquired the object together with others.
    pub const SHUT_SHARED: u32 = 32;
    /// The strand waits (a pending operation).
    pub const BLOCKED: u32 = 64;
    /// It waits to be woken by name, not to acquire.
    pub const ASLEEP: u32 = 128;
    /// It does not wait, although operations of its kind do: others can see that it has come.
    pub const COMES: u32 = 512;
    /// The loop that waits may end by itself, after many rounds.
    pub const ENDS: u32 = 1024;
}

/// Where the number of functions begins in [`Step::flags`].
pub const DEPTH_SHIFT: u32 = 16;

/// Words of a record.
pub const STEP_WORDS: usize = size_of::<Step>() / 8;

impl Step {
    /// The record in its words, as they lie in memory.
    pub fn from_words(words: [u64; STEP_WORDS]) -> Step {
        let [pc, addr, before, after, enabled, context, local, mixed, last] = words;
        let [strand_low, strand_high, op, kind, size @ ..] = mixed.to_le_bytes();
        Step {
            pc,
            addr,
            before,
            after,
            enabled,
            context,
            local,
            strand: u16::from_le_bytes([strand_low, strand_high]),
            op,
            kind,
            size: u32::from_le_bytes(size),
            flags: last as u32,
            timed: (last >> 32) as u32,
        }
    }
}

const _: () = assert!(size_of::<Step>() == 72);
