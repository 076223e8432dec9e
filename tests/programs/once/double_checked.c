//@ expect: assertion
//@ preemptions: 1
//@ pair: fill read
//@ pair: flag check
// The flag is set before the data is there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int initialised, value;

static int get(void) {
    if (!atomic_load(&initialised)) { //~ check
        pthread_mutex_lock(&lock);
        if (!atomic_load(&initialised)) {
            atomic_store(&initialised, 1); //~ flag
            atomic_store(&value, 42); //~ fill
        }
        pthread_mutex_unlock(&lock);
    }
    return atomic_load(&value); //~ read
}

static void *use(void *unused) {
    (void)unused;
    assert(get() == 42); //~ here
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
