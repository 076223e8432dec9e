// The paper's figures 3 and 4: every access is under the lock, and the withdrawal is not atomic.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
    int bal = get_balance(); //~ first
    bal = bal - 100;
    set_balance(bal); //~ last
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
