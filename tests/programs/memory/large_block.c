//@ expect: heap-overflow
//@ message: right behind a block of 1000000 bytes
// Two strands fill their halves of a large block; one of them one byte too far.
#include <pthread.h>
#include <stdlib.h>

enum { HALF = 500000 };

static char *picture;

static void *fill(void *argument) {
    char *half = argument;
    // Every thousandth byte, and the one behind the last.
    for (int i = 0; i <= HALF; i += 1000)
        if (half == picture + HALF || i < HALF)
            half[i] = 1; //~ here
    return 0;
}

int main(void) {
    pthread_t strand;
    picture = malloc(2 * HALF);
    pthread_create(&strand, 0, fill, picture + HALF);
    fill(picture);
    pthread_join(strand, 0);
    free(picture);
    return 0;
}
