// The watchdog's time comes when nobody can go on.
#include <pthread.h>
#include <unistd.h>

static int ends[2];

int main(void) {
    char byte;
    alarm(2);
    if (pipe(ends) != 0)
        return 2;
    return (int)read(ends[0], &byte, 1);
}
