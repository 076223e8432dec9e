// A referee for the table of terms: hooks that know who wrote every byte last.
//
// One strand runs at a time. It gives way at every hook, so an access is made before anybody else goes on, and what is
// noted is what happened. At the end every pair of a read and the write that it saw is printed, by return address.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
typedef uintptr_t word;
#define PC ((word)__builtin_return_address(0))
#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static volatile int turn;
static __thread int holds;
static __thread word stack_from, stack_to, strand;
static word strands;
static unsigned long chance = 88172645463325252ul;
static void enter(void) { while (__atomic_exchange_n(&turn, 1, __ATOMIC_ACQUIRE)) sched_yield(); holds = 1; }
static void leave(void) { holds = 0; __atomic_store_n(&turn, 0, __ATOMIC_RELEASE); }
static void begin_strand(void) {
    pthread_attr_t attr; void *from; size_t size;
    if (!strand) strand = __atomic_add_fetch(&strands, 1, __ATOMIC_RELAXED);
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &from, &size);
    stack_from = (word)from, stack_to = (word)from + size;
    pthread_attr_destroy(&attr);
}
static void give_way(void) {
    if (!holds) return;
    chance ^= chance << 13, chance ^= chance >> 7, chance ^= chance << 17;
    if (chance % 4 == 0) {
        leave();
        if (chance % 64 == 0) { struct timespec t = {0, 50000}; REAL(nanosleep)(&t, 0); } else sched_yield();
        enter();
    }
}

// Who wrote a byte last: an open table.
enum { BYTES = 1 << 22, PAIRS = 1 << 16 };
static struct { word address; uint32_t pc; uint32_t strand; } *bytes;
static struct { uint32_t read, write, own, used; } pairs[PAIRS];
static word base;
static int find_base(struct dl_phdr_info *info, size_t size, void *out) { (void)size; *(word *)out = info->dlpi_addr; return 1; }
static long slot(word address) {
    for (word at = (address * 0x9e3779b97f4a7c15ul) >> 42;; at = (at + 1) % BYTES)
        if (bytes[at].address == address || !bytes[at].address) return (long)at;
}
static void pair(uint32_t read, uint32_t write, uint32_t own) {
    for (word at = (read * 31u + write * 7u + own) % PAIRS;; at = (at + 1) % PAIRS) {
        if (!pairs[at].used) { pairs[at].read = read, pairs[at].write = write, pairs[at].own = own, pairs[at].used = 1; return; }
        if (pairs[at].read == read && pairs[at].write == write && pairs[at].own == own) return;
    }
}
static int counts(word address) { return bytes && strand && (address < stack_from || address >= stack_to); }
static void saw(word address, word size, word pc) {
    for (word at = address; counts(address) && at < address + size; at++) {
        long found = slot(at);
        if (bytes[found].address && bytes[found].pc) pair(pc - base, bytes[found].pc, bytes[found].strand == strand);
        else pair(pc - base, 0, 0);
    }
}
static void wrote(word address, word size, word pc) {
    for (word at = address; counts(address) && at < address + size; at++) {
        long found = slot(at);
        bytes[found].address = at, bytes[found].pc = pc - base, bytes[found].strand = strand;
    }
}
__attribute__((constructor)) static void begin(void) {
    bytes = calloc(BYTES, sizeof *bytes);
    dl_iterate_phdr(find_base, &base);
    const char *seed = getenv("REFEREE_SEED");
    if (seed) chance ^= strtoul(seed, 0, 10) * 0x9e3779b97f4a7c15ul;
    begin_strand();
    enter();
}
__attribute__((destructor)) static void end(void) {
    const char *path = getenv("REFEREE_OUT");
    FILE *out = path ? fopen(path, "w") : 0;
    for (int at = 0; out && at < PAIRS; at++)
        if (pairs[at].used) fprintf(out, "%x %x %u\n", pairs[at].read, pairs[at].write, pairs[at].own);
    if (out) fclose(out);
}

void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}
#define PLAIN(prefix, size) \
    void __tsan_##prefix##read##size(word a) { give_way(); saw(a, size, PC); } \
    void __tsan_##prefix##write##size(word a) { give_way(); wrote(a, size, PC); } \
    void __tsan_##prefix##read_write##size(word a) { give_way(); saw(a, size, PC); wrote(a, size, PC); }
PLAIN(, 1) PLAIN(, 2) PLAIN(, 4) PLAIN(, 8) PLAIN(, 16)
PLAIN(unaligned_, 2) PLAIN(unaligned_, 4) PLAIN(unaligned_, 8) PLAIN(unaligned_, 16)
PLAIN(volatile_, 1) PLAIN(volatile_, 2) PLAIN(volatile_, 4) PLAIN(volatile_, 8) PLAIN(volatile_, 16)
void __tsan_vptr_read(word a) { give_way(); saw(a, 8, PC); }
void __tsan_vptr_update(word a, word v) { (void)v; give_way(); wrote(a, 8, PC); }
void __tsan_read_range(word a, word n) { give_way(); saw(a, n, PC); }
void __tsan_write_range(word a, word n) { give_way(); wrote(a, n, PC); }
static void move(char *to, const char *from, word n) {
    if (to < from) for (word i = 0; i < n; i++) ((volatile char *)to)[i] = from[i];
    else for (word i = n; i-- > 0;) ((volatile char *)to)[i] = from[i];
}
static int own_module(word pc) { return base && pc - base < (1ul << 28); }
#define MOVE(name) void *name(void *to, const void *from, word n) { \
    if (own_module(PC)) { give_way(); saw((word)from, n, PC); wrote((word)to, n, PC); } move(to, from, n); return to; }
