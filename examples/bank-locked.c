/* The account of bank.c, with a lock. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *deposit(void *amount) {
    pthread_mutex_lock(&lock);
    int before = balance;
    balance = before + *(int *)amount;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    int amount = 100;
    pthread_t one, two;
    pthread_create(&one, NULL, deposit, &amount);
    pthread_create(&two, NULL, deposit, &amount);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("balance: %d\n", balance);
    assert(balance == 200);
    return 0;
}
