/* Slow programs that are right: `slow KIND AMOUNT`. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long amount, total;
static atomic_int ready;

static void spend(long steps) {
    for (volatile long step = 0; step < steps; step++) {
    }
}

static void count(void) {
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
}

/* Calculates, and shares next to nothing. */
static void *work(void *unused) {
    for (int part = 0; part < 10; part++) {
        spend(amount * 1000);
        count();
    }
    return unused;
}

/* Takes a lock again and again. */
static void *locks(void *unused) {
    for (long turn = 0; turn < amount; turn++) count();
    return unused;
}

/* Sleeps for most of the time. */
static void *rests(void *unused) {
    for (int part = 0; part < 10; part++) {
        usleep((useconds_t)amount * 100);
        count();
    }
    return unused;
}

static void *counts(void *unused) {
    count();
    return unused;
}

/* Looks again and again whether another one, who works, is done. */
static void *polls(void *unused) {
    while (!atomic_load(&ready)) sched_yield();
    return unused;
}

static void *makes_ready(void *unused) {
    work(unused);
    atomic_store(&ready, 1);
    return unused;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t strands[2];
    pthread_create(&strands[0], 0, first, 0);
    pthread_create(&strands[1], 0, second, 0);
    pthread_join(strands[0], 0);
    pthread_join(strands[1], 0);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    amount = atol(argv[2]);
    if (!strcmp(argv[1], "works")) both(work, work);
    if (!strcmp(argv[1], "locks")) both(locks, locks);
    if (!strcmp(argv[1], "rests")) both(rests, rests);
    if (!strcmp(argv[1], "polls")) both(polls, makes_ready);
    if (!strcmp(argv[1], "creates"))
        for (long turn = 0; turn < amount; turn++) both(counts, counts);
    return printf("%ld\n", total) < 0;
}
