//@ expect: assertion
//@ message: counter == 2
//@ preemptions: 1
//@ pair: add add
// Two strands add one to a plain variable: the reads may both come before the writes.
#include <assert.h>
#include <pthread.h>

static int counter;

static void *add(void *unused) {
    (void)unused;
    counter++; //~ add
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2); //~ here
    return 0;
}
