//@ expect: race
//@ race: low high
// Two bit-fields of one word: each write puts back what it found of the other.
#include <pthread.h>

static struct {
    unsigned low : 3, high : 5;
} word;

static void *sets_low(void *unused) {
    word.low = 1; //~ low
    return unused;
}

static void *sets_high(void *unused) {
    word.high = 1; //~ high
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, sets_low, 0);
    pthread_create(&second, 0, sets_high, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return word.low == 1 && word.high == 1 ? 0 : 1;
}
