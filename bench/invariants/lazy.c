// Three strands and a lock; the third looks at what the others did so far.
#include "strands.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int data;

static void *add_one(void *unused) {
    pthread_mutex_lock(&lock);
    data++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *add_two(void *unused) {
    pthread_mutex_lock(&lock);
    data += 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    assert(data <= 3);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    RUN(add_one, add_two, look);
}
