//@ expect: race
//@ race: fill use
// A detached strand and a sleep.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

sem_t done;
int data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
    return arg;
}

int main(void) {
    sem_init(&done, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_detach(strand);
    usleep(20000);
    seen = data; //~ use
    return 0;
}
