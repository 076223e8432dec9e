//@ expect: race
//@ race: read use
// read() writes the buffer that another strand reads.
#include <pthread.h>
#include <unistd.h>

char buffer[16], seen;
int ends[2];

static void *work(void *arg) {
    if (read(ends[0], buffer, sizeof buffer) != 4) //~ read
        _exit(1);
    return arg;
}

int main(void) {
    if (pipe(ends) != 0 || write(ends[1], "data", 4) != 4)
        return 1;
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = buffer[3]; //~ use
    pthread_join(strand, 0);
    return 0;
}
