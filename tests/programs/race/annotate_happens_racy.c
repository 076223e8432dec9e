//@ expect: race
//@ race: fill use
// Only one side says that it happens before the other.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void AnnotateHappensBefore(const char *, int, const volatile void *) __attribute__((weak));
void AnnotateHappensAfter(const char *, int, const volatile void *) __attribute__((weak));

atomic_int ready;
int data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
    if (AnnotateHappensBefore)
        AnnotateHappensBefore(__FILE__, __LINE__, &data);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        sched_yield();
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
