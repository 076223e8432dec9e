//@ expect: heap-overflow
//@ bare: any
//@ message: write of 1 byte, right behind a block of 131056 bytes
// The block behind was freed. Who runs over the end of this one leaves it, and uses nothing of the other.
#include <pthread.h>
#include <stdlib.h>

// With its header it fills its pages.
enum { SIZE = 128 * 1024 - 16 };

static char *mine;

static void *fill(void *unused) {
    for (int i = 0; i <= SIZE; i += 16)
        mine[i] = 1; //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    mine = malloc(SIZE);
    char *neighbour = malloc(SIZE);
    neighbour[0] = 0;
    free(neighbour);
    pthread_create(&strand, 0, fill, 0);
    pthread_join(strand, 0);
    free(mine);
    return 0;
}
