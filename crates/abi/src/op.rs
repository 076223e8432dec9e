//! The operations a strand can be about to do.

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[repr(u8)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant = $code,)* }

        impl $name {
            /// All values, in code order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The value with this code, if there is one.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }

            /// The word a user reads.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value with this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}
pub(crate) use codes;

codes! {
    /// What kind of operation a point is. `addr` of the point names the object it concerns.
    OpKind {
        /// A strand that has not made a point yet.
        Start = 0, "start";
        /// A plain read of `size` bytes.
        Read = 1, "read";
        /// A plain write of `size` bytes.
        Write = 2, "write";
        /// A plain read and write of the same place by one instruction.
        ReadWrite = 3, "read-write";
        /// A plain read of a range (memcpy source, string functions).
        ReadRange = 4, "read-range";
        /// A plain write of a range (memcpy target, memset).
        WriteRange = 5, "write-range";
        /// An atomic load.
        AtomicLoad = 8, "atomic-load";
        /// An atomic store.
        AtomicStore = 9, "atomic-store";
        /// An atomic read-modify-write that always writes.
        AtomicRmw = 10, "atomic-rmw";
        /// An atomic compare-and-exchange.
        AtomicCas = 11, "atomic-cas";
        /// An atomic thread fence.
        Fence = 12, "fence";
        /// Locking a mutex, waiting if need be.
        MutexLock = 16, "lock";
        /// Trying to lock a mutex.
        MutexTryLock = 17, "try-lock";
        /// Locking a mutex with a deadline.
        MutexTimedLock = 18, "timed-lock";
        /// Unlocking a mutex.
        MutexUnlock = 19, "unlock";
        /// Waiting on a condition variable (releases the mutex).
        CondWait = 20, "cond-wait";
        /// Waiting on a condition variable with a deadline.
        CondTimedWait = 21, "cond-timed-wait";
        /// Signalling one waiter of a condition variable.
        CondSignal = 22, "cond-signal";
        /// Waking all waiters of a condition variable.
        CondBroadcast = 23, "cond-broadcast";
        /// Locking a read-write lock for reading.
        ReadLock = 24, "read-lock";
        /// Trying to lock a read-write lock for reading.
        ReadTryLock = 25, "try-read-lock";
        /// Locking a read-write lock for writing.
        WriteLock = 26, "write-lock";
        /// Trying to lock a read-write lock for writing.
        WriteTryLock = 27, "try-write-lock";
        /// Unlocking a read-write lock.
        RwUnlock = 28, "rw-unlock";
        /// Locking a spin lock.
        SpinLock = 29, "spin-lock";
        /// Trying to lock a spin lock.
        SpinTryLock = 30, "try-spin-lock";
        /// Unlocking a spin lock.
        SpinUnlock = 31, "spin-unlock";
        /// Arriving at a barrier.
        BarrierWait = 32, "barrier-wait";
        /// Waiting for a semaphore.
        SemWait = 33, "sem-wait";
        /// Trying to take a semaphore.
        SemTryWait = 34, "sem-try-wait";
        /// Posting a semaphore.
        SemPost = 35, "sem-post";
        /// Entering a once-initialisation.
        Once = 36, "once";
        /// Waiting on a futex word.
        FutexWait = 37, "futex-wait";
        /// Waking waiters of a futex word.
        FutexWake = 38, "futex-wake";
        /// Unlocking a read-write lock that was locked for reading.
        ReadUnlock = 39, "read-unlock";
        /// Creating a strand; `addr` is the new strand's index.
        Create = 40, "create";
        /// Waiting for a strand's end; `addr` is its index.
        Join = 41, "join";
        /// The end of a strand.
        Exit = 42, "exit";
        /// Detaching a strand; `addr` is its index.
        Detach = 43, "detach";
        /// Asking a strand to cancel; `addr` is its index.
        Cancel = 44, "cancel";
        /// Asking whether a strand has ended; `addr` is its index.
        TryJoin = 45, "try-join";
        /// Waiting for a strand's end with a deadline; `addr` is its index.
        TimedJoin = 46, "timed-join";
        /// Giving way to others.
        Yield = 48, "yield";
        /// Sleeping until a time.
        Sleep = 49, "sleep";
        /// Reading a clock.
        Clock = 50, "clock";
        /// A system call that does input or output; `addr` is the file descriptor.
        Io = 51, "io";
        /// Waiting until a file descriptor is ready.
        IoWait = 52, "io-wait";
        /// Sending or waiting for a signal; `addr` is its number.
        Signal = 53, "signal";
        /// A spinning strand that waits for memory to change.
        SpinWait = 54, "spin-wait";
        /// An annotation of the program (`__tsan_acquire` and the like).
        Annotate = 55, "annotate";
        /// Allocating memory; `addr` is the block.
        Alloc = 56, "alloc";
        /// Freeing memory; `addr` is the block.
        Free = 57, "free";
        /// Asking for the end of the process (`exit`, the return of `main`): the handlers come next.
        Quit = 58, "exit-call";
        /// The end of the process, after its handlers: what other strands have not done by then is never done.
        End = 59, "process-end";
        /// Making an object of synchronisation.
        Init = 60, "init";
        /// Destroying an object of synchronisation.
        Destroy = 61, "destroy";
        /// A call that looks at a state which libc keeps out of sight; `addr` is a stream's address or a number of [`state`].
        StateRead = 62, "state-read";
        /// A call that changes such a state.
        StateWrite = 63, "state-write";
        /// The strand begins something in which nobody else goes on.
        Region = 64, "atomic-begin";
    }
}

impl OpKind {
    /// Whether the operation is a plain (not atomic) access to memory.
    pub const fn is_plain_access(self) -> bool {
        (self as u8) >= OpKind::Read as u8 && (self as u8) <= OpKind::WriteRange as u8
    }

    /// Whether the operation is an atomic access to memory.
    pub const fn is_atomic_access(self) -> bool {
        (self as u8) >= OpKind::AtomicLoad as u8 && (self as u8) <= OpKind::AtomicCas as u8
    }

    /// For operations that change their object or only look at it, by what they find: the word of it that tells which, by its
    /// place in the object, and its bytes; of accesses `size` is known to the operation only.
    pub const fn deciding_word(self, size: u32) -> Option<(u64, u32)> {
        match self {
            OpKind::AtomicCas | OpKind::AtomicRmw if size <= 8 => Some((0, size)),
            OpKind::MutexTryLock | OpKind::SpinTryLock | OpKind::SemTryWait => Some((0, 4)),
            OpKind::WriteTryLock => Some((24, 4)),
            _ => None,
        }
    }

    /// Whether nobody can tell whether the operation was made.
    pub const fn is_quiet(self) -> bool {
        matches!(
            self,
            OpKind::Start
                | OpKind::Exit
                | OpKind::Detach
                | OpKind::Fence
                | OpKind::Yield
                | OpKind::Sleep
                | OpKind::Clock
                | OpKind::SpinWait
                | OpKind::Alloc
        )
    }

    /// Whether `addr` of the operation is an address in memory, not an index or a number.
    pub const fn has_memory_address(self) -> bool {
        (self as u8) < OpKind::Fence as u8 && (self as u8) >= OpKind::Read as u8
            || (self as u8) >= OpKind::MutexLock as u8 && (self as u8) <= OpKind::ReadUnlock as u8
            || matches!(self, OpKind::SpinWait | OpKind::Annotate | OpKind::Alloc | OpKind::Free)
            || (self as u8) >= OpKind::Init as u8 && (self as u8) <= OpKind::StateWrite as u8
    }
}

/// States that libc keeps out of sight, by numbers in the page that no program has.
pub mod state {
    macro_rules! states {
        ($($name:ident = $number:literal, $text:literal;)*) => {
            $(
                #[doc = $text]
                pub const $name: u64 = $number;
            )*

            /// The state in words.
            pub const fn name(number: u64) -> Option<&'static str> {
                match number {
                    $($number => Some($text),)*
                    _ => None,
                }
            }
        };
    }

    states! {
        RANDOM = 0x100, "the state of `rand`";
        RANDOM48 = 0x108, "the state of `drand48`";
        ENVIRONMENT = 0x110, "the environment";
        TOKENS = 0x118, "the state of `strtok`";
        CALENDAR = 0x120, "the buffer of `localtime`";
        LOCALE = 0x128, "the locale";
        ACCOUNTS = 0x130, "the buffer of `getpwnam`";
        HOSTS = 0x138, "the buffer of `gethostbyname`";
        OPTIONS = 0x140, "the state of `getopt`";
        TABLE = 0x148, "the table of `hsearch`";
        FOLDER = 0x150, "the working directory";
        MASK = 0x158, "the file mode mask";
        NAMES = 0x160, "the buffer of `ttyname`";
        DIGITS = 0x168, "the buffer of `ecvt`";
        SHIFT = 0x170, "the shift state of `mbtowc`";
        STREAMS = 0x178, "all streams";
        KEYS = 0x180, "the numbers of keys";
        TIMERS = 0x188, "the numbers of timers";
        MAPPINGS = 0x190, "where memory is mapped";
        SYSTEM = 0x198, "the numbers of shared memory, queues and semaphores";
    }
}

codes! {
    /// The memory order of an atomic operation, in C11's numbering.
    Order {
        /// No ordering.
        Relaxed = 0, "relaxed";
        /// Treated as acquire.
        Consume = 1, "consume";
        /// Sees what the matching release published.
        Acquire = 2, "acquire";
        /// Publishes what came before.
        Release = 3, "release";
        /// Both.
        AcqRel = 4, "acq_rel";
        /// Both, in one total order.
        SeqCst = 5, "seq_cst";
    }
}

impl Order {
    /// Whether what the matching release published is seen.
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Consume | Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether what came before is published.
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

/// The operation a strand stands before: published at the point, read by strategies and planners.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// What it is.
    pub kind: OpKind,
    /// The memory order, for atomics.
    pub order: Order,
    /// Bytes concerned, or a count for wakes.
    pub size: u32,
    /// The object: an address, or what [`OpKind`] says.
    pub addr: u64,
    /// The return address into the program: names the instruction.
    pub pc: u64,
}

impl Op {
    /// An operation without size or order.
    pub const fn new(kind: OpKind, addr: u64, pc: u64) -> Self {
        Op { kind, order: Order::SeqCst, size: 0, addr, pc }
    }
}
