//@ expect: use-after-free
//@ message: lock, 0 bytes into a block
// The account's own lock protects it until it is freed, but not the ones who wait for that lock.
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static void *deposit(void *argument) {
    struct account *account = argument;
    pthread_mutex_lock(&account->lock); //~ here
    account->balance++;
    pthread_mutex_unlock(&account->lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    struct account *account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, 0);
    pthread_create(&strand, 0, deposit, account);
    pthread_mutex_lock(&account->lock);
    account->balance = 0;
    pthread_mutex_unlock(&account->lock);
    free(account);
    pthread_join(strand, 0);
    return 0;
}
