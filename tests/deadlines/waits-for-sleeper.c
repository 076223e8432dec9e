// One works until the other has slept for a tenth of a second.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int stop;
static atomic_long done;

static void *sleeps(void *unused) {
    usleep(100000);
    atomic_store(&stop, 1);
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, NULL, sleeps, NULL);
    while (!atomic_load(&stop))
        atomic_fetch_add(&done, 1);
    pthread_join(strand, NULL);
    return 0;
}
