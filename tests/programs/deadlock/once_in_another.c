//@ expect: pass
// An initialisation inside another one.
#include <pthread.h>
#include <stdatomic.h>

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static atomic_int made;

static void make_inner(void) {
    atomic_fetch_add(&made, 1);
}

static void make_outer(void) {
    pthread_once(&inner, make_inner);
    atomic_fetch_add(&made, 1);
}

static void *get(void *unused) {
    (void)unused;
    pthread_once(&outer, make_outer);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, get, 0);
    pthread_once(&inner, make_inner);
    get(0);
    pthread_join(strand, 0);
    return atomic_load(&made) != 2;
}
