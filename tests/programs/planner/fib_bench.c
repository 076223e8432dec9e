//@ expect: pass
//@ args: 2
// Two strands add each other's variable to their own.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int one = 1, two = 1;
static int rounds;

static void *add_two(void *unused) {
    for (int round = 0; round < rounds; round++) atomic_store(&one, atomic_load(&one) + atomic_load(&two));
    return unused;
}

static void *add_one(void *unused) {
    for (int round = 0; round < rounds; round++) atomic_store(&two, atomic_load(&two) + atomic_load(&one));
    return unused;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t strands[2];
    pthread_create(&strands[0], 0, add_two, 0);
    pthread_create(&strands[1], 0, add_one, 0);
    pthread_join(strands[0], 0);
    pthread_join(strands[1], 0);
    return 0;
}
