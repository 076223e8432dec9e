/* A shop keeps its stock under a lock, but for one look at it. */
#include <pthread.h>
#include <stdio.h>

static int stock = 5, sold;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deliver(int number) {
    pthread_mutex_lock(&lock);
    stock += number;
    pthread_mutex_unlock(&lock);
}

static void sell(void) {
    pthread_mutex_lock(&lock);
    if (stock > 0) {
        stock--;
        sold++;
    }
    pthread_mutex_unlock(&lock);
}

static int left(void) {
    return stock;
}

static void *truck(void *unused) {
    deliver(3);
    return unused;
}

static void *clerk(void *unused) {
    sell();
    return unused;
}

static void *sign(void *unused) {
    printf("some left: %d\n", left() > 0);
    return unused;
}

int main(void) {
    void *(*people[])(void *) = {truck, clerk, clerk, sign};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, people[i], NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return sold == 2 ? 0 : 1;
}
