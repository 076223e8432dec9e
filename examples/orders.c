// Orders of a shop. Whether two strands disturb each other depends on the order: only large ones with express delivery use both
// counters of the stock without the lock.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pieces, express, stock = 200, sold, parcels;

static void *handle(void *unused) {
    (void)unused;
    if (express && pieces > 90) {
        int left = stock;
        stock = left - 1;
    } else {
        pthread_mutex_lock(&lock);
        if (pieces > 10)
            parcels++;
        else
            sold++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(int count, char **words) {
    pieces = count > 1 ? atoi(words[1]) : 1;
    express = count > 2 && !strcmp(words[2], "express");
    pthread_t one, two;
    pthread_create(&one, 0, handle, 0);
    pthread_create(&two, 0, handle, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(stock == 200 || stock == 198);
    return 0;
}
