// Every lock is taken in one function: all that strands do to each other has the same places. Whoever looks and takes by two sections finds nothing left.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int items = 1, least, steps;

static __attribute__((noinline)) void lock(void) {
    pthread_mutex_lock(&mutex);
}

static __attribute__((noinline)) void unlock(void) {
    pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int left(void) {
    return items;
}

static __attribute__((noinline)) void set(int number) {
    items = number;
}

static void work(void) {
    for (int i = 0; i < 2; i++) {
        lock();
        steps++;
        unlock();
    }
}

static void take(void) {
    lock();
    int some = left() > 0;
    unlock();
    if (!some)
        return;
    lock();
    assert(left() > least);
    set(left() - 1);
    unlock();
}

static void *first(void *unused) {
    (void)unused;
    work();
    take();
    return 0;
}

static void *second(void *unused) {
    (void)unused;
    take();
    work();
    return 0;
}

int main(int count, char **words) {
    least = count > 1 && atoi(words[1]) == 7 ? 0 : -2;
    pthread_t strands[2];
    pthread_create(&strands[0], 0, first, 0);
    pthread_create(&strands[1], 0, second, 0);
    pthread_join(strands[0], 0);
    pthread_join(strands[1], 0);
    return 0;
}
