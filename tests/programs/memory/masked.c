//@ expect: use-after-free
//@ args: read
//@ message: freed
//@ bare: any
// One order ends with a memory error before the operation that shows it is made; the other one fails an assertion. Neither may hide the
// other one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *how;
static char *volatile block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int seen;

static void *ends(void *unused) {
    if (!strcmp(how, "destroyed"))
        pthread_mutex_destroy(&lock);
    else
        free(block);
    return unused;
}

static void *uses(void *unused) {
    char to[16];
    if (!strcmp(how, "read"))
        to[0] = *block;
    else if (!strcmp(how, "copy"))
        memcpy(to, block, 8);
    else if (!strcmp(how, "text"))
        strcpy(to, block);
    else if (!strcmp(how, "atomic"))
        atomic_fetch_add((atomic_int *)block, 1);
    else if (!strcmp(how, "resize"))
        block = realloc(block, 17);
    else if (!strcmp(how, "twice"))
        free(block);
    else if (!strcmp(how, "destroyed"))
        pthread_mutex_lock(&lock);
    atomic_store(&seen, 1);
    return unused;
}

int main(int count, char **arguments) {
    pthread_t one, two;
    how = count > 1 ? arguments[1] : "read";
    block = calloc(1, 16);
    strcpy(block, "seven");
    pthread_create(&one, 0, ends, 0);
    pthread_create(&two, 0, uses, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(!atomic_load(&seen));
    return 0;
}
