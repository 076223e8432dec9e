//@ expect: pass
// write() reads as many bytes as it was told, and no more.
#include <pthread.h>
#include <unistd.h>

char buffer[16];
int ends[2];

static void *work(void *arg) {
    if (write(ends[1], buffer, 8) != 8)
        _exit(1);
    return arg;
}

int main(void) {
    if (pipe(ends) != 0)
        return 1;
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    buffer[8] = 1;
    pthread_join(strand, 0);
    return 0;
}
