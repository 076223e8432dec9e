//! The variants in C and C++.

use super::{Busy, Cell, Experiment, Through, Variant, Work, filled};
use crate::corpus::Language;

const HEAD: &str = r#"#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __cplusplus
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
typedef std::atomic<long> atomic_cell;
#define LOAD(cell, order) (cell).load(std::memory_order_##order)
#define STORE(cell, value, order) (cell).store(value, std::memory_order_##order)
#define ADD(cell, value) (cell).fetch_add(value, std::memory_order_relaxed)
#define STRAND std::thread
#define START(strand, function, argument) strand = std::thread(function, argument)
#define JOIN(strand) (strand).join()
#define MAKE(type) new type()
#else
#include <stdatomic.h>
typedef atomic_long atomic_cell;
#define LOAD(cell, order) atomic_load_explicit(&(cell), memory_order_##order)
#define STORE(cell, value, order) atomic_store_explicit(&(cell), value, memory_order_##order)
#define ADD(cell, value) atomic_fetch_add_explicit(&(cell), value, memory_order_relaxed)
#define STRAND pthread_t
#define START(strand, function, argument) pthread_create(&(strand), 0, function, argument)
#define JOIN(strand) pthread_join(strand, 0)
#define MAKE(type) ((type *)calloc(1, sizeof(type)))
#endif
#define APART __attribute__((noinline))
#define MOST 8
#define LONGEST 3000
static volatile long scratch[8];
static atomic_cell counters[8];
static volatile long guarded;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
#define BUSY_SHARED(n) for (int b_ = 0; b_ < (n) / 2; b_++) scratch[b_ & 7] = scratch[b_ & 7] + 1
#define BUSY_COUNTERS(n) for (int b_ = 0; b_ < (n); b_++) ADD(counters[b_ & 7], 1)
#define BUSY_LOCKED(n) for (int b_ = 0; b_ < (n) / 4; b_++) { pthread_mutex_lock(&guard); guarded = guarded + 1; pthread_mutex_unlock(&guard); }
#define BUSY_PRIVATE(n) do { volatile long own_[8] = {0}; for (int b_ = 0; b_ < (n); b_++) own_[b_ & 7] = b_; } while (0)
APART static void busy_shared(int n) { BUSY_SHARED(n); }
APART static void busy_counters(int n) { BUSY_COUNTERS(n); }
APART static void busy_locked(int n) { BUSY_LOCKED(n); }
APART static void busy_private(int n) { BUSY_PRIVATE(n); }
struct connection { volatile long stop; };
static struct connection pool[MOST];
"#;

/// A cell's type, and what reads and sets it.
fn cell(cell: Cell, language: Language) -> (&'static str, &'static str, &'static str) {
    let cxx = language == Language::Cxx;
    match cell {
        Cell::Plain => ("volatile long value;", "got = cell->value;", "cell->value = set;"),
        Cell::Atomic => {
            ("atomic_cell value;", "got = LOAD(cell->value, seq_cst);", "STORE(cell->value, set, seq_cst);")
        }
        Cell::Relaxed => {
            ("atomic_cell value;", "got = LOAD(cell->value, relaxed);", "STORE(cell->value, set, relaxed);")
        }
        Cell::Mutex if cxx => (
            "volatile long value; std::mutex lock;",
            "{ std::lock_guard<std::mutex> held(cell->lock); got = cell->value; }",
            "{ std::lock_guard<std::mutex> held(cell->lock); cell->value = set; }",
        ),
        Cell::Mutex => (
            "volatile long value; pthread_mutex_t lock;",
            "pthread_mutex_lock(&cell->lock); got = cell->value; pthread_mutex_unlock(&cell->lock);",
            "pthread_mutex_lock(&cell->lock); cell->value = set; pthread_mutex_unlock(&cell->lock);",
        ),
        Cell::ReadWrite if cxx => (
            "volatile long value; std::shared_mutex lock;",
            "{ std::shared_lock<std::shared_mutex> held(cell->lock); got = cell->value; }",
            "{ std::unique_lock<std::shared_mutex> held(cell->lock); cell->value = set; }",
        ),
        Cell::ReadWrite => (
            "volatile long value; pthread_rwlock_t lock;",
            "pthread_rwlock_rdlock(&cell->lock); got = cell->value; pthread_rwlock_unlock(&cell->lock);",
            "pthread_rwlock_wrlock(&cell->lock); cell->value = set; pthread_rwlock_unlock(&cell->lock);",
        ),
        Cell::Spin => (
            "volatile long value; pthread_spinlock_t lock;",
            "pthread_spin_lock(&cell->lock); got = cell->value; pthread_spin_unlock(&cell->lock);",
            "pthread_spin_lock(&cell->lock); cell->value = set; pthread_spin_unlock(&cell->lock);",
        ),
    }
}

