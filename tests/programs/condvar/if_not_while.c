//@ expect: assertion
//@ max-runs: 1000
//@ preemptions: 1
//@ pair: take take
// `if` where `while` is needed: another consumer takes the item between the signal and the wake.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *consume(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (items == 0)
        pthread_cond_wait(&filled, &lock);
    items--; //~ take
    assert(items >= 0); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *produce(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t strands[3];
    pthread_create(&strands[0], 0, consume, 0);
    pthread_create(&strands[1], 0, produce, 0);
    pthread_create(&strands[2], 0, consume, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return 0;
}