MOVE(__tsan_memcpy) MOVE(__tsan_memmove) MOVE(memcpy) MOVE(memmove)
#define FILL(name) void *name(void *to, int c, word n) { \
    if (own_module(PC)) { give_way(); wrote((word)to, n, PC); } for (word i = 0; i < n; i++) ((volatile char *)to)[i] = (char)c; return to; }
FILL(__tsan_memset) FILL(memset)
#define UPDATE(bits, type, op, builtin) \
    type __tsan_atomic##bits##_##op(type *p, type v, int o) { (void)o; give_way(); saw((word)p, sizeof v, PC); wrote((word)p, sizeof v, PC); return builtin(p, v, 5); }
#define ATOMIC(bits, type) \
    type __tsan_atomic##bits##_load(type *p, int o) { (void)o; give_way(); saw((word)p, sizeof *p, PC); return __atomic_load_n(p, 5); } \
    void __tsan_atomic##bits##_store(type *p, type v, int o) { (void)o; give_way(); wrote((word)p, sizeof v, PC); __atomic_store_n(p, v, 5); } \
    UPDATE(bits, type, exchange, __atomic_exchange_n) UPDATE(bits, type, fetch_add, __atomic_fetch_add) \
    UPDATE(bits, type, fetch_sub, __atomic_fetch_sub) UPDATE(bits, type, fetch_and, __atomic_fetch_and) \
    UPDATE(bits, type, fetch_or, __atomic_fetch_or) UPDATE(bits, type, fetch_xor, __atomic_fetch_xor) \
    UPDATE(bits, type, fetch_nand, __atomic_fetch_nand) \
    static int swap##bits(type *p, type *e, type v, word pc) { give_way(); saw((word)p, sizeof v, pc); \
        int done = __atomic_compare_exchange_n(p, e, v, 0, 5, 5); if (done) wrote((word)p, sizeof v, pc); return done; } \
    int __tsan_atomic##bits##_compare_exchange_strong(type *p, type *e, type v, int o, int f) { (void)o; (void)f; return swap##bits(p, e, v, PC); } \
    int __tsan_atomic##bits##_compare_exchange_weak(type *p, type *e, type v, int o, int f) { (void)o; (void)f; return swap##bits(p, e, v, PC); } \
    type __tsan_atomic##bits##_compare_exchange_val(type *p, type e, type v, int o, int f) { (void)o; (void)f; swap##bits(p, &e, v, PC); return e; }
ATOMIC(8, uint8_t) ATOMIC(16, uint16_t) ATOMIC(32, uint32_t) ATOMIC(64, uint64_t)
void __tsan_atomic_thread_fence(int o) { (void)o; __atomic_thread_fence(5); }
void __tsan_atomic_signal_fence(int o) { (void)o; }

// Whoever waits lets others go on.
#define WAITS(type, name, parameters, arguments) type name parameters { \
    int held_ = holds; if (held_) leave(); type done_ = REAL(name) arguments; int error_ = errno; if (held_) enter(); errno = error_; return done_; }
WAITS(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))
WAITS(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))
WAITS(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))
WAITS(int, pthread_spin_lock, (pthread_spinlock_t *l), (l))
WAITS(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))
WAITS(int, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t), (c, m, t))
WAITS(int, pthread_join, (pthread_t t, void **r), (t, r))
WAITS(int, pthread_barrier_wait, (pthread_barrier_t *b), (b))
WAITS(int, pthread_once, (pthread_once_t *o, void (*f)(void)), (o, f))
WAITS(int, sem_wait, (sem_t *s), (s))
WAITS(int, usleep, (useconds_t t), (t))
WAITS(unsigned, sleep, (unsigned t), (t))
WAITS(int, nanosleep, (const struct timespec *t, struct timespec *r), (t, r))
WAITS(int, clock_nanosleep, (clockid_t c, int f, const struct timespec *t, struct timespec *r), (c, f, t, r))
WAITS(int, sched_yield, (void), ())
long syscall(long number, ...) {
    va_list list; va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long), d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    int held = holds; if (held) leave();
    long r = REAL(syscall)(number, a, b, c, d, e, f); int error = errno;
    if (held) enter();
    errno = error;
    return r;
}
void free(void *p) {
    word size = p ? malloc_usable_size(p) : 0;
    for (word at = (word)p; bytes && holds && size <= 1 << 16 && at < (word)p + size; at++) {
        long found = slot(at);
        if (bytes[found].address) bytes[found].pc = 0;
    }
    REAL(free)(p);
}
struct start { void *(*f)(void *); void *a; };
static void *first(void *a) {
    struct start s = *(struct start *)a;
    begin_strand();
    enter();
    void *r = s.f(s.a);
    leave();
    return r;
}
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *a) {
    struct start *s = malloc(sizeof *s);
    s->f = f, s->a = a;
    return REAL(pthread_create)(t, attr, first, s);
}
