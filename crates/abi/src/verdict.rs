//! What a run was found to be.

use crate::op::codes;

codes! {
    /// The verdict the runtime itself gives; the driver adds those it sees from outside (exit code, signal, timeout).
    VerdictKind {
        /// Nothing said yet.
        None = 0, "none";
        /// An assertion of the program failed (`__assert_fail` and friends).
        Assertion = 1, "assertion";
        /// The program got a fatal signal.
        Crash = 2, "crash";
        /// The program ended with a code other than 0.
        Exit = 3, "exit";
        /// A data race.
        Race = 4, "race";
        /// No strand can go on.
        Deadlock = 5, "deadlock";
        /// Strands go on, and nothing can change.
        Livelock = 6, "livelock";
        /// Freed memory was used.
        UseAfterFree = 7, "use-after-free";
        /// Memory was freed twice.
        DoubleFree = 8, "double-free";
        /// The run took longer than it may.
        Timeout = 9, "timeout";
        /// Something was freed that was not allocated.
        InvalidFree = 10, "invalid-free";
        /// A strand used more stack than it has.
        StackOverflow = 11, "stack-overflow";
        /// A replay left its schedule.
        Divergence = 12, "divergence";
        /// A panic that is no assertion.
        Panic = 13, "panic";
        /// The runtime cannot go on (too many strands, out of memory): Threadbare's fault, not the program's.
        Internal = 14, "internal";
        /// Memory outside an allocated block was used.
        HeapOverflow = 15, "heap-overflow";
        /// The stack of a strand that has ended was used.
        StackUseAfterEnd = 16, "stack-use-after-end";
        /// The program has more memory than it may.
        OutOfMemory = 17, "out-of-memory";
        /// A mutex or its kind was used after it had been destroyed.
        UseAfterDestroy = 18, "use-after-destroy";
        /// Memory was left at the end that nothing points to.
        Leak = 19, "leak";
    }
}

/// The code of a livelock that is one because the run made more points than it may.
pub const BY_POINTS: i32 = 1;
