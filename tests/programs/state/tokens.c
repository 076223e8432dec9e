//@ expect: assertion
//@ max-runs: 100
// Two strands share what `strtok` remembers between its calls.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static void *splits(void *unused) {
    char text[] = "x y";
    strtok(text, " ");
    return unused;
}

int main(void) {
    pthread_t strand;
    char text[] = "a b";
    pthread_create(&strand, 0, splits, 0);
    strtok(text, " ");
    char *next = strtok(0, " ");
    assert(next && *next == 'b'); //~ here
    pthread_join(strand, 0);
    return 0;
}
