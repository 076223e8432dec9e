#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER, filled = PTHREAD_COND_INITIALIZER;
static int full, content, loose;
static atomic_int tally;

void mailbox_put(int value) {
    pthread_mutex_lock(&lock);
    while (full)
        pthread_cond_wait(&emptied, &lock);
    full = 1;
    content = value;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

int mailbox_take(void) {
    pthread_mutex_lock(&lock);
    while (!full)
        pthread_cond_wait(&filled, &lock);
    full = 0;
    int value = content;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return value;
}

int tally_add(int by) { return atomic_fetch_add(&tally, by); }

int loose_add(int by) { return loose += by; }
