//! Functions whose effect is known by name: locks, strands, memory.
//!
//! C's are imports. Those of Rust's std are functions of the program itself, known by their path; the fast path of its `Mutex` is
//! inlined, and only the slow one has a name (`lock_contended`), which says that the exchange before it was one of a lock.

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Takes the lock at an argument.
    Lock { argument: usize, shared: bool, word: bool },
    /// Takes it if it gives back 0.
    TryLock { argument: usize, shared: bool },
    /// Gives it back.
    Unlock { argument: usize, word: bool },
    /// Gives the lock back, waits, takes it again.
    Wait { lock: usize },
    /// The same with a lock that is behind an argument.
    WaitBehind,
    /// Gives a new block of memory.
    Allocate,
    /// Makes a strand that begins at one argument and gets another.
    Create { entry: usize, argument: usize, id: Option<usize> },
    /// Waits for a strand's end.
    Join { id: usize },
    /// Waits for others at a barrier.
    Barrier,
    /// Calls the function at an argument, at most once.
    Once { entry: usize },
    /// Calls the function at an argument, later or now.
    Calls { entry: usize },
    /// Touches nothing of the program's that matters here.
    Harmless,
    /// Does not come back.
    Never,
}

/// What a function of this name does.
pub(crate) fn named(name: &str) -> Option<Known> {
    let lock = |shared| Known::Lock { argument: 0, shared, word: false };
    let unlock = Known::Unlock { argument: 0, word: false };
    Some(match name {
        "pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock" | "pthread_rwlock_wrlock" => lock(false),
        "pthread_rwlock_rdlock" => lock(true),
        "pthread_mutex_trylock"
        | "pthread_spin_trylock"
        | "mtx_trylock"
        | "pthread_rwlock_trywrlock"
        | "pthread_mutex_timedlock"
        | "pthread_mutex_clocklock"
        | "mtx_timedlock"
        | "pthread_rwlock_timedwrlock"
        | "pthread_rwlock_clockwrlock" => Known::TryLock { argument: 0, shared: false },
        "pthread_rwlock_tryrdlock" | "pthread_rwlock_timedrdlock" | "pthread_rwlock_clockrdlock" => {
            Known::TryLock { argument: 0, shared: true }
        }
        "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" | "pthread_rwlock_unlock" => unlock,
        "pthread_cond_wait"
        | "pthread_cond_timedwait"
        | "pthread_cond_clockwait"
        | "cnd_wait"
        | "cnd_timedwait" => Known::Wait { lock: 1 },
        _ if name.starts_with("_ZNSt18condition_variable4wait") => Known::WaitBehind,
        "malloc"
        | "calloc"
        | "aligned_alloc"
        | "memalign"
        | "valloc"
        | "strdup"
        | "_Znwm"
        | "_Znam"
        | "_ZnwmSt11align_val_t"
        | "_ZnamSt11align_val_t"
        | "_ZnwmRKSt9nothrow_t"
        | "_ZnamRKSt9nothrow_t"
        | "__cxa_allocate_exception" => Known::Allocate,
        "pthread_create" => Known::Create { entry: 2, argument: 3, id: Some(0) },
        "thrd_create" => Known::Create { entry: 1, argument: 2, id: Some(0) },
        "pthread_join" | "thrd_join" | "pthread_timedjoin_np" | "pthread_clockjoin_np" => {
            Known::Join { id: 0 }
        }
        "_ZNSt6thread4joinEv" => Known::Join { id: 0 },
        "pthread_barrier_wait" => Known::Barrier,
        "pthread_once" | "call_once" => Known::Once { entry: 1 },
        "qsort" | "qsort_r" => Known::Calls { entry: 3 },
        "bsearch" => Known::Calls { entry: 4 },
        "atexit" | "__cxa_atexit" | "on_exit" | "at_quick_exit" | "__cxa_thread_atexit" => {
            Known::Calls { entry: 0 }
        }
        "signal" => Known::Calls { entry: 1 },
        "abort"
        | "exit"
        | "_exit"
        | "_Exit"
        | "quick_exit"
        | "__assert_fail"
        | "__stack_chk_fail"
        | "pthread_exit"
        | "thrd_exit"
        | "__cxa_throw"
        | "__cxa_rethrow"
        | "_Unwind_Resume"
        | "__cxa_throw_bad_array_new_length"
        | "_ZSt9terminatev"
        | "__clang_call_terminate"
        | "longjmp"
        | "siglongjmp" => Known::Never,
        _ if name.starts_with("_ZSt") && name.contains("__throw_") => Known::Never,
        "free"
        | "_ZdlPv"
        | "_ZdlPvm"
        | "_ZdaPv"
        | "_ZdaPvm"
        | "_ZdlPvSt11align_val_t"
        | "printf"
        | "puts"
        | "putchar"
        | "__printf_chk"
        | "fprintf"
        | "__fprintf_chk"
        | "fflush"
        | "fwrite"
        | "fputs"
        | "fputc"
        | "usleep"
        | "sleep"
        | "nanosleep"
        | "sched_yield"
        | "thrd_yield"
        | "thrd_sleep"
        | "pthread_self"
        | "pthread_equal"
        | "abs"
        | "rand"
        | "getpid"
        | "strlen"
        | "strcmp"
        | "strncmp"
        | "memcmp"
        | "bcmp"
        | "atoi"
        | "pthread_cond_signal"
        | "pthread_cond_broadcast"
        | "cnd_signal"
        | "cnd_broadcast"
        | "sem_post"
        | "sem_wait"
        | "sem_trywait"
        | "sem_init"
        | "sem_destroy"
        | "pthread_mutex_init"
        | "pthread_mutex_destroy"
        | "pthread_cond_init"
        | "pthread_cond_destroy"
        | "pthread_barrier_init"
        | "pthread_barrier_destroy"
        | "pthread_detach"
        | "pthread_rwlock_init"
        | "pthread_rwlock_destroy"
        | "pthread_spin_init"
        | "pthread_spin_destroy"
        | "mtx_init"
        | "mtx_destroy"
        | "cnd_init"
        | "cnd_destroy"
        | "thrd_detach"
        | "__cxa_begin_catch"
        | "__cxa_end_catch"
        | "__cxa_free_exception"
        | "__cxa_guard_acquire"
        | "__cxa_guard_release"
        | "_ZNSt6thread6_StateD2Ev"
        | "__errno_location"
        | "clock_gettime"
        | "time"
        | "syscall" => Known::Harmless,
        _ => return rust(name),
    })
}

