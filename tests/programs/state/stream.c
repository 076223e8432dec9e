//@ expect: assertion
//@ max-runs: 100
// Two strands move the place of one stream.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *file;

static void *moves(void *unused) {
    fseek(file, 0, SEEK_SET);
    return unused;
}

int main(void) {
    pthread_t strand;
    file = tmpfile();
    fputs("abc", file);
    fseek(file, 1, SEEK_SET);
    pthread_create(&strand, 0, moves, 0);
    assert(fgetc(file) == 'b'); //~ here
    pthread_join(strand, 0);
    return 0;
}
