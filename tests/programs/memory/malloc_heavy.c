//@ expect: pass
//@ runs: 50
// Many blocks of many sizes, freed by the strand that did not allocate them.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 40
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *mailbox[3][BLOCKS];

static size_t size_of(int i) { return (size_t)(i * i * 13 + 1); }

static void *work(void *arg) {
    long me = (long)arg;
    for (int i = 0; i < BLOCKS; i++) {
        unsigned char *block = malloc(size_of(i));
        memset(block, i, size_of(i));
        pthread_mutex_lock(&lock);
        mailbox[(me + 1) % 3][i] = block;
        unsigned char *mine = mailbox[me][i / 2];
        mailbox[me][i / 2] = 0;
        pthread_mutex_unlock(&lock);
        if (mine) {
            assert(mine[0] == i / 2 && mine[size_of(i / 2) - 1] == i / 2);
            free(mine);
        }
    }
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < BLOCKS; j++)
            free(mailbox[i][j]);
    char *big = malloc(3 << 20);
    big[0] = big[(3 << 20) - 1] = 1;
    free(big);
    return 0;
}
