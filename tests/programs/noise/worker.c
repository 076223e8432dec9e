//@ expect: crash
//@ bare: any
// The manager stops a worker's connection if there is one; the worker may have given it up in between.
#include <pthread.h>
#include <stdlib.h>

#define WORKERS 4

struct connection {
    volatile int stop;
};

static struct connection *volatile connections[WORKERS];
static struct connection pool[WORKERS];

static void *work(void *number) {
    long self = (long)number;
    connections[self] = &pool[self];
    for (int i = 0; i < 200 && !pool[self].stop; i++)
        ;
    connections[self] = NULL;
    return 0;
}

static void finish(int worker) {
    if (connections[worker] != NULL)
        connections[worker]->stop = 1; //~ here
}

int main(void) {
    pthread_t strands[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&strands[i], 0, work, (void *)i);
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < WORKERS; i++)
            finish(i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
