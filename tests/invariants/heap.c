// A field of a heap block: every access is under the lock, and the deposit is not atomic.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static long look(struct account *account) {
    pthread_mutex_lock(&account->lock);
    long balance = account->balance;
    pthread_mutex_unlock(&account->lock);
    return balance;
}

static void change(struct account *account, long balance) {
    pthread_mutex_lock(&account->lock);
    account->balance = balance;
    pthread_mutex_unlock(&account->lock);
}

static void *deposit(void *argument) {
    struct account *account = argument;
    long balance = look(account); //~ first
    change(account, balance + 10); //~ last
    return NULL;
}

int main(void) {
    struct account *account = malloc(sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    account->balance = 5;
    pthread_t one, two;
    pthread_create(&one, NULL, deposit, account);
    pthread_create(&two, NULL, deposit, account);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(account->balance == 25);
    free(account);
    return 0;
}
