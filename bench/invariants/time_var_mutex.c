// A lock for each of two things that change together: a block is in use exactly while somebody has its number.
#include "strands.h"

pthread_mutex_t inode_lock = PTHREAD_MUTEX_INITIALIZER, busy_lock = PTHREAD_MUTEX_INITIALIZER;
int block, inode;
bool busy;

static void *allocate(void *unused) {
    pthread_mutex_lock(&inode_lock);
    if (inode == 0) {
        pthread_mutex_lock(&busy_lock);
        busy = true;
        pthread_mutex_unlock(&busy_lock);
        inode = 1;
    }
    block = 1;
    assert(block == 1);
    pthread_mutex_unlock(&inode_lock);
    return unused;
}

static void *release(void *unused) {
    pthread_mutex_lock(&busy_lock);
    if (!busy) {
        block = 0;
        assert(block == 0);
    }
    pthread_mutex_unlock(&busy_lock);
    return unused;
}

int main(void) {
    inode = busy;
    RUN(allocate, release);
}
