//@ expect: pass
// Neighbours in one word that nobody shares: no order of these accesses makes a difference.
#include <assert.h>
#include <pthread.h>

static volatile struct {
    int left;
    short middle;
    char right[2];
} word;

static void *first(void *unused) {
    for (int round = 0; round < 3; round++) word.left = word.left + 1;
    word.right[0] = word.right[0] + 1;
    return unused;
}

static void *second(void *unused) {
    for (int round = 0; round < 3; round++) word.middle = (short)(word.middle + 1);
    word.right[1] = (char)(word.right[1] + 1);
    return unused;
}

int main(void) {
    pthread_t strands[2];
    pthread_create(&strands[0], 0, first, 0);
    pthread_create(&strands[1], 0, second, 0);
    pthread_join(strands[0], 0);
    pthread_join(strands[1], 0);
    assert(word.left == 3 && word.middle == 3 && word.right[0] == 1 && word.right[1] == 1);
    return 0;
}