/// How a fork is taken and given back.
fn fork(cell: Cell, language: Language) -> (&'static str, &'static str) {
    match (cell, language) {
        (Cell::Spin, _) => ("pthread_spin_lock(&cell->lock);", "pthread_spin_unlock(&cell->lock);"),
        (_, Language::Cxx) => ("cell->lock.lock();", "cell->lock.unlock();"),
        (Cell::ReadWrite, _) => {
            ("pthread_rwlock_wrlock(&cell->lock);", "pthread_rwlock_unlock(&cell->lock);")
        }
        _ => ("pthread_mutex_lock(&cell->lock);", "pthread_mutex_unlock(&cell->lock);"),
    }
}

fn initial(variant: &Variant) -> &'static str {
    match (variant.cell, variant.language) {
        (Cell::Spin, _) => "pthread_spin_init(&state$->cells[i].lock, 0);",
        (Cell::Mutex, Language::C) => "pthread_mutex_init(&state$->cells[i].lock, 0);",
        (Cell::ReadWrite, Language::C) => "pthread_rwlock_init(&state$->cells[i].lock, 0);",
        _ => "",
    }
}

fn work(busy: Busy) -> String {
    let name = match busy.work {
        Work::Shared => "shared",
        Work::Counters => "counters",
        Work::Locked => "locked",
        Work::Private => "private",
    };
    match busy.accesses {
        0 => String::new(),
        accesses if busy.apart => format!("busy_{name}({accesses});"),
        accesses => format!("BUSY_{}({accesses});", name.to_uppercase()),
    }
}

/// What a strand does, and what the main one does between start and join, and after it.
fn bodies(experiment: Experiment) -> (&'static str, &'static str, &'static str) {
    match experiment {
        Experiment::Flag => (
            "$BEFORE if (!GET$(0)) { $INSIDE SET$(0, 1); ADD(claims$, 1); } $AFTER",
            "for (long i = 0; i < $N; i++) START(strands[i], strand$, (void *)i);",
            "assert(LOAD(claims$, seq_cst) == 1);",
        ),
        Experiment::Money => (
            "for (int i = 0; i < 4; i++) { $BEFORE SET$(2 * self, GET$(2 * self) - 5); $INSIDE SET$(2 * self + 1, GET$(2 * self + 1) + 5); $AFTER }",
            "for (long i = 0; i < $N; i++) START(strands[i], strand$, (void *)i);
             for (int round = 0; round < 5; round++) { usleep(100); long sum = 0; for (int i = 0; i < 2 * $N; i++) sum += GET$(i); assert(sum == 0); }",
            "",
        ),
        Experiment::Notify => (
            "$BEFORE while (!GET$(0)) sched_yield(); assert(GET$(1)); $AFTER",
            "for (long i = 0; i < $N; i++) START(strands[i], strand$, (void *)i);
             $BEFORE SET$(0, 1); $INSIDE SET$(1, 7); $AFTER",
            "",
        ),
        Experiment::Parameter => (
            "$BEFORE assert(GET$(self)); $AFTER",
            "for (long i = 0; i < $N; i++) { START(strands[i], strand$, (void *)i); $INSIDE SET$(i, 1); }",
            "",
        ),
        Experiment::Philosophers => (
            "for (int i = 0; i < 3; i++) { $BEFORE TAKE$(self); $INSIDE TAKE$((self + 1) % $N); GIVE$((self + 1) % $N); GIVE$(self); $AFTER }",
            "for (long i = 0; i < $N; i++) START(strands[i], strand$, (void *)i);",
            "",
        ),
        Experiment::Worker => (
            "$BEFORE SET$(self, (long)&pool[self]); $INSIDE SET$(self, 0); $AFTER",
            "for (long i = 0; i < $N; i++) START(strands[i], strand$, (void *)i);
             for (int round = 0; round < 4; round++) { $BEFORE for (int i = 0; i < $N; i++) if (GET$(i)) ((struct connection *)GET$(i))->stop = 1; }",
            "",
        ),
    }
}

