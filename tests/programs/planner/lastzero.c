//@ expect: pass
//@ args: 5
// Writers make each element one more than the one before it, while a reader looks for the last zero.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST = 16 };

static atomic_int array[MOST + 1];
static int count;

static void *read_back(void *unused) {
    int at = count;
    while (atomic_load(&array[at]) != 0) at--;
    return unused;
}

static void *write_next(void *number) {
    long at = (long)number;
    atomic_store(&array[at], atomic_load(&array[at - 1]) + 1);
    return 0;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t strands[MOST + 1];
    pthread_create(&strands[0], 0, read_back, 0);
    for (long at = 1; at <= count; at++) pthread_create(&strands[at], 0, write_next, (void *)at);
    for (int at = 0; at <= count; at++) pthread_join(strands[at], 0);
    return 0;
}
