//! One record of a run's event stream.

use crate::op::codes;

/// A record of the event ring: 32 bytes, no padding.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Event {
    /// The instruction (return address), or 0.
    pub pc: u64,
    /// The object: see [`crate::op::OpKind`].
    pub addr: u64,
    /// What the kind of record says.
    pub value: u64,
    /// The strand it concerns.
    pub strand: u16,
    /// An [`EventKind`] code.
    pub kind: u8,
    /// An [`crate::op::OpKind`] code.
    pub op: u8,
    /// Bytes concerned (low 24 bits) and memory order (high 8 bits).
    pub size_order: u32,
}

codes! {
    /// What a record tells.
    EventKind {
        /// A strand came to a point; `value` is the strand's event count so far.
        Point = 1, "point";
        /// Another strand goes on: `strand` is the new one, `value` the number of events since it last began,
        /// `addr` 1 if it goes on by a timeout.
        Switch = 2, "switch";
        /// A strand was created: `addr` is the parent's index, `value` its ordinal among the parent's children.
        Created = 3, "created";
        /// A strand ended.
        Ended = 4, "ended";
        /// A strand cannot go on: `op`, `addr` tell what it waits for.
        Blocked = 5, "blocked";
        /// A choice other than a strand: `op` is a [`ChoiceKind`], `addr` the option taken, `value` the options.
        Choice = 6, "choice";
        /// What an atomic operation or a spin read or wrote: `value`; follows its point.
        Value = 7, "value";
        /// Virtual time moved: `value` is the new time in nanoseconds.
        Time = 8, "time";
        /// A caller of the strand's next point: `pc` is the return address. Callers come before their point, the
        /// innermost first.
        Caller = 9, "caller";
        /// A function is on a strand's stack that was not told before: `pc` is its return address, a place in its caller, `value` how
        /// many functions are on the stack with it. Only of [`crate::layout::Record::Values`], as the next three; they come before the first access inside.
        Entered = 10, "entered";
        /// An access is made, now: `value` is what the memory has before it. The first 8 bits of `size_order` are the bytes, the other
        /// 23 how many functions are on the stack; order and place are those of the strand's last point. The last bit: it is the next
        /// piece of the access before it.
        Made = 11, "made";
        /// What the memory of the strand's last access has after it; nobody else has gone on since.
        Left = 12, "left";
        /// What the strand's next access is in. A heap block, if `pc` is 0: it begins at `addr` and has `value` bytes. Else the frame, on
        /// any strand's stack, of the function that goes on at `pc`: the stack pointer was `addr` before it was called, and its own calls
        /// put their return addresses at `value`.
        Block = 13, "block";
        /// A plain access is made, now: `value` is its bytes. Only of [`crate::layout::Record::Effects`], as all that follow; they are told from
        /// the second strand on, where they are made.
        Accessed = 14, "accessed";
        /// An atomic operation has been made: `value` is what it found, or what a store wrote. The first 8 bits of `size_order` are its bytes, the
        /// next 8 are [`atomic`]'s flags, the next 8 how many newer stores it did not see or comes before. An [`EventKind::Left`] follows where
        /// what is in memory then is known.
        Atomic = 15, "atomic";
        /// A fence, of the order in `size_order`.
        Fenced = 16, "fenced";
        /// The strand comes after all who released an object: `addr`, of the [`crate::object::ObjectClass`] in `op`.
        Acquired = 17, "acquired";
        /// Whoever acquires the object comes after the strand.
        Released = 18, "released";
        /// The strand comes after what the atomic objects in 4 bytes at `addr` published; `value` is 1 if precompiled code has written one of them.
        AcquiredWord = 19, "acquired-word";
        /// The strand comes after all that any strand did: precompiled code has ordered it, and nobody saw by what.
        AcquiredAll = 20, "acquired-all";
        /// The strand comes after all of the strand `addr`, which has ended.
        Joined = 21, "joined";
        /// Nothing is known of `value` bytes at `addr` any more: they are given out anew.
        Forgotten = 22, "forgotten";
        /// A parameter or local of the strand's next access: `addr` is its place's number ([`crate::local`]), `value` what is there. Only of [`crate::layout::Record::Values`].
        Local = 23, "local";
        /// A function is left: `addr` is the number of a place that its return value comes from, `value` what is there, the first 24 bits of `size_order` how many
        /// functions are on the stack with it. Only of [`crate::layout::Record::Values`].
        Returned = 24, "returned";
        /// What there is beside the strand's next access, from `addr` to `value`, if `pc` is not 0; then, for each 8 bytes of it that are new since they were
        /// last told, `value` is what those at `addr` have. Only of [`crate::layout::Record::Values`].
        Beside = 25, "beside";
        /// A heap block is allocated: it begins at `addr` and has `value` bytes; `pc` is where the innermost function that is told goes on, the first 24 bits of
        /// `size_order` how many functions are on the stack. Only of [`crate::layout::Record::Values`].
        Allocated = 26, "allocated";
    }
}

