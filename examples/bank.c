/* Two strands pay into one account without a lock. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int balance;

static void *deposit(void *amount) {
    int before = balance;
    balance = before + *(int *)amount;
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
