// So many strands, eight at a time.
#include <pthread.h>
#include <stdlib.h>

enum { AT_ONCE = 8 };

static void *work(void *unused) {
    return unused;
}

int main(int count, char **arguments) {
    int left = count > 1 ? atoi(arguments[1]) : 1000;
    for (; left > 0; left -= AT_ONCE) {
        pthread_t strands[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++)
            pthread_create(&strands[i], 0, work, 0);
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(strands[i], 0);
    }
    return 0;
}