/// Flags of an [`EventKind::Atomic`].
pub mod atomic {
    /// Precompiled code has written it since it was last seen: it publishes all that any strand did.
    pub const UNSEEN_WRITER: u8 = 1;
    /// Precompiled code uses it: whoever acquires it also acquires what such code published.
    pub const HIDDEN: u8 = 2;
    /// A compare-and-exchange that found another value than it expected, and wrote nothing.
    pub const REFUSED: u8 = 4;
}

codes! {
    /// The type of a choice (DESIGN: typed choices).
    ChoiceKind {
        /// Which strand goes on.
        Strand = 0, "strand";
        /// Which waiter is woken.
        Wake = 1, "wake";
        /// A timed wait ends by its deadline.
        Timeout = 2, "timeout";
        /// Something happens for no reason that correct programs must stand: see [`crate::fault`].
        Spurious = 3, "spurious";
        /// A value from outside.
        Value = 4, "value";
        /// Which store an atomic load sees, or before which newer ones an atomic store comes. Only what is not plain is a segment:
        /// `path` is how many newer stores were not seen (or come after), `events` how many events its strand has made in its segment by then.
        ReadsFrom = 5, "reads-from";
        /// A call fails: see [`crate::fault`].
        Fault = 6, "fault";
        /// One that the program asked for; 0 options stand for any value.
        Own = 7, "own";
    }
}

/// One stretch of one strand: the unit of a schedule.
///
/// A schedule is position-independent of the point mode: lengths count *events* (every hook the compiler's pass calls
/// and every interposed call), not points, so a schedule stays valid when other instructions become points.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// [`crate::strand::StrandPath`] of the strand; for a choice that is no strand, the option taken; for a fault, how many
    /// chances of its sort the strand had before.
    pub path: u64,
    /// Events the strand does before it stops; for other choices, the number of options; for a fault, its code.
    pub events: u64,
    /// The operation before which it stops, as module index (high 16 bits) and offset (low 48 bits): the fingerprint.
    pub stop: u64,
    /// A [`ChoiceKind`] code: `Strand`, `Timeout` (the strand goes on by its deadline) or another choice.
    pub kind: u8,
    /// The [`crate::op::OpKind`] before which it stops.
    pub op: u8,
    /// How it stopped: a [`StopKind`] code.
    pub how: u8,
    /// 1 if it stopped because it spins: no preemption, though `how` says so. A schedule does not keep it.
    pub spins: u8,
    /// The strand's index in the run that recorded it.
    pub strand: u16,
    /// Reserved, zero.
    pub reserved2: u16,
}

codes! {
    /// Why a strand stopped at the end of a segment.
    StopKind {
        /// It could have gone on.
        Preempted = 0, "preempted";
        /// It had to wait.
        Blocked = 1, "blocked";
        /// It ended.
        Ended = 2, "ended";
        /// The run ended.
        Final = 3, "final";
    }
}

const _: () = assert!(size_of::<Event>() == 32);
const _: () = assert!(size_of::<Segment>() == 32);
