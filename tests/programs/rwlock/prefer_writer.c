//@ expect: pass
// A lock that prefers writers: nobody starves, nobody is let in wrongly.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int value;

static void *reader(void *unused) {
    (void)unused;
    long last = 0;
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_rdlock(&lock);
        assert(value >= last);
        last = value;
        pthread_rwlock_unlock(&lock);
    }
    return (void *)last;
}

static void *writer(void *unused) {
    (void)unused;
    pthread_rwlock_wrlock(&lock);
    value++;
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_rwlockattr_t attr;
    int kind;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    assert(pthread_rwlockattr_getkind_np(&attr, &kind) == 0 && kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_t other;
    assert(pthread_rwlock_init(&other, &attr) == 0 && pthread_rwlock_destroy(&other) == 0);

    pthread_t strands[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&strands[i], 0, i < 2 ? reader : writer, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(strands[i], 0);
    assert(value == 2);
    return 0;
}
