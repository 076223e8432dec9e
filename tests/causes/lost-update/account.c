// Two deposits, each a read and a write of its own line.
//@ expect: assertion
//@ pair: read write
//@ pattern: lost-update
//@ object: account.balance
#include <assert.h>
#include <pthread.h>

static struct {
    int id;
    long balance;
} account = {7, 100};

static void *deposit(void *arg) {
    long now = account.balance; //~ read
    account.balance = now + *(int *)arg; //~ write
    return 0;
}

int main(void) {
    pthread_t t[2];
    int amount[2] = {10, 20};
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, deposit, &amount[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(account.balance == 130); //~ end
    return 0;
}
