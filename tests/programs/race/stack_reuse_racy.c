//@ expect: race
//@ race: own foreign
// A strand gives away the address of its variable and goes on using it.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

sem_t looked;
int *_Atomic published;
atomic_int ended;

static void *work(void *arg) {
    __attribute__((unused)) volatile int own[64] = {0};
    atomic_store_explicit(&published, (int *)&own[7], memory_order_release);
    own[7] = 1; //~ own
    sem_wait(&looked);
    atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_attr_t apart;
    pthread_attr_init(&apart);
    pthread_attr_setdetachstate(&apart, PTHREAD_CREATE_DETACHED);
    sem_init(&looked, 0, 0);
    int rounds = 1;
    for (int i = 0; i < rounds; i++) {
        pthread_t strand;
        pthread_create(&strand, &apart, work, 0);
        int *foreign;
        while (!(foreign = atomic_load_explicit(&published, memory_order_acquire)))
            sched_yield();
        *(volatile int *)foreign = 2; //~ foreign
        sem_post(&looked);
        while (atomic_load_explicit(&ended, memory_order_relaxed) != i + 1)
            sched_yield();
        usleep(1000);
    }
    return 0;
}
