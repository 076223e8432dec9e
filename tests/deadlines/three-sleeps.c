// Sleeps of three lengths: the shortest is over first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int turn;

static void *sleeps(void *number) {
    int mine = (int)(long)number;
    usleep(1000 * (mine + 1));
    assert(atomic_load(&turn) == mine);
    atomic_fetch_add(&turn, 1);
    return NULL;
}

int main(void) {
    pthread_t strands[3];
    for (long i = 2; i >= 0; i--)
        pthread_create(&strands[i], NULL, sleeps, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], NULL);
    return 0;
}
