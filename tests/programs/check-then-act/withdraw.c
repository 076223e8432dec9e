//@ expect: assertion
//@ preemptions: 1
//@ pair: look take
// The balance is checked in one critical section and changed in another.
#include <assert.h>
#include <pthread.h>

static int balance = 100;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int read_balance(void) {
    pthread_mutex_lock(&lock);
    int seen = balance; //~ look
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *withdraw(void *arg) {
    int amount = (int)(long)arg;
    if (read_balance() >= amount) {
        pthread_mutex_lock(&lock);
        balance -= amount; //~ take
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, withdraw, (void *)70);
    pthread_create(&b, 0, withdraw, (void *)60);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(balance >= 0); //~ here
    return 0;
}
