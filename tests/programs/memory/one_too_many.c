//@ expect: heap-overflow
//@ message: write of 4 bytes, right behind a block of 16 bytes
//@ preemptions: 1
//@ pair: look count
// Room is looked for and used in two critical sections.
#include <pthread.h>
#include <stdlib.h>

enum { ROOM = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *items, count = ROOM - 1;

static void *push(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int room = count < ROOM; //~ look
    pthread_mutex_unlock(&lock);
    if (room) {
        pthread_mutex_lock(&lock);
        items[count] = 1; //~ here
        count++; //~ count
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t strand;
    items = calloc(ROOM, sizeof *items);
    pthread_create(&strand, 0, push, 0);
    push(0);
    pthread_join(strand, 0);
    free(items);
    return 0;
}
