//@ expect: pass
//@ args: 10 0
//@ runs: 20
// `long_run TURNS WILD`: three strands take four locks in turn, so often that a free run's race check counts its epochs to their end and begins
// anew (more than 33 million). Where WILD is 1 they count without a lock at the end.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t locks[4];
static long totals[4], wild, turns, is_wild;

static void *strand(void *number) {
    for (long turn = 0; turn < turns; turn++) {
        long at = ((long)number + turn) % 4;
        pthread_mutex_lock(&locks[at]);
        totals[at]++;
        pthread_mutex_unlock(&locks[at]);
    }
    if (is_wild) wild++;
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    turns = atol(argv[1]);
    is_wild = atol(argv[2]);
    pthread_t threads[3];
    for (int at = 0; at < 4; at++) pthread_mutex_init(&locks[at], 0);
    for (long at = 0; at < 3; at++) pthread_create(&threads[at], 0, strand, (void *)at);
    for (int at = 0; at < 3; at++) pthread_join(threads[at], 0);
    return totals[0] + totals[1] + totals[2] + totals[3] != 3 * turns;
}
