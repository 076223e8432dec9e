//@ expect: assertion
//@ message: check_sum() == 0
//@ bare: any
// Money is in no account for a moment while it is moved; the sum is taken meanwhile. Most of the time is busywork.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define ACCOUNTS 8
#define MOVERS 4

static volatile int accounts[ACCOUNTS];

static int busywork(void) {
    volatile int written = 0;
    for (int i = 0; i < 4000; i++)
        written = i;
    return written;
}

static void move_money(unsigned *random, int mover) {
    // Each mover has two accounts of its own, so that nothing but a look in between can go wrong.
    int from = mover * 2, to = from + 1;
    int amount = rand_r(random) % 100;
    busywork();
    accounts[from] -= amount;
    accounts[to] += amount;
    busywork();
}

static int check_sum(void) {
    int sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += accounts[i];
    return sum;
}

static void *mover(void *number) {
    unsigned random = 1 + (unsigned)(long)number;
    for (int i = 0; i < 8; i++)
        move_money(&random, (int)(long)number);
    return 0;
}

int main(void) {
    pthread_t strands[MOVERS];
    for (long i = 0; i < MOVERS; i++)
        pthread_create(&strands[i], 0, mover, (void *)i);
    for (int i = 0; i < 5; i++) {
        usleep(100);
        assert(check_sum() == 0); //~ here
    }
    for (int i = 0; i < MOVERS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
