// A withdrawal of an amount that its caller says, in two steps.
#include <assert.h>
#include <pthread.h>

static long balance = 1000;

__attribute__((noinline)) static void withdraw(long amount) {
    long now = balance; //~ first
    balance = now - amount; //~ last
}

static void *small(void *unused) {
    withdraw(30);
    withdraw(20);
    return unused;
}

static void *large(void *unused) {
    withdraw(200);
    withdraw(150);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, small, 0);
    pthread_create(&b, 0, large, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(balance == 600);
    return 0;
}
