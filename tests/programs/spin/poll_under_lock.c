//@ expect: pass
// A barrier whose wait takes a lock, looks, and gives it back, again and again.
#include <pthread.h>

enum { STRANDS = 3, ROUNDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int arrived, round_now;

static void barrier(void) {
    pthread_mutex_lock(&lock);
    int mine = round_now;
    if (++arrived == STRANDS) {
        arrived = 0;
        round_now++;
    }
    pthread_mutex_unlock(&lock);
    for (;;) {
        pthread_mutex_lock(&lock);
        int now = round_now;
        pthread_mutex_unlock(&lock);
        if (now != mine)
            return;
    }
}

static void *work(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        barrier();
    return unused;
}

int main(void) {
    pthread_t strands[STRANDS];
    for (int i = 0; i < STRANDS; i++)
        pthread_create(&strands[i], 0, work, 0);
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