/// Rust's allocator, locks and panics, by the mangled path.
pub(crate) fn rust(name: &str) -> Option<Known> {
    let has = |word: &str| name.contains(word);
    if has("__rust_alloc") || has("___rust_alloc_zeroed") || has("exchange_malloc") {
        return Some(Known::Allocate);
    }
    if has("__rust_dealloc") || has("__rust_no_alloc_shim_is_unstable") {
        return Some(Known::Harmless);
    }
    let word = |shared| Known::Lock { argument: 0, shared, word: true };
    let futex_mutex =
        has("5mutex5futex5Mutex") || has("5mutex5futexNtB") || (has("5mutex5futex") && has("5Mutex"));
    if futex_mutex {
        if has("14lock_contended")
            || has("5Mutex4lock17h")
            || name.ends_with("5Mutex4lock")
            || has("B0_4lock")
        {
            return Some(word(false));
        }
        if has("5Mutex6unlock17h") || name.ends_with("5Mutex6unlock") {
            return Some(Known::Unlock { argument: 0, word: true });
        }
        if has("4wake") {
            return Some(Known::Harmless);
        }
    }
    let panics = [
        "core9panicking",
        "4core9panicking",
        "6result13unwrap_failed",
        "6option13unwrap_failed",
        "6option13expect_failed",
        "9panicking11begin_panic",
        "9panicking15begin_panic_handler",
        "5alloc18handle_alloc_error",
    ];
    panics.iter().any(|word| has(word)).then_some(Known::Never)
}

/// Whether a function is the slow path of a word's lock: the exchange before it was its fast path.
pub(crate) fn is_contended(name: &str) -> bool {
    name.contains("14lock_contended") && name.contains("5mutex5futex")
}

/// The argument at which the lock is that a function of Rust's std has taken when it comes back, whatever is inside it.
///
/// Unoptimised code makes the exchange in a function of its own, out of which no lock can be told.
pub(crate) fn rust_takes(name: &str) -> Option<usize> {
    let legacy = name.contains("4sync6poison5mutex") && name.contains("Mutex$LT$T$GT$4lock17h");
    let v0 =
        name.starts_with("_R") && name.contains("4sync6poison5mutexINtB") && name.contains("5MutexE4lock");
    (legacy || v0).then_some(1)
}
