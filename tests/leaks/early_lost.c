// A strand that finds the door closed goes home, and forgets what it has brought, with all that belongs to it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct order {
    char *name;
    int count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int closed;
static int served;

static void *customer(void *unused) {
    struct order *order = malloc(sizeof *order); //~ here
    order->name = strdup("tea");
    order->count = 2;
    pthread_mutex_lock(&lock);
    if (closed) {
        pthread_mutex_unlock(&lock);
        return unused;
    }
    served += order->count;
    pthread_mutex_unlock(&lock);
    free(order->name);
    free(order);
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, NULL, customer, NULL);
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(strand, NULL);
}
