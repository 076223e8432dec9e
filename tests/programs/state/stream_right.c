//@ expect: pass
// Each strand has a stream of its own.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static void *moves(void *unused) {
    FILE *file = tmpfile();
    fputs("abc", file);
    fseek(file, 0, SEEK_SET);
    assert(fgetc(file) == 'a');
    fclose(file);
    return unused;
}

int main(void) {
    pthread_t strand;
    FILE *file = tmpfile();
    fputs("abc", file);
    fseek(file, 1, SEEK_SET);
    pthread_create(&strand, 0, moves, 0);
    assert(fgetc(file) == 'b');
    pthread_join(strand, 0);
    return 0;
}
