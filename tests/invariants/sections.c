// A withdrawal that has the lock for each of its steps, and not for both.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance = 400;

static void *withdraw(void *arg) {
    pthread_mutex_lock(&mutex);
    int now = balance; //~ read
    pthread_mutex_unlock(&mutex); //~ given
    now -= 100;
    pthread_mutex_lock(&mutex); //~ taken
    balance = now; //~ write
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, withdraw, 0);
    pthread_create(&second, 0, withdraw, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(balance == 200);
    return 0;
}
