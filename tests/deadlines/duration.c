// Works for 30 ms by its own clock, a lot between two looks at it.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static atomic_long done;
static atomic_int stop;

static void *work(void *unused) {
    while (!atomic_load(&stop))
        for (int i = 0; i < 200; i++)
            atomic_fetch_add(&done, 1);
    return unused;
}

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, NULL, work, NULL);
    for (long end = now() + 30000000; now() < end;)
        for (int i = 0; i < 200; i++)
            atomic_fetch_add(&done, 1);
    atomic_store(&stop, 1);
    pthread_join(strand, NULL);
    return 0;
}
