// Each strand takes a number under a lock.
#include "strands.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned value;

static void *take(void *unused) {
    pthread_mutex_lock(&lock);
    unsigned mine = value;
    value = mine + 1;
    pthread_mutex_unlock(&lock);
    assert(value > mine);
    return unused;
}

int main(void) {
    RUN(take, take, take);
    assert(value == 3);
}
