/* The floor: how often per second this machine can fork a process and wait for its end. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 3000;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < rounds; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.0f\n", rounds / ((to.tv_sec - from.tv_sec) + 1e-9 * (to.tv_nsec - from.tv_nsec)));
    return 0;
}
