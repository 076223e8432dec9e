//! One thing that a strand of a recorded run did.

use threadbare_abi::event::ChoiceKind;
use threadbare_abi::op::{OpKind, Order};

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The strand has come to an operation. Accesses are told where they are made, once there is a second strand.
    Operation {
        /// Which.
        op: OpKind,
        /// The memory order of an atomic operation.
        order: Option<Order>,
    },
    /// A plain access, or the release of memory, is made.
    Access {
        /// Which.
        op: OpKind,
    },
    /// An atomic operation is made.
    Atomic {
        /// Which.
        op: OpKind,
        /// Its order.
        order: Order,
        /// [`threadbare_abi::event::atomic`]'s flags.
        flags: u8,
        /// How many newer stores it did not see, or comes before.
        back: u8,
        /// What it found; of a store, what it wrote.
        found: u64,
        /// What it left.
        left: u64,
    },
    /// A fence is made.
    Fence(Order),
    /// The strand comes after all who released the object.
    Acquire,
    /// Whoever acquires the object comes after the strand.
    Release,
    /// The strand comes after what the atomic objects of a word published.
    AcquireWord {
        /// Precompiled code has written one of them.
        unseen: bool,
    },
    /// The strand comes after all that any strand did: precompiled code ordered it out of sight.
    AcquireAll,
    /// The strand comes after all of the strand that the object is.
    Join,
    /// The strand is created.
    Created {
        /// By whom.
        parent: u16,
        /// As which child, from 1.
        ordinal: u32,
    },
    /// The strand ends.
    Ended,
    /// The strand has to wait before an operation.
    Waits {
        /// Which.
        op: OpKind,
    },
    /// The strand goes on.
    Switch {
        /// Because its deadline has come.
        by_deadline: bool,
    },
    /// A choice other than a strand.
    Choice {
        /// Of what.
        kind: ChoiceKind,
        /// The option taken.
        taken: u64,
        /// The number of options.
        options: u64,
    },
    /// Virtual time moves to this nanosecond.
    Time(u64),
    /// The memory is given out anew: nothing is known of it any more.
    Forget,
}

impl What {
    /// The words that a filter knows it by: what it is, the group it belongs to.
    pub fn kinds(&self) -> [&'static str; 2] {
        match self {
            What::Operation { op, .. } => [op.name(), "operation"],
            What::Access { op } => [op.name(), "access"],
            What::Atomic { op, .. } => [op.name(), "atomic"],
            What::Fence(_) => ["fence", "atomic"],
            What::Acquire | What::AcquireWord { .. } | What::AcquireAll => ["acquire", "order"],
            What::Release => ["release", "order"],
            What::Join => ["joined", "order"],
            What::Created { .. } => ["created", "strand"],
            What::Ended => ["ended", "strand"],
            What::Waits { .. } => ["waits", "strand"],
            What::Switch { .. } => ["switch", "strand"],
            What::Choice { .. } => ["choice", "choice"],
            What::Time(_) => ["time", "time"],
            What::Forget => ["forget", "memory"],
        }
    }

    /// All the words of [`What::kinds`].
    pub fn all_kinds() -> impl Iterator<Item = &'static str> {
        const GROUPS: [&str; 18] = [
            "operation",
            "access",
            "atomic",
            "order",
            "acquire",
            "release",
            "joined",
            "strand",
            "created",
            "ended",
            "waits",
            "switch",
            "choice",
            "time",
            "memory",
            "forget",
            "fence",
            "free",
        ];
        let ops = OpKind::ALL.iter().map(|op| op.name()).filter(|name| !GROUPS.contains(name));
        GROUPS.into_iter().chain(ops)
    }
}

/// What a strand did, with numbers of the table's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The strand's index.
    pub strand: u16,
    /// What it did.
    pub what: What,
    /// Where: a row of the places, from 1; 0 for nowhere.
    pub place: u32,
    /// With what: a row of the objects, from 1; 0 for nothing.
    pub object: u32,
}
