//@ expect: race
//@ race: copy high
//@ compilers: gcc
// A racy assignment of three words: gcc's code makes it at once, a machine need not, so nothing is proved.
#include <pthread.h>

struct triple {
    long parts[3];
} from, to;

static void *assigns(void *unused) {
    to = from; //~ copy
    return unused;
}

static void *writes(void *unused) {
    from.parts[2] = 1; //~ high
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, assigns, 0);
    pthread_create(&second, 0, writes, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
