//@ expect: pass
//@ runs: 60
// Closes its input and puts a file in its place: only a process of its own undoes that.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int turns;

static void *strand(void *arg) {
    atomic_fetch_add(&turns, 1);
    return arg;
}

int main(void) {
    struct stat input, root;
    assert(stat("/", &root) == 0 && fstat(0, &input) == 0 && input.st_ino != root.st_ino);
    close(0);
    assert(open("/", O_RDONLY) == 0);
    pthread_t one;
    pthread_create(&one, 0, strand, 0);
    atomic_fetch_add(&turns, 1);
    pthread_join(one, 0);
    return turns != 2;
}
