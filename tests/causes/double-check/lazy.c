// The pointer is there before what it points to.
//@ expect: assertion
//@ pair: fill use
//@ pair: publish look
//@ pattern: torn-pair|use-before-init
//@ object: storage.size|instance
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static struct table {
    volatile int size;
} storage;
static struct table *volatile instance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct table *get(void) {
    if (instance == NULL) { //~ look
        pthread_mutex_lock(&lock); //~ lock
        if (instance == NULL) { //~ again
            instance = &storage; //~ publish
            instance->size = 8; //~ fill
        }
        pthread_mutex_unlock(&lock);
    }
    return instance;
}

static void *user(void *arg) {
    int size = get()->size; //~ use
    assert(size == 8); //~ end
    return arg;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, user, 0);
    pthread_create(&y, 0, user, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
