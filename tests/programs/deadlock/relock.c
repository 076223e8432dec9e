//@ expect: deadlock
//@ bare: any
// A log that flushes itself when full: the flush takes the lock its caller already holds. The consumer usually
// drains the log first.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pending;

static void flush_log(void) {
    pthread_mutex_lock(&lock); //~ here
    pending = 0;
    pthread_mutex_unlock(&lock);
}

static void append(void) {
    pthread_mutex_lock(&lock);
    if (++pending == 3)
        flush_log();
    pthread_mutex_unlock(&lock);
}

static void *produce(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++)
        append();
    return 0;
}

int main(void) {
    pthread_t producer;
    append();
    pthread_create(&producer, 0, produce, 0);
    flush_log();
    flush_log();
    pthread_join(producer, 0);
    return 0;
}
