// A ring between two producers and a consumer, with semaphores for its slots, and a barrier at the beginning.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#define SLOTS 2

static int ring[SLOTS];
static int first, next;
static long sum;
static int ready[3];
static sem_t empty, full;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;

static void ring_put(int value) {
    sem_wait(&empty);
    pthread_mutex_lock(&guard);
    ring[next] = value;
    next = (next + 1) % SLOTS;
    pthread_mutex_unlock(&guard);
    sem_post(&full);
}

static int ring_take(void) {
    sem_wait(&full);
    pthread_mutex_lock(&guard);
    int value = ring[first];
    first = (first + 1) % SLOTS;
    pthread_mutex_unlock(&guard);
    sem_post(&empty);
    return value;
}

static int prepare(int me) {
    ready[me] = me + 1;
    pthread_barrier_wait(&start);
    return ready[(me + 1) % 3];
}

static void *producer(void *me) {
    int begin = prepare((int)(long)me);
    for (int i = 0; i < 2; i++) ring_put(begin + i);
    return 0;
}

static void *consumer(void *me) {
    prepare((int)(long)me);
    for (int i = 0; i < 4; i++) sum += ring_take();
    return 0;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&empty, 0, SLOTS);
    sem_init(&full, 0, 0);
    pthread_barrier_init(&start, 0, 3);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, producer, (void *)i);
    pthread_create(&threads[2], 0, consumer, (void *)2);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    pthread_join(threads[2], 0);
    printf("%d\n", sum > 0);
    return 0;
}
