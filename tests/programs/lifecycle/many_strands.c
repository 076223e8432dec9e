//@ expect: pass
//@ args: 5 2 0
//@ runs: 20
// `many_strands STRANDS TURNS WHO`: so many strands at once, again and again. The one with number WHO counts without the lock, as number 3
// does; 0 is nobody. `tests/free_races.rs` asks for more strands, at once and one after another, than tables have room for at first.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begin;
static long total, who;
static long wild;

static void *strand(void *number) {
    pthread_barrier_wait(&begin);
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    if (who && ((long)number == 3 || (long)number == who)) wild++;
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    long strands = atol(argv[1]), turns = atol(argv[2]);
    who = atol(argv[3]);
    pthread_t *threads = malloc((size_t)strands * sizeof *threads);
    for (long turn = 0; turn < turns; turn++) {
        pthread_barrier_init(&begin, 0, (unsigned)strands);
        for (long at = 0; at < strands; at++)
            if (pthread_create(&threads[at], 0, strand, (void *)at)) return 3;
        for (long at = 0; at < strands; at++) pthread_join(threads[at], 0);
        pthread_barrier_destroy(&begin);
        wild++;
    }
    free(threads);
    return total != strands * turns;
}
