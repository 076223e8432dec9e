//@ expect: race
//@ race: copy field
// A structure is copied while another strand writes a field of it.
#include <pthread.h>

struct Record {
    long fields[12];
} from[2], to;

static void *work(void *arg) {
    to = from[0]; //~ copy
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    from[0].fields[11] = 2; //~ field
    pthread_join(strand, 0);
    return 0;
}
