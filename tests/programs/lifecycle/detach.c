//@ expect: pass
// Detached strands, by attribute and by call, even their own.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t done;

static void *work(void *arg) {
    if (arg)
        assert(pthread_detach(pthread_self()) == 0);
    sem_post(&done);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_attr_t attr;
    int state;
    sem_init(&done, 0, 0);
    pthread_attr_init(&attr);
    assert(pthread_attr_getdetachstate(&attr, &state) == 0 && state == PTHREAD_CREATE_JOINABLE);
    assert(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    for (int i = 0; i < 3; i++)
        assert(pthread_create(&strand, &attr, work, 0) == 0);
    pthread_attr_destroy(&attr);
    assert(pthread_create(&strand, 0, work, 0) == 0 && pthread_detach(strand) == 0);
    assert(pthread_create(&strand, 0, work, &done) == 0);
    for (int i = 0; i < 5; i++)
        sem_wait(&done);
    return 0;
}
