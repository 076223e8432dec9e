//@ expect: pass
// Room is looked for and used in one critical section; in the end the block is full to its last byte.
#include <pthread.h>
#include <stdlib.h>

enum { ROOM = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *items, count = ROOM - 1;

static void *push(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (count < ROOM) {
        items[count] = 1;
        count++;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    items = calloc(ROOM, sizeof *items);
    pthread_create(&strand, 0, push, 0);
    push(0);
    pthread_join(strand, 0);
    int sum = 0;
    for (int i = 0; i < ROOM; i++)
        sum += items[i];
    free(items);
    return sum != 1;
}
