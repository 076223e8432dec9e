//@ expect: pass
//@ runs: 300
// The correct bounded buffer: one condition variable a side.
#include <assert.h>
#include <pthread.h>

#define PLACES 2
#define EACH 3
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int ring[PLACES], count, head, tail, sum;

static void *put(void *arg) {
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (count == PLACES)
            pthread_cond_wait(&not_full, &lock);
        ring[head] = (int)(long)arg + i;
        head = (head + 1) % PLACES;
        count++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *get(void *unused) {
    (void)unused;
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&not_empty, &lock);
        sum += ring[tail];
        tail = (tail + 1) % PLACES;
        count--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t strands[4];
    pthread_create(&strands[0], 0, put, (void *)10);
    pthread_create(&strands[1], 0, put, (void *)20);
    pthread_create(&strands[2], 0, get, 0);
    pthread_create(&strands[3], 0, get, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(strands[i], 0);
    assert(count == 0 && sum == 10 + 11 + 12 + 20 + 21 + 22);
    return 0;
}
