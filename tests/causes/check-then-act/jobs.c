// Two workers look for a free job in an array of structs and take it.
//@ expect: assertion
//@ pair: free take
//@ pattern: check-then-act|lost-update
//@ object: jobs[0].state
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct job {
    int number;
    _Atomic int state;
    atomic_int done;
} jobs[2];
static atomic_int scans;

static void *worker(void *arg) {
    for (int i = 0; i < 2; i++) {
        atomic_fetch_add(&scans, 1);
        if (jobs[i].state == 0) { //~ free
            jobs[i].state = 1; //~ take
            atomic_fetch_add(&jobs[i].done, 1); //~ work
            break;
        }
    }
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(atomic_load(&jobs[0].done) == 1); //~ end
    return 0;
}
