/* Deposits take the lock, the audit does not. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *deposit(void *amount) {
    pthread_mutex_lock(&lock);
    balance += *(int *)amount;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *audit(void *unused) {
    printf("audited: %d\n", balance);
    return unused;
}

int main(void) {
    int amount = 100;
    pthread_t one, two;
    pthread_create(&one, NULL, deposit, &amount);
    pthread_create(&two, NULL, audit, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
