// The same with a pool of helpers that count and log.
//@ expect: use-after-free
//@ pair: free use
//@ pattern: order-violation
//@ object: any
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct task {
    int kind;
    int cost;
};
static atomic_int logged, handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct task *task;

static void say(void) {
    atomic_fetch_add(&logged, 1);
}

static void *worker(void *arg) {
    say();
    pthread_mutex_lock(&lock);
    struct task *own = task; //~ get
    pthread_mutex_unlock(&lock);
    say();
    if (own->cost > 1) //~ use
        atomic_fetch_add(&handled, 1);
    say();
    return arg;
}

int main(void) {
    pthread_t t;
    task = calloc(1, sizeof *task); //~ put
    task->cost = 2;
    pthread_create(&t, 0, worker, 0);
    say();
    while (atomic_load(&logged) < 2) {
    }
    say();
    free(task); //~ free
    pthread_join(t, 0);
    return 0;
}
