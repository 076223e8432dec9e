//@ expect: deadlock
//@ preemptions: 0
// A queue with two condition variables. A getter wakes a putter only if the queue was full: when two putters wait and two
// getters come before the first putter goes on, the second putter is never woken.
#include <pthread.h>

#define SIZE 2
#define PUTTERS 4
#define GETTERS 2
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static int items;

static void *put(void *unused) {
    pthread_mutex_lock(&lock);
    while (items == SIZE)
        pthread_cond_wait(&not_full, &lock);
    items++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *get(void *unused) {
    for (int i = 0; i < PUTTERS / GETTERS; i++) {
        pthread_mutex_lock(&lock);
        while (items == 0)
            pthread_cond_wait(&not_empty, &lock);
        if (items-- == SIZE)
            pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t strands[PUTTERS + GETTERS];
    for (int i = 0; i < PUTTERS + GETTERS; i++)
        pthread_create(&strands[i], 0, i < PUTTERS ? put : get, 0);
    for (int i = 0; i < PUTTERS + GETTERS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
