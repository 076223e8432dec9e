//@ expect: assertion
//@ message: claims == 1
//@ bare: any
// Three strands ask whether they are the first; between question and answer another may ask too.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int first = 1;
static atomic_int claims;

static void *claim(void *unused) {
    (void)unused;
    if (first) {
        first = 0;
        atomic_fetch_add(&claims, 1);
    }
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, claim, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(claims == 1); //~ here
    return 0;
}
