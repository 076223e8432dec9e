//@ expect: assertion
//@ bare: any
// A poll that takes a lock for each look, forty times at most: it may run out before the other strand has its turn.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void *sets(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *polls(void *unused) {
    (void)unused;
    int looks = 0;
    for (; looks < 40; looks++) {
        pthread_mutex_lock(&lock);
        int found = ready;
        pthread_mutex_unlock(&lock);
        if (found) break;
    }
    assert(looks < 40);
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, polls, 0);
    pthread_create(&other, 0, sets, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
