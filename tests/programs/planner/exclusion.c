//@ expect: pass
//@ args: peterson
// Mutual exclusion by waiting loops alone: Peterson, Dekker, Lamport's bakery, Szymanski, and a busy wait.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int flag[2], turn, number[2], inside;
static const char *algorithm;

static void peterson(int me) {
    int other = 1 - me;
    atomic_store(&flag[me], 1);
    atomic_store(&turn, other);
    while (atomic_load(&flag[other]) && atomic_load(&turn) == other) {}
}

static void dekker(int me) {
    int other = 1 - me;
    atomic_store(&flag[me], 1);
    while (atomic_load(&flag[other])) {
        if (atomic_load(&turn) == other) {
            atomic_store(&flag[me], 0);
            while (atomic_load(&turn) == other) {}
            atomic_store(&flag[me], 1);
        }
    }
}

static void lamport(int me) {
    int other = 1 - me;
    atomic_store(&flag[me], 1);
    int mine = atomic_load(&number[other]) + 1;
    atomic_store(&number[me], mine);
    atomic_store(&flag[me], 0);
    while (atomic_load(&flag[other])) {}
    for (;;) {
        int theirs = atomic_load(&number[other]);
        if (theirs == 0 || theirs > mine || (theirs == mine && other > me)) break;
    }
}

static void szymanski(int me) {
    int other = 1 - me;
    atomic_store(&flag[me], 1);
    while (atomic_load(&flag[other]) >= 3) {}
    atomic_store(&flag[me], 3);
    if (atomic_load(&flag[other]) == 1) {
        atomic_store(&flag[me], 2);
        while (atomic_load(&flag[other]) != 4) {}
    }
    atomic_store(&flag[me], 4);
    if (me == 1)
        while (atomic_load(&flag[other]) >= 2) {}
}

static void leave(int me) {
    if (!strcmp(algorithm, "szymanski") && me == 0) {
        int theirs;
        do theirs = atomic_load(&flag[1]); while (theirs == 2 || theirs == 3);
    }
    if (!strcmp(algorithm, "dekker")) atomic_store(&turn, 1 - me);
    if (!strcmp(algorithm, "lamport")) atomic_store(&number[me], 0);
    else atomic_store(&flag[me], 0);
}

static void *enter(void *index) {
    int me = (int)(long)index;
    if (!strcmp(algorithm, "busy")) {
        if (me) atomic_store(&turn, 1);
        else while (!atomic_load(&turn)) {}
        return 0;
    }
    if (!strcmp(algorithm, "peterson")) peterson(me);
    else if (!strcmp(algorithm, "dekker")) dekker(me);
    else if (!strcmp(algorithm, "lamport")) lamport(me);
    else szymanski(me);
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    leave(me);
    return 0;
}

int main(int argc, char **argv) {
    algorithm = argc > 1 ? argv[1] : "peterson";
    pthread_t strands[2];
    for (long me = 0; me < 2; me++) pthread_create(&strands[me], 0, enter, (void *)me);
    for (int me = 0; me < 2; me++) pthread_join(strands[me], 0);
    return 0;
}
