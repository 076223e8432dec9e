// The paper's figure 5: the withdrawal of account.c under one lock.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
int balance = 400;

static int get_balance(void) {
    pthread_mutex_lock(&lock);
    int bal = balance;
    pthread_mutex_unlock(&lock);
    return bal;
}

static void set_balance(int bal) {
    pthread_mutex_lock(&lock);
    balance = bal;
    pthread_mutex_unlock(&lock);
}

static void withdraw(void) {
    pthread_mutex_lock(&whole);
    int bal = get_balance();
    bal = bal - 100;
    set_balance(bal);
    pthread_mutex_unlock(&whole);
}

static void *customer(void *unused) {
    withdraw();
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, customer, NULL);
    pthread_create(&two, NULL, customer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(balance == 200);
    return 0;
}
