// A structure on main's stack that strands are given the address of: looked at and changed under two locks.
#include <assert.h>
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int number;
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
    struct account account = {PTHREAD_MUTEX_INITIALIZER, 7, 5};
    pthread_t one, two;
    pthread_create(&one, NULL, deposit, &account);
    pthread_create(&two, NULL, deposit, &account);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(account.balance == 25);
    return 0;
}
