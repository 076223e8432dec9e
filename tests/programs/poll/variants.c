//@ expect: assertion
//@ args: yield
//@ bare: any
// Polls of many shapes, each of which gives up after some looks; the assertion fails if it did. With an argument in capitals
// the poll has no end, and nothing fails. With a second argument nothing fails, either: who gave up goes on.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int flag, other, tries;
static volatile int plain;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem;
static const char *shape;
static int goes_on;

static int is(const char *name) { return strcmp(shape, name) == 0; }

// Looks through a function, with a count that lies in memory.
static int look(atomic_int *at, int *count) {
    ++*count;
    return atomic_load(at);
}

static int poll(void) {
    int i, n = 12, count = 0;
    if (is("yield")) {
        for (i = 0; i < n && !atomic_load(&flag); i++) sched_yield();
    } else if (is("sleep")) {
        for (i = 0; i < n && !atomic_load(&flag); i++) usleep(10);
    } else if (is("pause")) {
        for (i = 0; i < n && !atomic_load(&flag); i++) __builtin_ia32_pause();
    } else if (is("two")) {
        for (i = 0; i < n && !atomic_load(&flag) && !atomic_load(&other); i++) {
        }
    } else if (is("memory")) {
        while (!look(&flag, &count) && count < n) {
        }
        i = count;
    } else if (is("shared")) {
        while (!atomic_load(&flag) && atomic_fetch_add(&tries, 1) < n) {
        }
        i = atomic_load(&tries);
    } else if (is("plain")) {
        for (i = 0; i < n && !plain; i++) {
        }
    } else if (is("trylock")) {
        for (i = 0; i < n && pthread_mutex_trylock(&lock) != 0; i++) {
        }
        if (i < n) pthread_mutex_unlock(&lock);
    } else if (is("trywait")) {
        for (i = 0; i < n && sem_trywait(&sem) != 0; i++) {
        }
    } else if (is("cas")) {
        int expected = 1;
        for (i = 0; i < n && !atomic_compare_exchange_strong(&flag, &expected, 2); i++) expected = 1;
    } else if (is("exchange")) {
        for (i = 0; i < n && atomic_exchange(&other, 1) != 0; i++) {
        }
    } else if (is("long")) {
        for (i = n = 0; i < 3000 && !atomic_load(&flag); i++) {
        }
        n = 3000;
    } else if (is("YIELD")) {
        for (i = 0; !atomic_load(&flag);) sched_yield();
    } else if (is("PAUSE")) {
        for (i = 0; !atomic_load(&flag);) __builtin_ia32_pause();
    } else if (is("MEMORY")) {
        for (i = 0; !look(&flag, &count);) {
        }
    } else if (is("BACKOFF")) {
        for (int wait = 1; !atomic_load(&flag); wait = wait < 64 ? wait * 2 : 64)
            for (volatile int j = 0; j < wait; j++) {
            }
        i = 0;
    } else if (is("TRYLOCK")) {
        while (pthread_mutex_trylock(&lock) != 0) sched_yield();
        i = 0;
        pthread_mutex_unlock(&lock);
    } else if (is("CAS")) {
        int expected = 1;
        for (i = 0; !atomic_compare_exchange_strong(&flag, &expected, 2);) expected = 1;
    } else {
        abort();
    }
    return i < n;
}

static void *poller(void *unused) {
    (void)unused;
    assert(poll() || goes_on); //~ here
    return 0;
}

static void *setter(void *unused) {
    (void)unused;
    pthread_mutex_unlock(&lock);
    sem_post(&sem);
    plain = 1;
    atomic_store(&other, 0);
    atomic_store(&flag, 1);
    return 0;
}

int main(int count, char **arguments) {
    pthread_t strands[2];
    shape = count > 1 ? arguments[1] : "yield";
    goes_on = count > 2;
    sem_init(&sem, 0, 0);
    pthread_mutex_init(&lock, 0);
    pthread_mutex_lock(&lock);
    if (is("exchange")) atomic_store(&other, 1);
    pthread_create(&strands[0], 0, poller, 0);
    pthread_create(&strands[1], 0, setter, 0);
    for (int i = 0; i < 2; i++) pthread_join(strands[i], 0);
    return 0;
}
