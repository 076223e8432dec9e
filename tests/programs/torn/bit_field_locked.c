//@ expect: pass
// Two bit-fields of one word, under one lock.
#include <assert.h>
#include <pthread.h>

static struct {
    unsigned low : 3, high : 5;
} word;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sets_low(void *unused) {
    pthread_mutex_lock(&lock);
    word.low = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *sets_high(void *unused) {
    pthread_mutex_lock(&lock);
    word.high = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, sets_low, 0);
    pthread_create(&second, 0, sets_high, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(word.low == 1 && word.high == 1);
    return 0;
}
