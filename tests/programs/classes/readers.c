//@ expect: pass
//@ runs: 20
//@ classes: 4
// Two readers and a writer of a lock: the writer comes before or after each of them.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long number;

static void *look(void *unused) {
    (void)unused;
    pthread_rwlock_rdlock(&lock);
    long seen = number;
    pthread_rwlock_unlock(&lock);
    return (void *)seen;
}

static void *change(void *unused) {
    pthread_rwlock_wrlock(&lock);
    number++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strands[3];
    pthread_create(&strands[0], 0, look, 0);
    pthread_create(&strands[1], 0, look, 0);
    pthread_create(&strands[2], 0, change, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return 0;
}