fn one(variant: &Variant) -> String {
    let number = variant.number;
    let (members, get, set) = cell(variant.cell, variant.language);
    let (take, give) = fork(variant.cell, variant.language);
    let (strand, during, over) = bodies(variant.experiment);
    let mut text = format!("\n// {}\n", variant.describe());
    text += &format!("struct cell$ {{ {members} }};\nstruct state$ {{ struct cell$ cells[2 * MOST]; }};\n");
    text += "static struct state$ global$, *state$ = &global$;\nstatic atomic_cell claims$;\n";
    if variant.experiment == Experiment::Philosophers {
        text += &accessor(variant.through, "take", "void", "", take);
        text += &accessor(variant.through, "give", "void", "", give);
        text += "#define TAKE$(n) take$(&state$->cells[n])\n#define GIVE$(n) give$(&state$->cells[n])\n";
    } else {
        text += &accessor(variant.through, "get", "long", "", get);
        text += &accessor(variant.through, "put", "void", ", long set", set);
        text += "#define GET$(n) get$(&state$->cells[n])\n#define SET$(n, v) put$(&state$->cells[n], v)\n";
    }
    text += &format!(
        "static void *strand$(void *argument) {{\n  long self = (long)argument; (void)self;\n  {strand}\n  return 0;\n}}\n"
    );
    let heap = if variant.heap { "state$ = MAKE(struct state$);" } else { "" };
    text += &format!(
        "static void run$(void) {{\n  STRAND strands[$N];\n  {heap}\n  for (int i = 0; i < 2 * MOST; i++) {{ (void)i; {} }}\n  {during}\n  for (int i = 0; i < $N; i++) JOIN(strands[i]);\n  {over}\n}}\n",
        initial(variant),
    );
    let [before, inside, after] = variant.busy.map(work);
    let words = [
        ("BEFORE", before),
        ("INSIDE", inside),
        ("AFTER", after),
        ("N", variant.strands.to_string()),
        ("", format!("_{number}")),
    ];
    filled(&text, &words)
}

/// A macro, or a function, that does something with a cell.
fn accessor(through: Through, name: &str, result: &str, more: &str, does: &str) -> String {
    let (begin, end) = if result == "long" { ("long got; ", " return got;") } else { ("", "") };
    match (through, result) {
        (Through::Macro, "long") => {
            format!(
                "#define {name}$(c) __extension__({{ struct cell$ *cell = (c); long got; {does} got; }})\n"
            )
        }
        (Through::Macro, _) => {
            let argument = if more.is_empty() { "(c)" } else { "(c, v)" };
            let set = if more.is_empty() { "" } else { "long set = (v);" };
            format!("#define {name}${argument} do {{ struct cell$ *cell = (c); {set} {does} }} while (0)\n")
        }
        (Through::Inline, _) => format!(
            "static inline __attribute__((always_inline)) {result} {name}$(struct cell$ *cell{more}) {{ {begin}{does}{end} }}\n"
        ),
        (Through::Call, _) => {
            format!("APART static {result} {name}$(struct cell$ *cell{more}) {{ {begin}{does}{end} }}\n")
        }
    }
}

pub(super) fn source(variants: &[&Variant], language: Language) -> String {
    let mut text = HEAD.to_owned();
    for variant in variants.iter().filter(|variant| variant.language == language) {
        text += &one(variant);
    }
    text += "\nint main(int count, char **arguments) {\n  (void)busy_shared, (void)busy_counters, (void)busy_locked, (void)busy_private, (void)pool;\n  switch (count > 1 ? atoi(arguments[1]) : -1) {\n";
    for variant in variants {
        text += &format!("  case {0}: run_{0}(); return 0;\n", variant.number);
    }
    text + "  }\n  return 2;\n}\n"
}
