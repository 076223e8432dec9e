// One of several channels; a semaphore and counters are passed on the way.
//@ expect: deadlock
//@ pair: signal wait
//@ pattern: lost-wake-up
//@ object: channels[1].full
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static struct channel {
    pthread_mutex_t lock;
    pthread_cond_t full;
    int messages;
} channels[2];
static atomic_int sent, received;
static sem_t begun;

static void *receive(void *arg) {
    struct channel *from = arg;
    atomic_fetch_add(&received, 1);
    sem_post(&begun);
    pthread_mutex_lock(&from->lock);
    int messages = from->messages; //~ look
    pthread_mutex_unlock(&from->lock);
    atomic_fetch_add(&received, 1);
    if (messages == 0) {
        pthread_mutex_lock(&from->lock); //~ receiver_locks
        pthread_cond_wait(&from->full, &from->lock); //~ wait
        pthread_mutex_unlock(&from->lock);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    sem_init(&begun, 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&channels[i].lock, 0);
        pthread_cond_init(&channels[i].full, 0);
    }
    pthread_create(&t, 0, receive, &channels[1]);
    sem_wait(&begun);
    atomic_fetch_add(&sent, 1);
    pthread_mutex_lock(&channels[1].lock); //~ sender_locks
    channels[1].messages++; //~ put
    pthread_cond_signal(&channels[1].full); //~ signal
    pthread_mutex_unlock(&channels[1].lock);
    atomic_fetch_add(&sent, 1);
    pthread_join(t, 0);
    return 0;
}
