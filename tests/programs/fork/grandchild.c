//@ expect: pass
//@ runs: 20
// A process that the child left behind, in a session of its own, writes late: nobody waits for ever.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void *reader(void *arg) {
    (void)arg;
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1 || byte != 'x')
        abort();
    return NULL;
}

int main(void) {
    if (pipe(ends))
        return 3;
    pthread_t strand;
    pthread_create(&strand, NULL, reader, NULL);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            usleep(30000);
            (void)!write(ends[1], "x", 1);
        }
        _exit(0);
    }
    if (waitpid(child, NULL, 0) != child)
        return 3;
    pthread_join(strand, NULL);
    return 0;
}
