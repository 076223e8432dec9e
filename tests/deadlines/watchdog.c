// A watchdog of a fifth of a second over work that is long in events and short in time, and that sleeps now and then.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_long done;

static void *work(void *unused) {
    for (int i = 0; i < 700000; i++) {
        atomic_fetch_add(&done, 1);
        if (i % 250000 == 0)
            usleep(1000);
    }
    return unused;
}

int main(void) {
    pthread_t strands[2];
    ualarm(200000, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&strands[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], NULL);
    return done == 1400000 ? 0 : 1;
}
