//@ expect: pass
//@ runs: 40
//@ replays: 0
// Leaves a child behind that nobody waits for.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int turns;

static void *strand(void *arg) {
    atomic_fetch_add(&turns, 1);
    return arg;
}

int main(void) {
    // Nobody else's child is there.
    if (waitpid(-1, 0, WNOHANG) != -1)
        return 3;
    if (fork() == 0)
        _exit(0);
    pthread_t one;
    pthread_create(&one, 0, strand, 0);
    atomic_fetch_add(&turns, 1);
    pthread_join(one, 0);
    return turns != 2;
}
