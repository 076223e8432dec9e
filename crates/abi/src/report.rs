//! Details of a run that are too long for the counters: a sequence of records in the report area.
//!
//! Each record is a [`RecordHead`] followed by `len` bytes of text, padded to 8.

use crate::op::codes;

/// The head of a record.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordHead {
    /// A [`RecordTag`] code.
    pub tag: u16,
    /// The strand it concerns, or `u16::MAX`.
    pub strand: u16,
    /// Bytes of text that follow.
    pub len: u32,
    /// See the tag.
    pub a: u64,
    /// See the tag.
    pub b: u64,
    /// See the tag.
    pub c: u64,
}

codes! {
    /// What a record tells.
    RecordTag {
        /// The verdict in words: text.
        Message = 1, "message";
        /// A strand: `a` parent index, `b` ordinal, `c` [`StrandState`] code; text: its name, if it has one.
        Strand = 2, "strand";
        /// What the strand waits for or is about to do: `a` an [`crate::op::OpKind`] (low 8 bits) and its bytes (from bit
        /// 8 on), `b` its address, `c` its pc; text: for a barrier, how many have come of how many.
        Pending = 3, "pending";
        /// Who keeps the strand waiting: `a` the holder's index, `b` 1 if the verdict is about this wait.
        Holder = 4, "holder";
        /// One frame of the strand's stack, innermost first: `a` pc.
        Frame = 5, "frame";
        /// A loaded module: `a` base, `b` size; text: path. Index = order of the records.
        Module = 6, "module";
        /// Something the user should know once: `a` pc; text.
        Warning = 7, "warning";
        /// A divergence: `a` segment number, `b` expected stop, `c` actual pc; text: why.
        Divergence = 8, "divergence";
        /// A lock the strand holds: `a` address, `b` pc where taken; text: that pc and its callers, innermost first,
        /// hexadecimal with commas.
        Held = 9, "held";
        /// A data race: `a` the address where the two accesses overlap, `b` the bytes they share. Two [`RecordTag::Access`]
        /// records follow: the later access, then the earlier one.
        Race = 10, "race";
        /// An access of the record before: `a` pc, `b` the event it was made at, `c` an [`crate::op::OpKind`] (low 8 bits)
        /// and its bytes (from bit 8 on). [`RecordTag::AccessFrame`] and [`RecordTag::AccessHeld`] records may follow.
        Access = 11, "access";
        /// One caller of the access or watched event before it, innermost first: `a` pc.
        AccessFrame = 12, "access-frame";
        /// A lock the strand held at the access or watched event before it: `a` address, `b` pc where taken.
        AccessHeld = 13, "access-held";
        /// A [`crate::layout::Watch`] was met: `a` its index, `b` the event, `c` the pc. Frames and locks may follow.
        /// A later record with the same index replaces it.
        Watched = 14, "watched";
        /// The heap block the verdict concerns: `a` its address, `b` its bytes, `c` 1 if it had been freed.
        Block = 15, "block";
        /// A wake that nobody waited for: `a` the object, `b` the event, `c` pc; `strand` made it. Frames may follow.
        LostWake = 16, "lost-wake";
        /// Locks in an order: the strand took `b` at the pc `c` while it held `a`, each pair of locks and places once a
        /// run. Text, words with a space between them: the pc where it took `a` and its callers (as in [`RecordTag::Held`]),
        /// the same for `b`, whether it holds `a` for reading only, whether it takes `b` so (0 or 1), the number of the
        /// occasion (the same for all locks held then), then for each strand the last of its stretches that came before
        /// by creation and join.
        LockOrder = 17, "lock-order";
        /// An atomic load of the strand saw an older store, or its store came before newer ones: `a` the instruction, `b` that of the store it
        /// saw (0 for what was there first), `c` that of the newest store of another strand. Text, numbers with a space between them: the address, the bytes, an
        /// [`crate::op::OpKind`], the strand and value of the store it saw, the same of the newer one, and what would have forbidden it: a [`Remedy`].
        Stale = 18, "stale";
        /// The verdict is about an object that the strand had destroyed: `a` its address, `b` the event, `c` the pc. Frames may follow.
        Destroyed = 19, "destroyed";
        /// Runs begin at the program's `check`; text: what it asks for, lines of name and value. Told once, before the first run.
        Check = 20, "check";
        /// Memory that is left at the end, of one place: `a` its first block, `b` bytes of all blocks, `c` pc of the allocation; `strand` made the first one.
        /// Text: how many blocks, then the callers, innermost first, hexadecimal, each after a comma. That of the verdict comes first.
        Leak = 21, "leak";
        /// The strand's wait ended by its deadline while another could go on: `a` the instruction, `b` its [`crate::op::OpKind`], `c` the other strand.
        Early = 22, "early";
        /// The program has come to a place that it has a name for: `a` pc; text: the name.
        Reached = 23, "reached";
        /// The frame of a function of the strand's, which an operation was on: `a` is where the function goes on, `b` the stack pointer before it was
        /// called, `c` where its own calls put their return addresses. Of runs that are made again for their details.
        Holds = 24, "holds";
    }
}

codes! {
    /// What would have made an atomic load see a store.
    Remedy {
        /// An acquire on the load by which its strand heard of the store, which was released.
        Acquire = 0, "acquire";
        /// A release on a store that its strand saw, after the one that it did not see, and an acquire on the load that saw it.
        Release = 1, "release";
        /// Nothing that its strand saw tells of the store: sequential consistency.
        SeqCst = 2, "seq-cst";
    }
}

codes! {
    /// What a strand is doing.
    StrandState {
        /// It can go on.
        Ready = 0, "ready";
        /// It waits.
        Blocked = 1, "blocked";
        /// It has ended.
        Ended = 2, "ended";
        /// It runs.
        Running = 3, "running";
    }
}
