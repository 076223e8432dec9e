//! The programs that strategies are measured on.

/// A program with its argument and the bound on runs.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// Its file under `tests/programs`.
    pub(crate) file: &'static str,
    pub(crate) args: &'static [&'static str],
    pub(crate) most: u64,
    /// The runs that the default may need, in the mean over 20 seeds.
    pub(crate) limit: Option<u64>,
}

const fn classic(file: &'static str, args: &'static [&'static str], limit: u64) -> Case {
    Case { file, args, most: 300, limit: Some(limit) }
}

const fn other(file: &'static str) -> Case {
    Case { file, args: &[], most: 300, limit: None }
}

impl Case {
    /// A program of the corpus that is not searched for a bug.
    pub(crate) fn of(file: &'static str) -> Self {
        other(file)
    }

    /// Its name in tables, which is also a word that asks for it.
    pub(crate) fn name(&self) -> &'static str {
        let file = self.file.strip_prefix("search/").unwrap_or(self.file);
        file.strip_suffix(".c").unwrap_or(file)
    }

    /// The name with the arguments.
    pub(crate) fn label(&self) -> String {
        [&[self.name()], self.args].concat().join(" ")
    }
}

/// A program that a planner goes through to the end, and its classes.
pub(crate) const fn whole(file: &'static str, args: &'static [&'static str], classes: u64) -> (Case, u64) {
    (Case { file, args, most: 200_000, limit: None }, classes)
}

/// The programs of the literature that every class is counted of.
pub(crate) const WHOLE: &[(Case, u64)] = &[
    whole("planner/script.c", &["W0", "W0", "W0", "W0", "W0"], 120),
    whole("planner/script.c", &["W0", "W0", "W0", "W0", "W0", "W0"], 720),
    whole("planner/indexer.c", &["12"], 8),
    whole("planner/indexer.c", &["15"], 4096),
    whole("planner/filesystem.c", &["14"], 2),
    whole("planner/filesystem.c", &["20"], 128),
    whole("planner/lastzero.c", &["5"], 64),
    whole("planner/lastzero.c", &["10"], 3328),
    whole("planner/fib_bench.c", &["3"], 141),
    whole("planner/exclusion.c", &["peterson"], 4),
    whole("planner/exclusion.c", &["dekker"], 4),
    whole("planner/exclusion.c", &["lamport"], 9),
    whole("planner/exclusion.c", &["szymanski"], 29),
];

/// The programs of the literature, our own versions.
pub(crate) const CLASSIC: &[Case] = &[
    classic("search/reorder.c", &["3"], 10),
    classic("search/reorder.c", &["5"], 10),
    classic("search/reorder.c", &["10"], 10),
    classic("search/reorder.c", &["20"], 10),
    classic("search/reorder.c", &["50"], 10),
    classic("search/reorder.c", &["100"], 10),
    classic("search/twostage.c", &["20"], 25),
    classic("search/twostage.c", &["50"], 40),
    classic("search/twostage.c", &["100"], 60),
    classic("search/bluetooth.c", &[], 30),
    classic("search/string_buffer.c", &[], 30),
    classic("search/work_stealing.c", &[], 30),
    classic("search/token_ring.c", &[], 30),
    classic("search/abba.c", &[], 30),
    classic("search/three_cycle.c", &[], 30),
    classic("search/wrong_lock.c", &["1"], 30),
    classic("search/wrong_lock.c", &["3"], 30),
    classic("search/circular_buffer.c", &[], 30),
    classic("search/lazy_init.c", &[], 30),
    classic("search/account.c", &[], 30),
    classic("search/philosophers.c", &["5"], 30),
    classic("search/philosophers.c", &["7"], 30),
    classic("search/two_condvars.c", &[], 30),
];

/// The failing programs of the corpus for which `random` needs more than five runs in the mean; one where several languages have
/// the same.
pub(crate) const CORPUS: &[Case] = &[
    other("atomics/aba.c"),
    other("atomics/peterson_swapped.c"),
    other("atomics/seqlock_odd.cc"),
    other("cancel/leaked_lock.c"),
    other("check-then-act/entry.rs"),
    other("check-then-act/slot.c"),
    other("condvar/if_not_while.c"),
    other("condvar/lost_wakeup.c"),
    other("condvar/one_condvar.rs"),
    other("cxx/virtual_in_constructor.cc"),
    other("deadlock/barrier_too_few.c"),
    other("deadlock/partial_third_runs.c"),
    other("deadlock/philosophers.cc"),
    other("deadlock/three_cycle.c"),
    other("futex/no_waiters_bit.c"),
    other("io/pipe_deadlock.c"),
    other("lifecycle/missing_join.cc"),
    other("lifecycle/use_after_join.rs"),
    other("lost-update/counter_atomic.cc"),
    other("memory/grown_table.c"),
    other("memory/null_crash.c"),
    other("memory/observer.cc"),
    other("memory/signal_after_unlock.c"),
    other("once/double_checked.cc"),
    other("rwlock/upgrade.rs"),
    other("semaphore/early_exit.cc"),
    other("spin/livelock.c"),
    other("spin/spin_lock_plain_unlock.c"),
    other("timed/giveup.c"),
    other("timed/recv_timeout.rs"),
    other("timed/sleep_sync.c"),
    other("timed/timeout_means_no.c"),
    other("torn/pair.c"),
    other("torn/publish.c"),
    other("torn/transfer.cc"),
];

/// The stack whose bug takes three strands and seven preemptions.
pub(crate) const RARE: Case = Case { file: "search/safestack.c", args: &[], most: 400_000, limit: None };

/// Programs whose bug needs more than two dependencies between strands, or something that is no dependency of accesses or locks, and what it needs: `idioms` need not find it.
pub(crate) const BEYOND: &[(&str, &str)] = &[
    ("three_cycle", "three strands wait for each other: three orders of locks"),
    ("philosophers", "all strands wait for each other: an order of locks for each"),
    ("deadlock/three_cycle", "three strands wait for each other: three orders of locks"),
    ("deadlock/philosophers.cc", "all five strands wait for each other: five orders of locks"),
    (
        "atomics/peterson_swapped",
        "four: the stores of `turn`, one's look at `wants` before the other's store, and both updates of `inside` before the first leaves it",
    ),
    (
        "cancel/leaked_lock",
        "one order, of a cancellation and the sleep that it ends, behind a sleep that ends before a shorter one: neither is an access, and idioms have accesses and locks only",
    ),
    (
        "condvar/if_not_while",
        "three, of three strands: one finds nothing before an item is put, the second takes that item behind it, and the first goes on behind the second",
    ),
    (
        "futex/no_waiters_bit",
        "four, of three strands: taken, one waits, the next finds that and waits, given back behind both; who is woken then takes it as if nobody waited",
    ),
    (
        "spin/spin_lock_plain_unlock",
        "four, of three strands: taken between the two stores (two), and taken by the third behind them, inside before the second leaves (two)",
    ),
];
