//@ expect: pass
// Two locks, always in the order of their addresses.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account a = {PTHREAD_MUTEX_INITIALIZER, 10}, b = {PTHREAD_MUTEX_INITIALIZER, 10};

static void transfer(struct account *from, struct account *to, int amount) {
    struct account *first = (uintptr_t)from < (uintptr_t)to ? from : to;
    struct account *second = first == from ? to : from;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *forth(void *unused) {
    (void)unused;
    transfer(&a, &b, 3);
    transfer(&a, &b, 4);
    return 0;
}

static void *back(void *unused) {
    (void)unused;
    transfer(&b, &a, 5);
    return 0;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, forth, 0);
    pthread_create(&y, 0, back, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    assert(a.balance == 8 && b.balance == 12);
    return 0;
}
