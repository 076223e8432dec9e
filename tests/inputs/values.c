// Every input has the same interleavings; with one in fifty an update that is lost leaves too little.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int price;
static volatile int paid;

static void *pay(void *unused) {
    (void)unused;
    int seen = paid;
    paid = seen + 1;
    return 0;
}

int main(int count, char **words) {
    price = count > 1 && atoi(words[1]) % 50 == 17 ? 2 : 1;
    pthread_t first, second;
    pthread_create(&first, 0, pay, 0);
    pthread_create(&second, 0, pay, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(paid >= price);
    return 0;
}
