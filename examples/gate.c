// A strand that sets the level only if it is told to. Nobody does.
#include <pthread.h>
#include <stdio.h>

static volatile int level, mode;

static __attribute__((noinline)) void raise_to(int by) {
    if (by > 2)
        level = by;
}

static void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        if (mode == 7)
            raise_to(i + 1);
    }
    level = 1;
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, NULL, work, NULL);

    // May the level be raised already?
    int seen = level;

    pthread_join(strand, NULL);
    printf("%d\n", seen);
    return 0;
}
