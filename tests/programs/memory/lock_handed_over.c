//@ expect: pass
// POSIX lets the one who locks last destroy and free a mutex: unlocking touches it no more.
#include <pthread.h>
#include <stdlib.h>

struct hand {
    pthread_mutex_t lock;
    int references;
};

static void *release(void *argument) {
    struct hand *hand = argument;
    pthread_mutex_lock(&hand->lock);
    int last = --hand->references == 0;
    pthread_mutex_unlock(&hand->lock);
    if (last) {
        pthread_mutex_destroy(&hand->lock);
        free(hand);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    struct hand *hand = calloc(1, sizeof *hand);
    pthread_mutex_init(&hand->lock, 0);
    hand->references = 3;
    pthread_create(&one, 0, release, hand);
    pthread_create(&two, 0, release, hand);
    release(hand);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
