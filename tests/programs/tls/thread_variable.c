//@ expect: pass
// __thread and _Thread_local variables, initialised and zero, and errno belong to the strand.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static __thread int mine = 5;
static _Thread_local char buffer[4096];
int *address_of_mine[3];

static void *work(void *arg) {
    long me = (long)arg;
    address_of_mine[me] = &mine;
    assert(mine == 5 && buffer[4095] == 0);
    mine += (int)me;
    buffer[4095] = (char)me;
    errno = (int)me + 100;
    sched_yield();
    assert(mine == 5 + me && buffer[4095] == me && errno == me + 100);
    assert(close(-1) == -1 && errno == EBADF);
    return 0;
}

int main(void) {
    pthread_t strands[3];
    errno = 77;
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(mine == 5 && buffer[4095] == 0 && errno == 77);
    for (int i = 0; i < 3; i++)
        assert(address_of_mine[i] != &mine);
    return 0;
}
