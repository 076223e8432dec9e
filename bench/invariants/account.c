// A deposit and a withdrawal under the lock, and somebody who looks whether both were made.
#include "strands.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x = 1, y = 2, z = 4, balance = 1;
bool deposited, withdrawn;

static void *deposit(void *unused) {
    pthread_mutex_lock(&lock);
    balance += y;
    deposited = true;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *withdraw(void *unused) {
    pthread_mutex_lock(&lock);
    balance -= z;
    withdrawn = true;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *check(void *unused) {
    pthread_mutex_lock(&lock);
    bool both = deposited && withdrawn;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    assert(!both || balance == x + y - z);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    RUN(deposit, withdraw, check);
}
