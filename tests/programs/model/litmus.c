//@ expect: pass
//@ args: 9 Wxr1Ryr Wyr1Rxr
//@ memory-model: sc
// The first argument is the outcome that is looked for; it is a failure. Each of the others is what a strand does:
// `Wxr1` stores 1 to x, relaxed; `Rxa` loads it, acquire; `Sxr1` does so until it finds 1 (in C only); `Axq2` adds 2, acquire and release; `Fs` is a fence; orders are r, a, l
// (release), q and s. What loads and additions find, strand after strand, is the outcome; what is in x, y, z at the end may
// follow behind a colon. A digit is a value, `.` is any.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRANDS = 6, FOUND = 8 };

static atomic_int cells[3];
static const char *scripts[STRANDS];
static int found[STRANDS][FOUND], counts[STRANDS];

static atomic_int *cell(char name) { return &cells[name - 'x']; }

static int load(atomic_int *at, char order) {
    switch (order) {
    case 'r': return atomic_load_explicit(at, memory_order_relaxed);
    case 'a': return atomic_load_explicit(at, memory_order_acquire);
    default: return atomic_load_explicit(at, memory_order_seq_cst);
    }
}

static void store(atomic_int *at, int value, char order) {
    switch (order) {
    case 'r': atomic_store_explicit(at, value, memory_order_relaxed); break;
    case 'l': atomic_store_explicit(at, value, memory_order_release); break;
    default: atomic_store_explicit(at, value, memory_order_seq_cst); break;
    }
}

static int add(atomic_int *at, int value, char order) {
    switch (order) {
    case 'r': return atomic_fetch_add_explicit(at, value, memory_order_relaxed);
    case 'a': return atomic_fetch_add_explicit(at, value, memory_order_acquire);
    case 'l': return atomic_fetch_add_explicit(at, value, memory_order_release);
    case 'q': return atomic_fetch_add_explicit(at, value, memory_order_acq_rel);
    default: return atomic_fetch_add_explicit(at, value, memory_order_seq_cst);
    }
}

static void fence(char order) {
    switch (order) {
    case 'a': atomic_thread_fence(memory_order_acquire); break;
    case 'l': atomic_thread_fence(memory_order_release); break;
    case 'q': atomic_thread_fence(memory_order_acq_rel); break;
    default: atomic_thread_fence(memory_order_seq_cst); break;
    }
}

static void *strand(void *which) {
    long me = (long)which;
    for (const char *at = scripts[me]; *at;) {
        switch (*at) {
        case 'W': store(cell(at[1]), at[3] - '0', at[2]); at += 4; break;
        case 'R': found[me][counts[me]++] = load(cell(at[1]), at[2]); at += 3; break;
        case 'A': found[me][counts[me]++] = add(cell(at[1]), at[3] - '0', at[2]); at += 4; break;
        case 'F': fence(at[1]); at += 2; break;
        case 'S': while (load(cell(at[1]), at[2]) != at[3] - '0') {} at += 4; break;
        default: exit(2);
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[STRANDS];
    int strands = argc - 2;
    for (long at = 0; at < strands; at++) {
        scripts[at] = argv[at + 2];
        pthread_create(&threads[at], 0, strand, (void *)at);
    }
    char outcome[STRANDS * FOUND + 8];
    int length = 0;
    for (int at = 0; at < strands; at++) pthread_join(threads[at], 0);
    for (int at = 0; at < strands; at++)
        for (int which = 0; which < counts[at]; which++) outcome[length++] = '0' + found[at][which];
    outcome[length++] = ':';
    for (int at = 0; at < 3; at++) outcome[length++] = '0' + atomic_load(&cells[at]);
    outcome[length] = 0;
    const char *wanted = argv[1];
    for (int at = 0; wanted[at]; at++)
        if (wanted[at] != '.' && wanted[at] != outcome[at]) return 0;
    fprintf(stderr, "outcome %s\n", outcome);
    abort();
}
