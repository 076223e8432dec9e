//@ expect: assertion
//@ preemptions: 1
//@ pair: look claim
//@ pair: take compare
// A deque whose owner pushes and pops at the tail while a thief takes from the head. When one item is left, the owner's pop
// does not look at the head again under the lock, so both take it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ITEMS 4
#define SIZE 16
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int head, tail;
static int slots[SIZE];
static atomic_int taken[ITEMS];

static void use(int item) {
    assert(atomic_fetch_add(&taken[item], 1) == 0); //~ here
}

static void push(int item) {
    int at = atomic_load(&tail);
    slots[at % SIZE] = item;
    atomic_store(&tail, at + 1);
}

static int pop(void) {
    int at = atomic_load(&tail) - 1;
    if (at < atomic_load(&head)) //~ look
        return -1;
    /* The item should be claimed before the head is looked at. */
    int item = slots[at % SIZE];
    atomic_store(&tail, at); //~ take
    return item;
}

static int steal(void) {
    int item = -1;
    pthread_mutex_lock(&lock);
    int at = atomic_load(&head);
    atomic_store(&head, at + 1); //~ claim
    if (at < atomic_load(&tail)) //~ compare
        item = slots[at % SIZE];
    else
        atomic_store(&head, at);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *thief(void *unused) {
    for (int i = 0; i < 2; i++) {
        int item = steal();
        if (item >= 0)
            use(item);
    }
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, thief, 0);
    for (int i = 0; i < ITEMS; i += 2) {
        push(i);
        push(i + 1);
        for (int k = 0; k < 2; k++) {
            int item = pop();
            if (item >= 0)
                use(item);
        }
    }
    pthread_join(other, 0);
    return 0;
}
