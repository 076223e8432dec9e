//@ expect: pass
// Stack size, stack bounds, guard, name, self, equal, tryjoin, timedjoin.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static sem_t may_end;

static void *work(void *unused) {
    (void)unused;
    pthread_attr_t attr;
    void *stack;
    size_t size;
    int here;
    assert(pthread_getattr_np(pthread_self(), &attr) == 0);
    assert(pthread_attr_getstack(&attr, &stack, &size) == 0);
    assert(size >= 256 * 1024);
    assert((uintptr_t)&here >= (uintptr_t)stack && (uintptr_t)&here < (uintptr_t)stack + size);
    pthread_attr_destroy(&attr);
    char name[16];
    assert(pthread_setname_np(pthread_self(), "worker") == 0);
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "worker") == 0);
    sem_wait(&may_end);
    return "done";
}

int main(void) {
    pthread_attr_t attr;
    pthread_t strand;
    void *result = 0;
    size_t size = 0;
    sem_init(&may_end, 0, 0);
    pthread_attr_init(&attr);
    assert(pthread_attr_setstacksize(&attr, 256 * 1024) == 0);
    assert(pthread_attr_getstacksize(&attr, &size) == 0 && size == 256 * 1024);
    assert(pthread_attr_setstacksize(&attr, 1) == EINVAL);
    assert(pthread_create(&strand, &attr, work, 0) == 0);
    pthread_attr_destroy(&attr);
    assert(!pthread_equal(strand, pthread_self()) && pthread_equal(strand, strand));
    assert(pthread_tryjoin_np(strand, &result) == EBUSY);
    struct timespec past = {0, 0};
    assert(pthread_timedjoin_np(strand, &result, &past) == ETIMEDOUT);
    assert(pthread_join(pthread_self(), 0) == EDEADLK);
    sem_post(&may_end);
    assert(pthread_join(strand, &result) == 0 && strcmp(result, "done") == 0);
    return 0;
}
