// Two writers reserve a place of a ring; flags of a hand-made barrier are passed before and after.
//@ expect: assertion
//@ pair: read write
//@ pattern: lost-update
//@ object: ring.head
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct {
    int data[8];
    int head;
} ring;
static atomic_int arrived, left;

static void *writer(void *arg) {
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2) {
    }
    int place = ring.head; //~ read
    ring.data[place] = (int)(long)arg; //~ data
    ring.head = place + 1; //~ write
    atomic_fetch_add(&left, 1);
    while (atomic_load(&left) < 2) {
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, writer, (void *)1);
    pthread_create(&two, 0, writer, (void *)2);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(ring.head == 2); //~ end
    return 0;
}
