//@ expect: pass
//@ args: 14
// Strands want a block for an inode each; blocks are shared, and each inode and each block has its own lock.
#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 26, INODES = 32 };

static pthread_mutex_t inode_locks[INODES], block_locks[BLOCKS];
static int block_of[INODES], busy[BLOCKS];

static void *allocate(void *number) {
    int inode = (int)(long)number % INODES;
    pthread_mutex_lock(&inode_locks[inode]);
    for (int block = inode * 2 % BLOCKS; block_of[inode] == 0; block = (block + 1) % BLOCKS) {
        pthread_mutex_lock(&block_locks[block]);
        if (!busy[block]) {
            busy[block] = 1;
            block_of[inode] = block + 1;
        }
        pthread_mutex_unlock(&block_locks[block]);
    }
    pthread_mutex_unlock(&inode_locks[inode]);
    return 0;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 2;
    pthread_t strands[INODES];
    for (int at = 0; at < INODES; at++) pthread_mutex_init(&inode_locks[at], 0);
    for (int at = 0; at < BLOCKS; at++) pthread_mutex_init(&block_locks[at], 0);
    for (long at = 0; at < count; at++) pthread_create(&strands[at], 0, allocate, (void *)at);
    for (long at = 0; at < count; at++) pthread_join(strands[at], 0);
    return 0;
}
