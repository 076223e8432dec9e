//@ expect: assertion
//@ max-runs: 100
// Two strands print to one stream: which line comes first is up to the scheduler.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *file;

static void *prints(void *unused) {
    fprintf(file, "%s%d\n", "strand ", 1);
    return unused;
}

int main(void) {
    pthread_t strand;
    file = tmpfile();
    pthread_create(&strand, 0, prints, 0);
    fprintf(file, "%s%d\n", "main ", 0);
    pthread_join(strand, 0);
    rewind(file);
    assert(fgetc(file) == 'm'); //~ here
    return 0;
}
