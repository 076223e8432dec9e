//@ expect: pass
// Workers that wait for work for ever do not keep the process, and they have nothing left to do when it ends.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static sem_t done;
static int jobs;
static atomic_int results;

static void *works(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (jobs == 0) pthread_cond_wait(&work, &lock);
        jobs--;
        atomic_fetch_add(&results, 1);
        sem_post(&done);
    }
    return unused;
}

int main(void) {
    pthread_t strand;
    sem_init(&done, 0, 0);
    pthread_create(&strand, 0, works, 0);
    pthread_mutex_lock(&lock);
    jobs = 2;
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
    sem_wait(&done);
    sem_wait(&done);
    return atomic_load(&results) != 2;
}
