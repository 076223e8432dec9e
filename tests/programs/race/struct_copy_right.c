//@ expect: pass
// A structure is copied while another strand writes the structure beside it.
#include <pthread.h>

struct Record {
    long fields[12];
} from[2], to;

static void *work(void *arg) {
    to = from[0];
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    from[1].fields[0] = 2;
    pthread_join(strand, 0);
    return 0;
}
