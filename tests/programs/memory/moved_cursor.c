//@ expect: invalid-free
//@ message: 8 bytes into a block of 64 bytes is freed
//@ preemptions: 1
//@ pair: move here
// The parser's cursor is freed, which may have moved from the beginning of the text.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *cursor;

static void *parse(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (cursor)
        cursor += 8; //~ move
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    cursor = calloc(1, 64);
    pthread_create(&strand, 0, parse, 0);
    pthread_mutex_lock(&lock);
    free(cursor); //~ here
    cursor = 0;
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
