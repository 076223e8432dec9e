// Programs that are right, and wrong in one place if BUG says which.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif
// The right order, unless this is the bug: then relaxed.
#define ORDER(bug, right) (BUG == (bug) ? memory_order_relaxed : (right))
// A fence, unless this is the bug.
#define FENCE(bug, order)                                   \
    do {                                                    \
        if (BUG != (bug)) atomic_thread_fence(order);       \
    } while (0)
#define CHECK(what)                                         \
    do {                                                    \
        if (!(what)) {                                      \
            fprintf(stderr, "%s\n", #what);                 \
            abort();                                        \
        }                                                   \
    } while (0)

static void in_two(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, other, (void *)1);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
