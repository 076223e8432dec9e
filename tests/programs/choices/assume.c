// What is assumed holds for all that follows; between the two marks nobody else comes in.
//@ expect: pass
//@ flags: -I../crates/threadbare/include
#include <assert.h>
#include <pthread.h>
#include <threadbare.h>

static int count;

static void *add(void *unused) {
    threadbare_atomic_begin();
    count = count + 1;
    threadbare_atomic_end();
    return unused;
}

int main(void) {
    pthread_t adder;
    unsigned long first = threadbare_choose(5), second = threadbare_any(8);
    threadbare_assume(second % 4 == first % 4);
    threadbare_reached("the main part");
    assert((first ^ second) % 4 == 0);
    pthread_create(&adder, NULL, add, NULL);
    pthread_join(adder, NULL);
    add(NULL);
    assert(count == 2);
    return 0;
}
