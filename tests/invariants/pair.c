// A pair that is moved in two steps and looked at in two steps: one of them made atomic is not enough.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int low, high = 10;

static void *moves(void *unused) {
    low = 20; //~ first
    high = 30; //~ last
    return unused;
}

static void *looks(void *unused) {
    int above = high; //~ above
    int below = low; //~ below
    assert(below < above);
    return unused;
}

int main(void) {
    pthread_t mover, looker;
    pthread_create(&mover, 0, moves, 0);
    pthread_create(&looker, 0, looks, 0);
    pthread_join(mover, 0);
    pthread_join(looker, 0);
    return 0;
}
