// Read and write are in helpers that everybody uses; the callers are what is wrong.
//@ expect: assertion
//@ pair: get set
//@ pattern: lost-update
//@ object: cells[1].value
//@ caller: reads writes
#include <assert.h>
#include <pthread.h>

static struct cell {
    int tag;
    int value;
} cells[4];
static int tries[4];

__attribute__((noinline)) static int get(int index) {
    return cells[index].value; //~ get
}

__attribute__((noinline)) static void set(int index, int value) {
    cells[index].value = value; //~ set
}

static void *add(void *arg) {
    int *own = arg;
    ++*own;
    int seen = get(1); //~ reads
    ++*own;
    set(1, seen + 5); //~ writes
    return 0;
}

int main(void) {
    pthread_t t[2];
    set(0, 1);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, add, &tries[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(get(0) == 1);
    assert(get(1) == 10); //~ end
    return 0;
}
