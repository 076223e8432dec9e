// The length is looked at in one section and an element is taken in another; statistics beside it.
//@ expect: assertion
//@ pair: check take
//@ pattern: check-then-act
//@ object: queue.length
#include <assert.h>
#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    int length;
    int items[4];
} queue = {PTHREAD_MUTEX_INITIALIZER, 1, {5}};
static struct {
    pthread_mutex_t lock;
    int looks, takes;
} stats = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void count(int *which) {
    pthread_mutex_lock(&stats.lock);
    ++*which;
    pthread_mutex_unlock(&stats.lock);
}

static int length(void) {
    pthread_mutex_lock(&queue.lock);
    int now = queue.length; //~ check
    pthread_mutex_unlock(&queue.lock);
    return now;
}

static void *consume(void *arg) {
    count(&stats.looks);
    if (length() > 0) { //~ checks
        count(&stats.takes);
        pthread_mutex_lock(&queue.lock);
        queue.length -= 1; //~ take
        assert(queue.length >= 0); //~ end
        pthread_mutex_unlock(&queue.lock);
    }
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, consume, 0);
    pthread_create(&two, 0, consume, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
