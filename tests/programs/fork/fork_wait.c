//@ expect: pass
//@ runs: 50
// Strands that fork, run a program and wait for it; fork handlers run in order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int steps;

static void prepare(void) { atomic_store(&steps, atomic_load(&steps) * 10 + 1); }
static void in_parent(void) { atomic_store(&steps, atomic_load(&steps) * 10 + 2); }
static void in_child(void) { atomic_store(&steps, atomic_load(&steps) * 10 + 3); }

static void *fork_once(void *arg) {
    int status;
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        if (!arg)
            _exit(7);
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)0);
        _exit(1);
    }
    assert(waitpid(child, &status, 0) == child);
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, fork_once, 0);
    pthread_create(&b, 0, fork_once, &steps);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(pthread_atfork(prepare, in_parent, in_child) == 0);
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(atomic_load(&steps) == 13 ? 0 : 1);
    assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert(atomic_load(&steps) == 12);
    assert(system("exit 3") >> 8 == 3);
    return 0;
}
