//@ expect: deadlock
//@ message: waits for the initialisation it is in itself
//@ preemptions: 1
//@ pair: set check
// The initialisation asks for what it makes, when somebody was quicker to switch the log on.
#include <pthread.h>
#include <stdatomic.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int verbose;
static void get(void);

static void make(void) {
    if (atomic_load(&verbose)) //~ check
        get();
}

static void get(void) {
    pthread_once(&once, make); //~ here
}

static void *configure(void *unused) {
    (void)unused;
    atomic_store(&verbose, 1); //~ set
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, configure, 0);
    get();
    pthread_join(strand, 0);
    return 0;
}
