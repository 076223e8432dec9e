// Accounts are locked by a helper, first the one that gives; statistics have a lock of their own.
//@ expect: deadlock
//@ pair: lock lock
//@ pattern: lock-order-cycle
//@ object: accounts[0].lock|accounts[1].lock
//@ caller: from to
#include <pthread.h>

static struct account {
    pthread_mutex_t lock;
    int balance;
} accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 10}, {PTHREAD_MUTEX_INITIALIZER, 10}};
static pthread_mutex_t stats = PTHREAD_MUTEX_INITIALIZER;
static int transfers;

__attribute__((noinline)) static void take(struct account *account) {
    pthread_mutex_lock(&account->lock); //~ lock
}

static void transfer(int from, int to) {
    pthread_mutex_lock(&stats);
    transfers++;
    pthread_mutex_unlock(&stats);
    take(&accounts[from]); //~ from
    take(&accounts[to]); //~ to
    accounts[from].balance--;
    accounts[to].balance++;
    pthread_mutex_unlock(&accounts[to].lock);
    pthread_mutex_unlock(&accounts[from].lock);
}

static void *forth(void *arg) {
    transfer(0, 1);
    return arg;
}

static void *back(void *arg) {
    transfer(1, 0);
    return arg;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, forth, 0);
    pthread_create(&y, 0, back, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
