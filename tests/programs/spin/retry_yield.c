//@ expect: pass
// Two strands try again, with a yield and under a lock, until a third one has done its work.
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static int is_ready(void) {
    pthread_mutex_lock(&lock);
    int found = ready;
    pthread_mutex_unlock(&lock);
    return found;
}

static void *retry(void *unused) {
    while (!is_ready())
        sched_yield();
    return unused;
}

static void *work(void *unused) {
    for (int i = 0; i < 20; i++)
        sched_yield();
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strands[3];
    pthread_create(&strands[0], 0, retry, 0);
    pthread_create(&strands[1], 0, retry, 0);
    pthread_create(&strands[2], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return 0;
}
