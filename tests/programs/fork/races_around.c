//@ expect: pass
//@ args: 0 0
//@ runs: 20
// `races_around CHILD PARENT`: strands before a fork, in the child, and in the parent behind it. They count without the lock in the child,
// or in the parent, where its argument is 1.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, wild;
static int racy;

static void *strand(void *unused) {
    for (int turn = 0; turn < 20; turn++) {
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
        if (racy) wild++;
    }
    return unused;
}

static void both(void) {
    pthread_t one, other;
    pthread_create(&one, 0, strand, 0);
    pthread_create(&other, 0, strand, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    both();
    for (int turn = 0; turn < 3; turn++) {
        pid_t child = fork();
        if (!child) {
            racy = atoi(argv[1]);
            both();
            _exit(total != 80);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status) return 3;
    }
    racy = atoi(argv[2]);
    both();
    return total != 80;
}
